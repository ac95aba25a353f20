import { rejectOnAbort } from "@burin/contract/async/wait";
import { describeError } from "@burin/contract/text/error-message";
import { randomName } from "@burin/files/disk/own-files";
import {
  formatHostEndpoint,
  type HostEndpoint,
  type HostRules,
  judgeHost,
  listExplicitEndpoints,
} from "@burin/shell-judge";
import type { CommandSpace } from "../sandbox/sandbox.ts";
import { type EgressOptions, EgressProxy } from "./egress-proxy.ts";
import { type NetworkNamespace, openInSharedNamespace, openNetworkNamespace } from "./network-space.ts";
import { buildProxyEnvironment } from "./proxy-variables.ts";
import type { EgressRefusal } from "./refusal.ts";

/** A command wants a host that no rule names. */
export interface HostRequest {
  /** The host; with its port if the port is unusual or the host is in a private network. */
  readonly host: string;
  readonly isPrivate: boolean;
  readonly command: string;
}

/**
 * `yes` is for this command only. `unasked` means that nobody can answer. A lasting yes changes the rules themselves.
 */
export type HostAnswer = "yes" | "no" | "unasked";

export interface SessionEgressOptions extends Pick<EgressOptions, "environment" | "resolve" | "limits"> {
  /** Returns the current rules from settings and grants. */
  readonly rules: () => Promise<HostRules>;
  /**
   * Resolves to the space that the commands share, in whose network the proxy then listens; to null if there is none.
   */
  readonly space?: () => Promise<CommandSpace | null>;
  /** Asks the user. Rejects when the signal aborts. */
  readonly ask?: (wish: HostRequest, signal: AbortSignal) => Promise<HostAnswer>;
}

/** What a command needs to reach the proxy, until it has ended. */
export interface EgressLease {
  readonly env: Readonly<Record<string, string>>;
  /** The words that start a program in the network namespace of the proxy. */
  readonly within: readonly string[];
  /** What the proxy has refused to this command. */
  readonly refusals: readonly EgressRefusal[];
  /** The milliseconds that the command has waited for the user's answers. */
  waitedMs(): number;
  close(): void;
}

export interface LeaseRequest {
  readonly command: string;
  /** The hosts that only this command may reach. */
  readonly hosts: readonly string[];
  /** Whether the user may be asked about more. */
  readonly mayAsk: boolean;
}

interface Client extends LeaseRequest {
  readonly password: string;
  readonly refusals: EgressRefusal[];
  readonly ended: AbortController;
  /** The answer for each host: one question, however many connections wait for it. */
  readonly answers: Map<string, Promise<HostAnswer>>;
  /**
   * How many questions are open, when the first of these was asked, and how many milliseconds earlier questions took.
   */
  questions: number;
  waitsSince: number;
  waitedMs: number;
}

/** The maximum number of refusals that are kept for one command. */
const MAX_REFUSALS = 100;

/** The network of one session's commands: a namespace, its proxy, and who may reach which host. */
export class SessionEgress {
  readonly #options: SessionEgressOptions;
  readonly #clients = new Map<string, Client>();
  #named: readonly string[] = [];
  #close = () => {};
  #opening: Promise<NetworkNamespace> | null = null;
  #shared: CommandSpace | null = null;
  #count = 0;

  constructor(options: SessionEgressOptions) {
    this.#options = options;
  }

  /** Opens the namespace again when the session has a new shared space. */
  async #open(): Promise<NetworkNamespace> {
    const shared = (await this.#options.space?.()) ?? null;
    if (this.#opening === null || this.#shared !== shared) {
      this.#close();
      this.#shared = shared;
      this.#opening = this.#openNamespace(shared);
    }
    return this.#opening;
  }

