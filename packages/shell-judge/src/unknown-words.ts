import type { CommandReach } from "./command-place.ts";
import type { ShellWord, SimpleCommand } from "./grammar/command-parts.ts";
import { isSafeWithUnknownWords } from "./programs/any-text.ts";
import { BEYOND_RULES, createUnknownFinding, type Finding } from "./programs/finding.ts";
import { findProjectProgram, readProgram } from "./programs/read-program.ts";
import { listDeletedPaths } from "./programs/task-programs.ts";

/** A word with unknown text may go to a program that only prints or compares it. */
export function judgeUnknownWords(command: SimpleCommand, reach: CommandReach): Finding[] {
  const isText = command.words.every(({ value, isAnyText }) => value !== null || isAnyText === true);
  if (isText && isSafeWithUnknownWords(command.words.map(({ value }) => value))) {
    return findProjectProgram(command.words[0]?.value ?? "", reach);
  }
  const unseen = command.words.find(({ value }) => value === null)?.text;
  const known = unseen === undefined ? "which program it starts" : `what \`${unseen}\` stands for`;
  const finding = createUnknownFinding(command.problems[0] ?? `${known} is known only when it runs`);
  const texts = command.words.map(({ value, text }) => value ?? text);
  const deletes = listDeletedPaths(texts);
  const found =
    deletes === null ? [finding, ...findCertainLosses(command.words, reach)] : [{ ...finding, deletes }];
  return [...found, ...findHomeAccess(texts, reach)];
}

/** Finds what the known words would destroy for good, whatever the unknown words are. */
function findCertainLosses(words: readonly ShellWord[], reach: CommandReach): Finding[] {
  const known = words.map(({ value, isGlob }) => ({ value: value ?? "", isGlob }));
  const found = readProgram(known, reach);
  const lost = found.filter(({ nature, isKept, deletes }) =>
    deletes === undefined ? nature === "destructive" && !isKept : true,
  );
  return lost.map(({ what }) => ({ nature: "destructive", what, upTo: BEYOND_RULES }));
}

/** Every home folder counts as outside. */
function findHomeAccess(texts: readonly string[], reach: CommandReach): Finding[] {
  return texts.flatMap((text) => {
    const path = text.replace(/^"?\$\{?HOME\}?(?=[/"]|$)/, "~");
    if (!path.startsWith("~")) return [];
    const what = reach.explainOutside(path, false) ?? `\`${text}\` is in a home folder`;
    return [{ nature: "outside" as const, what, upTo: BEYOND_RULES, path: text }];
  });
}
