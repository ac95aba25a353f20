import { createToolbox } from "@burin/core";
import { shownReason, type Verdict } from "@burin/core/internal";
import { type CommonOptions, openSettings, sessionOptions } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { noteNotices } from "../terminal/notes.ts";
import { lines } from "../terminal/output.ts";

/** Says whether a command line would run without asking, and why. Runs nothing. */
export async function run({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [command = "", tooMuch] = words;
  if (command.trim() === "") throw new UsageError("name a command: burin explain 'git diff | head'");
  if (tooMuch !== undefined)
    throw new UsageError(`burin explain takes one command; "${tooMuch}" is a second word. Quote it: '...'`);
  const { verdict, notices } = await explained(command, options);
  noteNotices(notices, output);
  if (options.outputFormat === "text") output.out(lines(...rowsOf(verdict)));
  else output.out(`${JSON.stringify({ command, ...verdict })}\n`);
  return EXIT.done;
}

export async function explained(command: string, options: CommonOptions) {
  const { settings, isTrusted, notices } = await openSettings(options);
  // Whether a call could be taken back decides in the mode `auto`.
  const record = options.session.kind !== "unrecorded";
  const toolbox = createToolbox({ ...sessionOptions(options, { settings, isTrusted }), record });
  const verdict = await toolbox.explain(command);
  await toolbox.close();
  return { verdict, notices };
}

/** The first row has the reason of the whole. */
export function rowsOf({ verdict, reason, parts = [], grants = [] }: Verdict): string[] {
  const rows = [`${verdict}: ${shownReason(reason)}`];
  if (parts.length > 1)
    rows.push(
      ...parts.map((part) => {
        const text = part.text.replaceAll("\n", "\\n");
        return `  ${part.verdict.padEnd(5)} ${text}  (${shownReason(part.reason)})`;
      }),
    );
  if (verdict !== "ask") return rows;
  if (grants.length === 0) return [...rows, '"always" is not offered for this; it is asked each time.'];
  return [...rows, `"always" would allow: ${grants.join(", ")}`];
}
