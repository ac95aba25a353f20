import { listCommands } from "./command-words.ts";
import type { ShellCommand, ShellWord } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { baseName } from "./programs/launches.ts";
import { findNetworkRow } from "./programs/network-programs.ts";
import type { NetworkCommand, NetworkRow } from "./programs/network-row.ts";
import { findNetworkTargets, type NetworkSource } from "./programs/network-targets.ts";

export type { NetworkSource } from "./programs/network-targets.ts";

/** What one command of a line does on the network. */
export interface NetworkUse {
  readonly text: string;
  /** false: it needs the network only if something is missing on this machine, as `cargo build` does. */
  readonly isCertain: boolean;
  /** Hosts in lower case, with a port where the words name one. Hosts of this machine are left out. */
  readonly hosts: readonly string[];
  readonly sources: readonly NetworkSource[];
  /** true if all its traffic can go through an HTTP proxy. */
  readonly canUseProxy: boolean;
  /** true if the command is meant to send something, not only to fetch. */
  readonly isSending: boolean;
  /** Where the program would be that it otherwise fetches; relative to the folder of the command or one above. */
  readonly localProgram?: string;
  readonly why: string;
}

/** The network access that a command line needs, as far as its words say it. */
export interface NetworkRequirements {
  readonly needs: boolean;
  readonly hosts: readonly string[];
  readonly sources: readonly NetworkSource[];
  readonly canUseProxy: boolean;
  /** One clause for the user; empty when the line needs no network. */
  readonly why: string;
  /** Every use of the network, including uses that are only possible. */
  readonly uses: readonly NetworkUse[];
}

/**
 * Finds the network access that a command line needs, from its words alone. Pure: it resolves no name and reads no
 * settings.
 */
export function findNetworkRequirements(command: string, isBash = true): NetworkRequirements {
  const uses: NetworkUse[] = [];
  const line = clearGlobInUrls(parseShellCommand(command, isBash));
  for (const { words, part, isPossible, isText } of listCommands(line)) {
    const use = isPossible || isText ? null : findNetworkUse(words, part);
    if (use !== null) uses.push(use);
  }
  const certain = uses.filter(({ isCertain }) => isCertain);
  return {
    needs: certain.length > 0,
    hosts: [...new Set(certain.flatMap(({ hosts }) => hosts))],
    sources: removeRepeats(certain.flatMap(({ sources }) => sources)),
    canUseProxy: certain.every(({ canUseProxy }) => canUseProxy),
    why: [...new Set(certain.map(({ why }) => why))].join("; "),
    uses,
  };
}

/** No folder is called `https:`, so the `?` of an address matches no file. */
function clearGlobInUrls(line: ShellCommand): ShellCommand {
  const clearGlobInUrl = (word: ShellWord) =>
    word.value?.includes("://") ? { ...word, isGlob: false } : word;
  return {
    ...line,
    commands: line.commands.map((one) => ({ ...one, words: one.words.map(clearGlobInUrl) })),
  };
}

function findNetworkUse(words: readonly (string | null)[], text: string): NetworkUse | null {
  const [program] = words;
  if (program === null || program === undefined) return null;
  const found = findNetworkRow(words, baseName(program).toLowerCase());
  if (found === null) return null;
  const { row } = found;
  const targets = findNetworkTargets(found);
  if (targets === null) return null;
  const { hosts, sources, isProxied } = targets;
  const localProgram = findLocalProgram(found);
  return {
    text,
    hosts,
    sources,
    isCertain: row.isPossible !== true,
    canUseProxy: isProxied && row.noProxy !== true,
    isSending: row.isSending === true,
    ...(localProgram === null ? {} : { localProgram }),
    why: `\`${formatName(row, found.words)}\` ${row.does}`,
  };
}

function findLocalProgram({ row, words }: NetworkCommand): string | null {
  const others = words.slice(row.subcommands === undefined ? 1 : 2);
  const name = others.find((word) => !word?.startsWith("-"));
  return row.programsIn === undefined || !name ? null : `${row.programsIn}/${name}`;
}

function formatName({ subcommands }: NetworkRow, words: readonly (string | null)[]): string {
  const name = baseName(words[0] ?? "");
  return subcommands === undefined || words[1] === undefined ? name : `${name} ${words[1]}`;
}

function removeRepeats(sources: readonly NetworkSource[]): NetworkSource[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}
