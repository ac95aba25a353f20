import { createToolbox } from "@burin/core";
import { openSettings } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode } from "../terminal/exit-code.ts";
import { listRuleNotices, noteFailures, noteNotices } from "../terminal/notes.ts";
import { printFindings, visible } from "../terminal/output.ts";
import { fitRows } from "../terminal/styled-line.ts";

const TOLD_AFTER_MS = 500;
const MAX_START_MS = 10_000;

/** Lists the tools that the model gets, and says for every other tool what it is missing. */
export async function run({ options }: SubcommandRequest, { output, signal }: Io): Promise<ExitCode> {
  const { settings, notices } = await openSettings(options);
  noteNotices(notices, output);
  const toolbox = createToolbox({ root: options.root, settings });
  const { registry } = toolbox;
  noteNotices(await listRuleNotices({ settings, options }, registry), output);
  signal.addEventListener("abort", () => void toolbox.close(), { once: true });
  const starting = Object.keys(settings.mcpServers);
  const told = setTimeout(() => {
    if (starting.length > 0) output.note(`starting ${visible(starting.join(", "))}, at most 10 s`);
  }, TOLD_AFTER_MS);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, MAX_START_MS, null);
  });
  const failures = await Promise.race([toolbox.ready(), limit]);
  clearTimeout(told);
  if (failures === null)
    output.note("burin: some servers did not start within 10 s; their tools are missing here");
  noteFailures(failures ?? toolbox.discoveryFailures, output);
  if (signal.aborted) return EXIT.interrupted;
  const tools = registry.getAllTools().map(({ name, description, parameterSchema: parameters, missing }) => {
    return { name, description, parameters, source: registry.getToolSource(name) ?? "", missing };
  });
  // Do not wait for a server that does not start.
  await Promise.race([toolbox.close(), limit]);
  clearTimeout(timer);
  const rows = tools.flatMap(({ name, source, description, missing }) => [
    `${name}  (${source}${missing === undefined ? "" : ", not configured"})`,
    `    ${(missing ?? description).replace(/\s+/g, " ")}`,
  ]);
  printFindings(output, options.outputFormat, { document: tools, rows: fitRows(rows, output.isTerminal) });
  return EXIT.done;
}
