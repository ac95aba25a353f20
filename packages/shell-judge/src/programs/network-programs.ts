import { splitWords } from "@burin/contract/text/words";
import { findGitSubcommand } from "./git.ts";
import { OTHER_NETWORK_ROWS } from "./network-others.ts";
import { PACKAGE_ROWS } from "./network-packages.ts";
import type { NetworkCommand, NetworkRow } from "./network-row.ts";

export const NETWORK_ROWS: readonly NetworkRow[] = [...PACKAGE_ROWS, ...OTHER_NETWORK_ROWS];

const ROWS_BY_PROGRAM: ReadonlyMap<string, readonly NetworkRow[]> = groupRowsByProgram();

function groupRowsByProgram(): Map<string, NetworkRow[]> {
  const all = new Map<string, NetworkRow[]>();
  for (const row of NETWORK_ROWS) {
    for (const name of splitWords(row.programs)) all.set(name, [...(all.get(name) ?? []), row]);
  }
  return all;
}

/** The first row about these words, with the words that come before the subcommand left out. */
export function findNetworkRow(words: readonly (string | null)[], name: string): NetworkCommand | null {
  const module = /^python[\d.]*$/.test(name) && words[1] === "-m" ? words[2] : undefined;
  const plain = module ? [module, ...words.slice(3)] : words;
  const rows = ROWS_BY_PROGRAM.get(module ?? name) ?? [];
  for (const row of rows) {
    const inOrder = row.subcommands === undefined ? plain : moveSubcommandFirst(plain, row);
    if (inOrder !== null && needsNetwork(row, plain))
      return { row, words: inOrder, folder: findFolder(plain) };
  }
  return null;
}

/** `npm --prefix x install y` as `npm install --prefix x y`; null when it is another subcommand. */
function moveSubcommandFirst(
  words: readonly (string | null)[],
  { subcommands = "", values = "", programs }: NetworkRow,
): readonly (string | null)[] | null {
  const takesNext = splitWords(values);
  let at = programs === "git" ? findGitSubcommand(words) : 1;
  while (programs !== "git" && words[at]?.startsWith("-")) at += takesNext.includes(words[at] ?? "") ? 2 : 1;
  const word = words[at];
  if (word === null || !splitWords(subcommands).includes(word ?? "none")) return null;
  if (word === undefined) return words;
  // Git's own options come before the subcommand, and have nothing to do with it.
  const before = programs === "git" ? [] : words.slice(1, at);
  return [words[0] ?? null, word, ...before, ...words.slice(at + 1)];
}

function needsNetwork({ offline = "", only }: NetworkRow, words: readonly (string | null)[]): boolean {
  const hasAnyWord = (list: string) => splitWords(list).some((word) => words.includes(word, 1));
  return !hasAnyWord(offline) && (only === undefined || hasAnyWord(only));
}

function findFolder(words: readonly (string | null)[]): string | null {
  return words[1] === "-C" ? (words[2] ?? null) : null;
}
