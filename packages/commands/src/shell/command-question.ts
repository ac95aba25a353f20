import type { CommandLimits, Confirmation } from "@burin/contract/tools";
import { WebError } from "@burin/net/web-error";
import {
  findNetworkRequirements,
  formatHostEndpoint,
  type NetworkSource,
  parseHostEndpoint,
} from "@burin/shell-judge";
import type { CommandRequest } from "./command-request.ts";
import type { CommandSandbox, MachineCommands } from "./machine-commands.ts";

interface CommandToAsk {
  readonly command: string;
  readonly directory: string;
  readonly exception: "network" | "unlimited" | undefined;
  readonly isBackground: boolean | undefined;
}

/** What the user is asked before a command runs. */
export async function buildCommandQuestion(
  { command, directory, exception, isBackground = false }: CommandToAsk,
  commands: MachineCommands,
): Promise<Confirmation> {
  const { hasNetwork, reachesByName = false } = commands;
  const isByName = reachesByName && exception !== "unlimited";
  const network = isByName ? await findCommandNetwork(command, directory, commands) : undefined;
  const state = await commands.sandbox();
  const words = describeLimits(state, exception, { hasNetwork, reachesByName, network });
  const needsNetwork = network !== undefined || (!isByName && findNetworkRequirements(command).needs);
  const limits = findLimits(state, exception, { hasNetwork, reachesByName, network, needsNetwork });
  const writes =
    (await commands.protectedWrites?.({ command, directory, exception: exception ?? "none" })) ?? [];
  return {
    kind: "exec",
    title: `Run this command in ${directory}${isBackground ? ", in the background" : ""}? ${words}`,
    command,
    parts: [command],
    directory,
    limits,
    ...(exception === undefined ? {} : { exception }),
    ...(network === undefined || network.isWhole ? {} : { hosts: network.hosts }),
    ...(writes.length === 0 ? {} : { writes }),
    grants: [],
  };
}

/** Input typed into a program can be a command too, so only a user may approve it. */
export async function buildTypingQuestion(
  { background_id: id = "", input = "" }: { readonly background_id?: string; readonly input?: string },
  commands: MachineCommands,
): Promise<Confirmation> {
  const found = (await commands.backgrounds()).find((one) => one.id === id);
  const title = `Type this into ${id}${found === undefined ? "" : ` (${found.request.command})`}?`;
  return { kind: "info", title, prompt: input, urls: [], grants: [] };
}

/** Describes what the sandbox allows a command, for the user who is asked about it. */
function describeLimits(
  state: CommandSandbox,
  exception: CommandRequest["exception"] | undefined,
  { hasNetwork, reachesByName = false, network }: NetworkWords,
): string {
  if (state.sandbox === null) {
    return `It runs without a sandbox (${state.reason}), with your full permissions.`;
  }
  if (exception === "unlimited") return "It asks to run WITHOUT the sandbox, with your full permissions.";
  const writes = state.sandbox.mode === "read-only" ? "cannot write" : "can write only in the project";
  if (exception === "network" && network?.isWhole) {
    return [
      `It ${writes}, and asks for the whole network of this machine, because it cannot use a proxy.`,
      "It then reaches services on this machine, but not servers that other commands have started.",
    ].join(" ");
  }
  if (network !== undefined && network.hosts.length > 0) {
    const hosts = network.hosts.map((host) => (/:\d+$/.test(host) ? `${host} (in your own network)` : host));
    return `It ${writes}. It may reach ${hosts.join(", ")}, and also send files there; other hosts are asked about.`;
  }
  if (exception === "network" || network !== undefined) {
    const how = reachesByName ? " to hosts that you are asked about, one by one" : "";
    return `It ${writes}, and asks for network access${how}.`;
  }
  return `It ${writes}${hasNetwork ? "" : ", and has no network"}.`;
}

/** Returns what the sandbox allows a command as data, for front ends with their own words. */
function findLimits(
  state: CommandSandbox,
  exception: CommandToAsk["exception"],
  facts: NetworkFacts,
): CommandLimits {
  if (state.sandbox === null || exception === "unlimited") {
    const why = state.sandbox === null ? { reason: state.reason } : {};
    return { writes: "everywhere", network: "whole", needsNetwork: false, ...why };
  }
  const writes = state.sandbox.mode === "read-only" ? "nothing" : "project";
  const isChoice = exception === undefined && !facts.hasNetwork;
  return {
    writes,
    network: classifyNetwork(exception === "network", facts),
    needsNetwork: isChoice && facts.needsNetwork,
  };
}

