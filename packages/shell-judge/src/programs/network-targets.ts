import { splitWords } from "@burin/contract/text/words";
import type { NetworkCommand, NetworkRow } from "./network-row.ts";

/** A place on the network that is named by configuration; the caller resolves it to hosts. */
export type NetworkSource =
  /** Where a package manager finds its packages: `npm`, `pip`, `cargo`, `go`, `apt`... */
  | { readonly kind: "registry"; readonly of: string }
  /** A remote of the repository in `folder`; without a name the one that git chooses itself, `*` for all. */
  | { readonly kind: "remote"; readonly name: string | null; readonly folder: string | null }
  /** The addresses of the repository's submodules. */
  | { readonly kind: "submodules"; readonly folder: string | null }
  /** A place that is known only when the command runs. */
  | { readonly kind: "unknown" };

/** The places on the network to which the words of a command lead. */
export interface NetworkTargets {
  readonly hosts: readonly string[];
  readonly sources: readonly NetworkSource[];
  /** true if all traffic is HTTP. */
  readonly isProxied: boolean;
}

type Words = readonly (string | null)[];
/** `null`: this machine. */
type Target = { readonly host: string | null; readonly isHttp: boolean };

const UNKNOWN: NetworkSource = { kind: "unknown" };
const SCHEME = /^(?:[a-z][a-z0-9.-]*\+)?([a-z][a-z0-9.-]*):\/\//i;
const THIS_MACHINE = /^(?:localhost|(?:[\w-]+\.)+localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?)$/;

/** The targets of a command that a row knows; null when all of them are on this machine. */
export function findNetworkTargets(command: NetworkCommand): NetworkTargets | null {
  const { row, words } = command;
  const operands = listOperands(words, row);
  switch (row.goesTo) {
    case "addresses":
      return readAddresses(operands, command);
    case "machine":
      return joinTargets(operands.slice(0, 1), readServerTarget);
    case "files":
      return readFileTargets(operands, words);
    case "remote":
      return readRemote(operands[0], command);
    case "every remote":
      return { hosts: [], sources: [createRemoteSource("*", command)], isProxied: true };
    case "submodules":
      return readSubmodules(operands, command);
    case "option":
      return readHostOption(words, row);
    case "unknown":
      return { hosts: [], sources: [UNKNOWN], isProxied: true };
    default:
      return readRegistry(row, operands);
  }
}

/** The words besides options and their values; behind the subcommand, if the row has one. */
function listOperands(words: Words, { values = "", subcommands }: NetworkRow): Words {
  const takesNext = new Set(splitWords(values));
  const operands: (string | null)[] = [];
  let isEnded = false;
  for (let at = subcommands === undefined ? 1 : 2; at < words.length; at += 1) {
    const word = words[at] ?? null;
    if (isEnded || word === null || !/^-./.test(word)) operands.push(word);
    else if (word === "--") isEnded = true;
    else if (takesNext.has(word)) at += 1;
  }
  return operands;
}

function joinTargets(words: Words, read: (word: string) => Target | null): NetworkTargets | null {
  const targets = words.map((word) => (word === null ? null : read(word)));
  const isUnknown = targets.length === 0 || targets.includes(null);
  const known = targets.filter((target) => target !== null);
  const away = known.filter(({ host }) => host !== null);
  if (!isUnknown && away.length === 0) return null;
  return {
    hosts: listHosts(away),
    sources: isUnknown ? [UNKNOWN] : [],
    isProxied: away.every(({ isHttp }) => isHttp),
  };
}

function listHosts(targets: readonly Target[]): string[] {
  return [...new Set(targets.flatMap(({ host }) => host ?? []))];
}

/** What a word with a scheme leads to; null for another word. */
function readAddress(word: string): Target | null {
  const scheme = SCHEME.exec(word)?.[1]?.toLowerCase();
  if (scheme === undefined) return null;
  if (scheme === "file") return { host: null, isHttp: true };
  const host = readHost(word.replace(SCHEME, ""));
  return host === undefined ? null : { host: host || null, isHttp: /^https?$/.test(scheme) };
}

function readAddresses(operands: Words, { row, words }: NetworkCommand): NetworkTargets | null {
  const named = listOptionValues(words, row.hostOption);
  const isSeen = !splitWords(row.unseen ?? "").some((option) =>
    words.some((word) => word?.startsWith(option)),
  );
  return joinTargets([...named, ...operands, ...(isSeen ? [] : [null])], readServerTarget);
}

function readServerTarget(word: string): Target | null {
  return readAddress(word) ?? readBareHost(word);
}

/** A host without a scheme, as `curl example.org/x` names it. */
function readBareHost(word: string): Target | null {
  const host = readHost(word);
  return host === undefined ? null : { host: host || null, isHttp: true };
}

/**
 * Returns the host of `user:password@host:port/path`: empty for this machine, undefined for a text that cannot contain
 * a host.
 */
