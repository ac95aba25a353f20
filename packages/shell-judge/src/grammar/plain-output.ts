import type { ParsedScript, Redirection } from "unbash";

/** Commands, by their words, that print one word without a sign that means anything to a shell. */
const PRINTS_ONE_WORD =
  /^(?:wc(?: -[clmw])+|nproc|uname|date \+[%\w:.-]+|git rev-parse (?:--short |--abbrev-ref )?HEAD|git branch --show-current|pwd)$/;

/** Whether a script prints at most one word, so that no quotes are needed around it. */
export function printsOneWord(script: ParsedScript | undefined): boolean {
  const [statement, ...more] = script?.commands ?? [];
  if (statement === undefined || more.length > 0) return false;
  const { command } = statement;
  const last = command.type === "Pipeline" ? command.commands.at(-1) : command;
  if (last?.type !== "Command" || !last.redirects.every(isQuiet)) return false;
  const words = [last.name, ...last.args].map((word) => word?.text ?? "");
  return PRINTS_ONE_WORD.test(words.join(" "));
}

/** It feeds the command, or throws its errors away. */
function isQuiet(redirection: Redirection): boolean {
  return (
    redirection.operator === "<" || (redirection.operator === ">" && redirection.target?.text === "/dev/null")
  );
}
