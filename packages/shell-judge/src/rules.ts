import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { findPatternFault } from "@burin/contract/patterns/pattern";
import { splitShellWords } from "@burin/contract/text/shell-words";

export const SHELL_TOOL = "run_shell_command";

/** The words of a rule for commands. */
export interface CommandPattern {
  /** The words that a command begins with; empty for every command. */
  readonly words: readonly string[];
  /** true for a rule that ends in `;`: no more words may follow. */
  readonly isExact: boolean;
  /** true for a rule that ends in `*`. */
  readonly isWide: boolean;
  /** Every address among the other words must begin with this, as in `curl http://127.0.0.1:*`. */
  readonly address?: string;
  /** The rule is about files that commands write with `>`: a pattern for their paths, as in `> src/**`. */
  readonly writes?: string;
}

/**
 * Returns null if the pattern is more than one plain command. A trailing `*` changes nothing in a rule of the settings.
 */
export function parseCommandPattern(pattern: string): CommandPattern | null {
  const writes = /^>\s*([\w*./@+-]+)$/.exec(pattern)?.[1];
  if (writes !== undefined) return { words: [], isExact: false, isWide: false, writes };
  const isExact = /;\s*$/.test(pattern);
  const [, start, address] =
    /^(\S.*?)\s+(https?:\/\/[^\s*'"]+|(?:localhost|127\.[\d.]+|\[::1\])[:/][^\s*'"]*)\*$/i.exec(pattern) ??
    [];
  const isWide = address !== undefined || /(?:^|[\s:])\*$/.test(pattern);
  const plain = start ?? pattern.replace(/;\s*$/, "").replace(/(?:^|(?<!\s)\s+|:)\*$/, "");
  const words = splitShellWords(plain);
  return words === null ? null : { words, isExact, isWide, ...(address !== undefined && { address }) };
}

/** Returns what is wrong with a pattern for commands, or null. */
function findCommandPatternFault(pattern: string): string | null {
  return parseCommandPattern(pattern) === null
    ? `"${pattern}" is more than one plain command; write the words it begins with, e.g. git log`
    : null;
}

/** A rule for these words, alone or with any more after them. */
export function formatRule(words: readonly string[], isExact = false): string {
  return `${SHELL_TOOL}(${words.join(" ")}${isExact ? ";" : ""})`;
}

/** `tool` or `tool(pattern)`, as written in settings, on the command line or in a grant. */
export interface Rule {
  readonly text: string;
  readonly tool: string;
  readonly pattern?: string;
}

export interface Rules {
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
  /** What the user answered "always" to: like allow, but never for anything destructive. */
  readonly granted?: readonly Rule[];
}

const RULE = /^\s*([A-Za-z0-9_*-]+)\s*(?:\((.*)\)\s*)?$/s;

/** Throws with the correct syntax when the text is not a rule. */
export function parseRule(text: string): Rule {
  const found = RULE.exec(text);
  const tool = found?.[1];
  const pattern = found?.[2]?.trim();
  if (tool === undefined || pattern === "") {
    throw new Error(`"${text}" is not a rule; write tool or tool(pattern), e.g. read_file or edit(src/**).`);
  }
  if (pattern === undefined) return { text, tool };
  const fault =
    tool === SHELL_TOOL
      ? findCommandPatternFault(pattern)
      : findPatternFault(() => createGlobMatcher(pattern, { caseSensitive: true }));
  if (fault !== null) throw new Error(`"${text}" is not a rule: ${fault.replace(/\.$/, "")}.`);
  return { text, tool, pattern };
}

/** What a rule is compared with. */
export interface RuleTarget {
  readonly tool: string;
  readonly subjects: readonly string[];
}

/** To allow, a rule with a pattern must cover every subject of the call; to ask or deny, one is enough. */
export function ruleCovers(rule: Rule, target: RuleTarget, covering: "every" | "some"): boolean {
  if (!createGlobMatcher(rule.tool, { caseSensitive: true })(target.tool)) return false;
  if (rule.pattern === undefined) return true;
  if (target.subjects.length === 0) return false;
  const matches = createGlobMatcher(rule.pattern, { caseSensitive: true });
  return covering === "every" ? target.subjects.every(matches) : target.subjects.some(matches);
}