  async #openNamespace(shared: CommandSpace | null): Promise<NetworkNamespace> {
    const { environment, resolve, limits } = this.#options;
    const space = await (shared === null
      ? openNetworkNamespace(environment.PATH)
      : openInSharedNamespace(shared));
    const proxy = new EgressProxy({
      environment,
      ...(resolve && { resolve }),
      ...(limits && { limits }),
      judge: (place, client) => this.#findHostRefusal(place, client),
      findClient: (user, password) => (this.#clients.get(user)?.password === password ? user : null),
      judgePrivate: async (place, name) =>
        (await this.#askOnce(formatHostEndpoint(place), name, true)) === "yes",
      named: (name) => [...this.#named, ...listExplicitEndpoints(this.#clients.get(name)?.hosts ?? [])],
      onRefusal: (refusal) => this.#noteRefusal(refusal),
    });
    proxy.serve(space.listener);
    this.#close = () => {
      proxy.close();
      space.close();
    };
    return space;
  }

  /** Gives a command its access to the proxy. Rejects when this system has no network namespace for it. */
  async lease(request: LeaseRequest): Promise<EgressLease> {
    const { port, enter } = await this.#open();
    this.#named = listExplicitEndpoints((await this.#options.rules()).allow);
    this.#count += 1;
    const name = `run_${this.#count}`;
    const client: Client = {
      ...request,
      password: randomName(16),
      refusals: [],
      ended: new AbortController(),
      answers: new Map(),
      questions: 0,
      waitsSince: 0,
      waitedMs: 0,
    };
    this.#clients.set(name, client);
    return {
      env: buildProxyEnvironment(`http://${name}:${client.password}@127.0.0.1:${port}`),
      within: enter,
      refusals: client.refusals,
      waitedMs: () => client.waitedMs + (client.questions === 0 ? 0 : Date.now() - client.waitsSince),
      close: () => {
        this.#clients.delete(name);
        client.ended.abort();
      },
    };
  }

  close(): void {
    for (const { ended } of this.#clients.values()) ended.abort();
    this.#clients.clear();
    this.#close();
  }

  #noteRefusal(refusal: EgressRefusal): void {
    const refusals = this.#clients.get(refusal.client ?? "")?.refusals;
    if (refusals === undefined || refusals.length >= MAX_REFUSALS) return;
    if (!refusals.some(({ reason }) => reason === refusal.reason)) refusals.push(refusal);
  }

  async #findHostRefusal(place: HostEndpoint, name: string): Promise<string | null> {
    const client = this.#clients.get(name);
    const host = formatHost(place);
    if (client === undefined) return `The command that asked for ${host} has ended.`;
    const rules = await this.#options.rules();
    const verdict = judgeHost(place, { ...rules, allow: [...rules.allow, ...client.hosts] });
    if (verdict === "allow") return null;
    if (verdict === "deny") return `The settings deny commands the host ${host}.`;
    const answer = await this.#askOnce(host, name, false);
    if (answer === "yes") {
      // The answer may have changed the rules.
      this.#named = listExplicitEndpoints((await this.#options.rules()).allow);
      return null;
    }
    const why =
      answer === "no"
        ? `The user refused commands the host ${host}.`
        : `Commands may not reach ${host} unasked.`;
    return `${why} To allow it always: "sandbox": {"network": ["${host}"]} in the user's settings; that allows uploading to it, too.`;
  }

  #askOnce(host: string, name: string, isPrivate: boolean): Promise<HostAnswer> {
    const client = this.#clients.get(name);
    if (client === undefined) return Promise.resolve("unasked");
    const known = client.answers.get(host);
    if (known !== undefined) return known;
    const asked = this.#askUser({ host, isPrivate, command: client.command }, client);
    client.answers.set(host, asked);
    return asked;
  }

  async #askUser(wish: HostRequest, client: Client): Promise<HostAnswer> {
    const { ask } = this.#options;
    if (ask === undefined || !client.mayAsk) return "unasked";
    const { signal } = client.ended;
    if (client.questions === 0) client.waitsSince = Date.now();
    client.questions += 1;
    try {
      return await rejectOnAbort(ask(wish, signal), signal);
    } catch (error) {
      if (signal.aborted) return "no";
      throw new Error(`the question about ${wish.host} failed: ${describeError(error)}`);
    } finally {
      client.questions -= 1;
      if (client.questions === 0) client.waitedMs += Date.now() - client.waitsSince;
    }
  }
}

/** Formats the host as rules and questions name it. */
function formatHost(place: HostEndpoint): string {
  return place.port === 443 || place.port === 80 ? place.host : formatHostEndpoint(place);
}
