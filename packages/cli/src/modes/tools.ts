import { createToolbox } from "@burin/core";
import { openSettings } from "../request/options.ts";
import { type Io, nothingAfter, type SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import { noteFailures, noteNotices } from "../terminal/notes.ts";
import { visible } from "../terminal/output.ts";

/** Lists what the model would be told, and of each other tool what is missing before it is. */
export async function runTools(request: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  nothingAfter("tools", request);
  const { options } = request;
  const { settings, notices } = await openSettings(options);
  noteNotices(notices, output);
  const toolbox = createToolbox({ root: options.root, settings });
  const { registry } = toolbox;
  signal.addEventListener("abort", () => void toolbox.close(), { once: true });
  noteFailures(await toolbox.ready(), output);
  await toolbox.close();
  if (signal.aborted) return EXIT.interrupted;
  const tools = registry.getAllTools().map(({ name, description, parameterSchema: parameters, missing }) => ({
    ...{ name, description, parameters, source: registry.sourceOf(name) ?? "" },
    ...(missing === undefined ? {} : { missing }),
  }));
  if (options.outputFormat !== "text") {
    output.out(`${JSON.stringify(tools, null, 2)}\n`);
    return EXIT.done;
  }
  for (const tool of tools) {
    const state = tool.missing === undefined ? "" : ", not configured";
    const text = visible(tool.missing ?? tool.description);
    output.out(`${visible(tool.name)}  (${visible(tool.source)}${state})\n    ${text}\n`);
  }
  return EXIT.done;
}
