import type { CommandLimits, Confirmation } from "@burin/contract/tools";
import { WebError } from "@burin/net/web-error";
import { hostPlaceText, type NetworkSource, networkNeeds, readHostPlace } from "@burin/shell-judge";
import type { CommandRequest } from "./command-request.ts";
import type { CommandSandbox, MachineCommands } from "./machine-commands.ts";

interface AskedCommand {
  readonly command: string;
  readonly directory: string;
  readonly exception: "network" | "unlimited" | undefined;
  readonly isBackground: boolean | undefined;
}

/** What the user is asked before a command runs. */
export async function commandQuestion(
  { command, directory, exception, isBackground = false }: AskedCommand,
  commands: MachineCommands,
): Promise<Confirmation> {
  const { hasNetwork, reachesByName = false } = commands;
  const isByName = reachesByName && exception !== "unlimited";
  const network = isByName ? await commandNetwork(command, directory, commands) : undefined;
  const state = await commands.sandbox();
  const words = limitsInWords(state, exception, { hasNetwork, reachesByName, network });
  const needsNetwork = network !== undefined || (!isByName && networkNeeds(command).needs);
  const limits = limitsOf(state, exception, { hasNetwork, reachesByName, network, needsNetwork });
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
export async function typingQuestion(
  { background_id: id = "", input = "" }: { readonly background_id?: string; readonly input?: string },
  commands: MachineCommands,
): Promise<Confirmation> {
  const found = (await commands.backgrounds()).find((one) => one.id === id);
  const title = `Type this into ${id}${found === undefined ? "" : ` (${found.request.command})`}?`;
  return { kind: "info", title, prompt: input, urls: [], grants: [] };
}

/** What a command may do where it runs, for the user who is asked about it. */
function limitsInWords(
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
    return `It ${writes}, and asks for the whole network of this machine, because it cannot use a proxy. It then reaches services on this machine, but not servers that other commands have started.`;
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

/** The same as data, for faces that say it in their own words. */
function limitsOf(
  state: CommandSandbox,
  exception: AskedCommand["exception"],
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
    network: networkOf(exception === "network", facts),
    needsNetwork: isChoice && facts.needsNetwork,
  };
}

interface NetworkFacts extends NetworkWords {
  readonly needsNetwork: boolean;
}

function networkOf(
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
  /** What its words say it needs. */
  readonly network?: { readonly hosts: readonly string[]; readonly isWhole: boolean } | undefined;
}

interface CommandNetwork {
  readonly hosts: readonly string[];
  /** It cannot use a proxy. */
  readonly isWhole: boolean;
}

/** How long a program may take to say where its words lead. */
const SOURCE_MS = 10_000;
const MOST_BYTES = 16 * 1024;

/** What the words of a command say about the network, with the hosts that this place's settings name for them. */
async function commandNetwork(
  command: string,
  directory: string,
  commands: MachineCommands,
): Promise<CommandNetwork | undefined> {
  if ((await commands.sandbox()).sandbox === null) return undefined;
  const needs = networkNeeds(command, commands.shell.kind !== "sh");
  if (!needs.needs) return undefined;
  if (!needs.canUseProxy) return { hosts: [], isWhole: true };
  const named = await Promise.all(needs.sources.map((source) => hostOfSource(source, directory, commands)));
  const hosts = [...needs.hosts, ...named.flatMap((host) => host ?? [])];
  return { hosts: [...new Set(hosts)], isWhole: false };
}

/** What a command is started with. `allowed`: the hosts that the user allowed with it. */
export function networkRequest(command: string, allowed: readonly string[] = []): Partial<CommandRequest> {
  const needs = networkNeeds(command);
  if (!needs.needs) return {};
  return needs.canUseProxy ? { hosts: allowed } : { needsWholeNetwork: true };
}

/** null when nothing says it; the command is then asked about when it connects. */
async function hostOfSource(
  source: NetworkSource,
  directory: string,
  commands: MachineCommands,
): Promise<string | null> {
  const command = commandFor(source);
  if (command === null) return null;
  const { stdout } = await commands.exchange({
    command,
    cwd: directory,
    input: "",
    milliseconds: SOURCE_MS,
    mostBytes: MOST_BYTES,
    signal: new AbortController().signal,
    limits: { network: false },
  });
  return hostOfAddress(stdout.toString().trim());
}

function commandFor(source: NetworkSource): string | null {
  if (source.kind === "registry") return source.of === "npm" ? "npm config get registry" : null;
  if (source.kind !== "remote" || source.folder !== null) return null;
  const name = source.name ?? "origin";
  return /^[\w][\w.-]*$/.test(name) ? `git remote get-url ${name}` : null;
}

async function hostOfAddress(text: string): Promise<string | null> {
  if (!/^https?:\/\/\S+$/.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const place = readHostPlace(`${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`);
  if (place === null || place.isAddress) return null;
  if (url.port !== "") return hostPlaceText(place);
  return (await isPrivate(url)) ? hostPlaceText(place) : place.host;
}

/** A place in a private network is allowed only with its port, so that the question shows what it is. */
async function isPrivate(url: URL): Promise<boolean> {
  const { allowedAddresses } = await import("@burin/net/guard-host");
  try {
    await allowedAddresses(url, { named: [] }, false);
    return false;
  } catch (error) {
    return error instanceof WebError && error.type === "private_address";
  }
}
