import { createToolbox } from "@burin/core";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import { visible } from "../terminal/output.ts";
import { noteFailures } from "./note-failures.ts";
import { openSettings } from "./options.ts";
import { type Io, nothingAfter, type SubcommandRequest } from "./subcommand.ts";

/** Lists what the model would be told. */
export async function runTools(request: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  nothingAfter("tools", request);
  const { options } = request;
  const { settings, notices } = await openSettings(options);
  for (const notice of notices) output.note(`burin: ${visible(notice)}`);
  const toolbox = createToolbox({ root: options.root, settings });
  const { registry } = toolbox;
  signal.addEventListener("abort", () => void toolbox.close(), { once: true });
  noteFailures(await toolbox.ready(), output);
  await toolbox.close();
  if (signal.aborted) return EXIT.interrupted;
  const tools = registry.getFunctionDeclarations().map((declaration) => ({
    ...declaration,
    source: registry.sourceOf(declaration.name) ?? "",
  }));
  if (options.outputFormat !== "text") {
    output.out(`${JSON.stringify(tools, null, 2)}\n`);
    return EXIT.done;
  }
  for (const tool of tools) {
    output.out(`${visible(tool.name)}  (${visible(tool.source)})\n    ${visible(tool.description)}\n`);
  }
  return EXIT.done;
}
