import { createToolbox, type Verdict } from "@burin/core";
import { openSettings, sessionOptions } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { noteNotices } from "../terminal/notes.ts";
import { visible } from "../terminal/output.ts";

/** Says whether a command line would run without asking, and why. Runs nothing. */
export async function runExplain({ words, options }: SubcommandRequest, { output }: Io): Promise<ExitCode> {
  const [command, tooMuch] = words;
  if (command === undefined) throw new UsageError("name a command: burin explain 'git diff | head'");
  if (tooMuch !== undefined) {
    throw new UsageError(
      `burin explain takes one command, and "${tooMuch}" is a second word. Quote it: '...'`,
    );
  }
  const { settings, isTrusted, notices } = await openSettings(options);
  noteNotices(notices, output);
  const toolbox = createToolbox({ ...sessionOptions(options, { settings, isTrusted }), root: options.root });
  const verdict = await toolbox.explain(command);
  await toolbox.close();
  if (options.outputFormat === "text") output.out(`${visible(textOf(verdict))}\n`);
  else output.out(`${JSON.stringify({ command, ...verdict })}\n`);
  return EXIT.done;
}

function textOf({ verdict, reason, parts = [], grants = [] }: Verdict): string {
  const lines = [`${verdict}: ${reason}`];
  if (parts.length > 1) {
    for (const part of parts) lines.push(`  ${part.verdict.padEnd(5)} ${part.text}  (${part.reason})`);
  }
  if (verdict !== "ask") return lines.join("\n");
  if (grants.length === 0)
    return [...lines, '"always" is not offered for this; it is asked each time.'].join("\n");
  return [...lines, `"always" would allow: ${grants.join(", ")}`].join("\n");
}
