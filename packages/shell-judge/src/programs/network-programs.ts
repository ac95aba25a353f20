import { gitSubcommand } from "./git.ts";
import { OTHER_NETWORK_ROWS } from "./network-others.ts";
import { PACKAGE_ROWS } from "./network-packages.ts";
import { type NetworkCommand, type NetworkRow, wordsIn } from "./network-row.ts";

export const NETWORK_ROWS: readonly NetworkRow[] = [...PACKAGE_ROWS, ...OTHER_NETWORK_ROWS];

const BY_PROGRAM: ReadonlyMap<string, readonly NetworkRow[]> = groupRows();

function groupRows(): Map<string, NetworkRow[]> {
  const all = new Map<string, NetworkRow[]>();
  for (const row of NETWORK_ROWS) {
    for (const name of wordsIn(row.programs)) all.set(name, [...(all.get(name) ?? []), row]);
  }
  return all;
}

/** The first row about these words, with the words that come before the subcommand left out. */
export function findNetworkRow(words: readonly (string | null)[], name: string): NetworkCommand | null {
  const module = /^python[\d.]*$/.test(name) && words[1] === "-m" ? words[2] : undefined;
  const plain = module ? [module, ...words.slice(3)] : words;
  const rows = BY_PROGRAM.get(module ?? name) ?? [];
  for (const row of rows) {
    const inOrder = row.subcommands === undefined ? plain : withSubcommandFirst(plain, row);
    if (inOrder !== null && isOnline(row, plain)) return { row, words: inOrder, folder: folderOf(plain) };
  }
  return null;
}

/** `npm --prefix x install y` as `npm install --prefix x y`; null when it is another subcommand. */
function withSubcommandFirst(
  words: readonly (string | null)[],
  { subcommands = "", values = "", programs }: NetworkRow,
): readonly (string | null)[] | null {
  const takesNext = wordsIn(values);
  let at = programs === "git" ? gitSubcommand(words) : 1;
  while (programs !== "git" && words[at]?.startsWith("-")) at += takesNext.includes(words[at] ?? "") ? 2 : 1;
  const word = words[at];
  if (word === null || !wordsIn(subcommands).includes(word ?? "none")) return null;
  if (word === undefined) return words;
  // Git's own options come before the subcommand, and have nothing to do with it.
  const before = programs === "git" ? [] : words.slice(1, at);
  return [words[0] ?? null, word, ...before, ...words.slice(at + 1)];
}

function isOnline({ offline = "", only }: NetworkRow, words: readonly (string | null)[]): boolean {
  const has = (list: string) => wordsIn(list).some((word) => words.includes(word, 1));
  return !has(offline) && (only === undefined || has(only));
}

function folderOf(words: readonly (string | null)[]): string | null {
  return words[1] === "-C" ? (words[2] ?? null) : null;
}