interface NetworkFacts extends NetworkWords {
  readonly needsNetwork: boolean;
}

function classifyNetwork(
  isException: boolean,
  { hasNetwork, reachesByName = false, network, needsNetwork }: NetworkFacts,
): CommandLimits["network"] {
  if (hasNetwork) return "whole";
  if (network?.isWhole) return isException ? "whole" : "offered";
  if (network !== undefined && network.hosts.length > 0) return "hosts";
  if (network !== undefined) return "asked";
  if (isException) return reachesByName ? "asked" : "whole";
  return needsNetwork ? "offered" : "none";
}

interface NetworkWords {
  readonly hasNetwork: boolean;
  readonly reachesByName?: boolean;
  /** The network access that the command's words say it needs. */
  readonly network?: { readonly hosts: readonly string[]; readonly isWhole: boolean } | undefined;
}

interface CommandNetwork {
  readonly hosts: readonly string[];
  /** true if the command cannot use a proxy. */
  readonly isWhole: boolean;
}

/** How long a program may take to print the address of a configured place, such as a git remote. */
const SOURCE_TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024;

/** Finds the command's network needs from its words, with the hosts that the settings in this folder name. */
async function findCommandNetwork(
  command: string,
  directory: string,
  commands: MachineCommands,
): Promise<CommandNetwork | undefined> {
  if ((await commands.sandbox()).sandbox === null) return undefined;
  const needs = findNetworkRequirements(command, commands.shell.kind !== "sh");
  if (!needs.needs) return undefined;
  if (!needs.canUseProxy) return { hosts: [], isWhole: true };
  const named = await Promise.all(
    needs.sources.map((source) => resolveSourceHost(source, directory, commands)),
  );
  const hosts = [...needs.hosts, ...named.flatMap((host) => host ?? [])];
  return { hosts: [...new Set(hosts)], isWhole: false };
}

/** Builds the network part of a command request. `allowed`: the hosts that the user has allowed. */
export function buildNetworkRequest(
  command: string,
  allowed: readonly string[] = [],
): Partial<CommandRequest> {
  const needs = findNetworkRequirements(command);
  if (!needs.needs) return {};
  return needs.canUseProxy ? { hosts: allowed } : { needsWholeNetwork: true };
}

/** Returns null if the host cannot be found out; the user is then asked when the command connects. */
async function resolveSourceHost(
  source: NetworkSource,
  directory: string,
  commands: MachineCommands,
): Promise<string | null> {
  const command = findSourceCommand(source);
  if (command === null) return null;
  const { stdout } = await commands.exchange({
    command,
    cwd: directory,
    input: "",
    milliseconds: SOURCE_TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal: new AbortController().signal,
    limits: { network: false },
  });
  return formatAddressHost(stdout.toString().trim());
}

function findSourceCommand(source: NetworkSource): string | null {
  if (source.kind === "registry") return source.of === "npm" ? "npm config get registry" : null;
  if (source.kind !== "remote" || source.folder !== null) return null;
  const name = source.name ?? "origin";
  return /^[\w][\w.-]*$/.test(name) ? `git remote get-url ${name}` : null;
}

async function formatAddressHost(text: string): Promise<string | null> {
  if (!/^https?:\/\/\S+$/.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const place = parseHostEndpoint(`${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`);
  if (place === null || place.isAddress) return null;
  if (url.port !== "") return formatHostEndpoint(place);
  return (await isPrivate(url)) ? formatHostEndpoint(place) : place.host;
}

/** A private host is allowed only with its port, so that the question shows exactly what it is. */
async function isPrivate(url: URL): Promise<boolean> {
  const { resolveAllowedAddresses } = await import("@burin/net/guard-host");
  try {
    await resolveAllowedAddresses(url, { named: [] }, false);
    return false;
  } catch (error) {
    return error instanceof WebError && error.type === "private_address";
  }
}