function readHost(text: string): string | undefined {
  const authority = text.replace(/[/?#].*$/s, "").replace(/^.*@/s, "");
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::(\d*))?$/i.exec(authority) ?? [];
  const name = (bracketed ?? plain)?.toLowerCase().replace(/\.$/, "");
  if (name === undefined || !/^[\w.:-]+$/.test(name)) return undefined;
  if (THIS_MACHINE.test(name)) return "";
  const host = bracketed === undefined ? name : `[${name}]`;
  return port ? `${host}:${port}` : host;
}

/** `[user@]host:path`, as scp, rsync and git write it. */
function readCopyTarget(word: string): Target | null {
  const host = /^(?![a-z]:[\\/]|\/|\.)(?:[^/:@]+@)?([^/:@[\]]+|\[[\da-f:]+\]):(?!:)/i.exec(word)?.[1];
  return host === undefined ? null : { host: readHost(host) || null, isHttp: false };
}

/** Reads operands of which some name another machine; the others are files here. */
function readFileTargets(operands: Words, words: Words): NetworkTargets | null {
  const named = operands.map((word) => (word === null ? null : (readAddress(word) ?? readCopyTarget(word))));
  // `rsync host::module` is rsync's own protocol.
  const modules = operands.flatMap((word) => /^(?:[^/:@]+@)?([^/:@]+)::/.exec(word ?? "")?.[1] ?? []);
  const away = [
    ...named.filter((target) => target !== null),
    ...modules.map((host) => ({ host, isHttp: false })),
  ];
  const targets = away.filter(({ host }) => host !== null);
  if (targets.length === 0 && !words.includes(null)) return null;
  const sources = words.includes(null) ? [UNKNOWN] : [];
  return { hosts: listHosts(targets), sources, isProxied: false };
}

function readRemote(word: string | null | undefined, command: NetworkCommand): NetworkTargets | null {
  if (word === undefined) {
    // `git clone` and its like without an address do nothing.
    const sources = command.row.needsAddress ? [UNKNOWN] : [createRemoteSource(null, command)];
    return { hosts: [], sources, isProxied: true };
  }
  if (word === null || /^[a-z0-9+.-]+::/i.test(word))
    return { hosts: [], sources: [UNKNOWN], isProxied: false };
  const target = readAddress(word) ?? readCopyTarget(word);
  if (target !== null) {
    return target.host === null ? null : { hosts: [target.host], sources: [], isProxied: target.isHttp };
  }
  if (/^(?:\.{0,2}\/|~|\.{1,2}$)/.test(word) || command.row.needsAddress) return null;
  return { hosts: [], sources: [createRemoteSource(word, command)], isProxied: true };
}

function readSubmodules(operands: Words, { folder }: NetworkCommand): NetworkTargets | null {
  const [action, address] = operands;
  if (action === "add")
    return joinTargets([address ?? null], (word) => readAddress(word) ?? readCopyTarget(word));
  return action === "update"
    ? { hosts: [], sources: [{ kind: "submodules", folder }], isProxied: true }
    : null;
}

function createRemoteSource(name: string | null, { folder }: NetworkCommand): NetworkSource {
  return { kind: "remote", name, folder };
}

/** A client of a server that an option names; without it the server is on this machine. */
function readHostOption(words: Words, { hostOption }: NetworkRow): NetworkTargets | null {
  const addresses = words.slice(1).filter((word) => word !== null && SCHEME.test(word));
  const all = [...listOptionValues(words, hostOption), ...addresses];
  if (all.length === 0) return null;
  const socket: Target = { host: null, isHttp: false };
  const targets = joinTargets(all, (word) => (word.startsWith("/") ? socket : readServerTarget(word)));
  return targets && { ...targets, isProxied: false };
}

/** The values of these options, attached or in the next word. */
function listOptionValues(words: Words, options = ""): (string | null)[] {
  return words.flatMap((word, at) => {
    const option = splitWords(options).find((name) =>
      name.startsWith("--") ? word === name || word?.startsWith(`${name}=`) : word?.startsWith(name),
    );
    if (word === null || option === undefined || (/^-\w$/.test(option) && word.startsWith("--"))) return [];
    return [word === option ? (words[at + 1] ?? null) : word.slice(option.length).replace(/^=/, "")];
  });
}

/** The registry of a package manager, and the addresses among the packages. */
function readRegistry({ goesTo, hosts = "" }: NetworkRow, operands: Words): NetworkTargets {
  const named = operands.flatMap((word) => (word === null ? [] : (readPackage(word) ?? [])));
  const away = named.filter(({ host }) => host !== null);
  const registry = goesTo.startsWith("registry ") ? goesTo.slice("registry ".length) : null;
  return {
    hosts: [...new Set([...splitWords(hosts), ...listHosts(away)])],
    sources: registry === null ? [] : [{ kind: "registry", of: registry }],
    isProxied: away.every(({ isHttp }) => isHttp),
  };
}

/** `https://host/x.tgz`, `name@git+ssh://host/x`, `name @ https://host/x`. */
function readPackage(word: string): Target | null {
  const address = /(?:^|[@ ])((?:[a-z]+\+)?[a-z]+:\/\/.*)$/is.exec(word)?.[1];
  return address === undefined ? null : readAddress(address);
}
