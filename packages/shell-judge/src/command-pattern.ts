import { splitShellWords } from "@burin/contract/text/shell-words";

export const SHELL_TOOL = "run_shell_command";

/** The words of a rule for commands. */
export interface CommandPattern {
  /** The words that a command begins with; empty for every command. */
  readonly words: readonly string[];
  /** It ends in `;`: no more words may follow. */
  readonly isExact: boolean;
}

/** null when the pattern is more than one plain command. A `*` at its end changes nothing. */
export function commandPattern(pattern: string): CommandPattern | null {
  const isExact = /;\s*$/.test(pattern);
  const words = splitShellWords(pattern.replace(/;\s*$/, "").replace(/(?:^|(?<!\s)\s+|:)\*$/, ""));
  return words === null ? null : { words, isExact };
}

/** Returns what is wrong with a pattern for commands, or null. */
export function commandPatternFault(pattern: string): string | null {
  return commandPattern(pattern) === null
    ? `"${pattern}" is more than one plain command; write the words it begins with, e.g. git log`
    : null;
}

/** A rule for these words, with any more after them. */
export function ruleText(words: readonly string[]): string {
  return `${SHELL_TOOL}(${words.join(" ")})`;
}
