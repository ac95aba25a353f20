import { createToolbox } from "@burin/core";
import { formatReason, type Verdict } from "@burin/core/internal";
import { buildSessionOptions, type CommonOptions, openSettings } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { noteNotices } from "../terminal/notes.ts";
import { joinLines } from "../terminal/output.ts";

/** Says whether a command line would run without asking, and why. Runs nothing. */
export async function run({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [command = "", tooMuch] = words;
  if (command.trim() === "") throw new UsageError("name a command: burin explain 'git diff | head'");
  if (tooMuch !== undefined)
    throw new UsageError(`burin explain takes one command; "${tooMuch}" is a second word. Quote it: '...'`);
  const { verdict, notices } = await explainCommand(command, options);
  noteNotices(notices, output);
  if (options.outputFormat === "text") output.out(joinLines(...formatRows(verdict)));
  else output.out(`${JSON.stringify({ command, ...verdict })}\n`);
  return EXIT.done;
}

export async function explainCommand(command: string, options: CommonOptions) {
  const { settings, isTrusted, notices } = await openSettings(options);
  // In the mode `auto`, the verdict depends on whether a call could be undone, and so on whether the session is
  // recorded.
  const record = options.session.kind !== "unrecorded";
  const toolbox = createToolbox({ ...buildSessionOptions(options, { settings, isTrusted }), record });
  const verdict = await toolbox.explain(command);
  await toolbox.close();
  return { verdict, notices };
}

/** Formats a verdict. The first row has the overall reason. */
export function formatRows({ verdict, reason, parts = [], grants = [] }: Verdict): string[] {
  const rows = [`${verdict}: ${formatReason(reason)}`];
  if (parts.length > 1)
    rows.push(
      ...parts.map((part) => {
        const text = part.text.replaceAll("\n", "\\n");
        return `  ${part.verdict.padEnd(5)} ${text}  (${formatReason(part.reason)})`;
      }),
    );
  if (verdict !== "ask") return rows;
  if (grants.length === 0) return [...rows, '"always" is not offered for this; it is asked each time.'];
  return [...rows, `"always" would allow: ${grants.join(", ")}`];
}
