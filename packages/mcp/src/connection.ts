import { inTime, unlessAborted } from "@burin/contract/async/wait";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import type { CallRequest } from "./discovered-mcp-tool.ts";
import { McpError, reasonOf, unavailable } from "./mcp-error.ts";
import type { OfferedTool } from "./offered-tools.ts";
import type { OpenClient, OpenNeeds } from "./open-client.ts";

const CALL_MS = 600_000;
/** A server that reports progress may take longer, but not for ever. */
const MOST_CALL_FACTOR = 6;
const LIST_MS = 60_000;
const PING_MS = 2000;
const MOST_PAGES = 100;
/** More than are ever shown, in number and in characters. */
const MOST_ENTRIES = 20_000;
const MOST_CHARACTERS = 32_000_000;
const MOST_CURSOR_CHARACTERS = 10_000;
/** Not every server reports that its tools have changed. */
const LIST_COUNTS_MS = 60_000;
/** How often a call asks for the list while the server reports that it has changed again. */
const MOST_LOOKS = 3;

/** Connections that open at the same time: hundreds of programs that start would let nothing else run. */
const MOST_OPENING = 16;
/** Shared by sessions: they start programs on one machine. */
let opening = 0;
/** Shared by sessions: each waits for its turn to start a program. */
const waiting: (() => void)[] = [];

export interface ConnectionNeeds extends OpenNeeds {
  /** Called with the server's list when a call found that it differs from what was judged. */
  readonly onOtherTools: (list: readonly unknown[]) => void;
}

/** The tools of a server as it listed them on this connection; forgotten when it reports a change. */
interface LiveList {
  readonly open: OpenClient;
  readonly askedAt: number;
  readonly tools: Promise<unknown[]>;
}

/** The connection to one server: opened when it is first needed, and again after it broke. */
export class McpConnection {
  readonly #needs: ConnectionNeeds;
  readonly #closing = new AbortController();
  #open: Promise<OpenClient> | null = null;
  #up: OpenClient | null = null;
  #live: LiveList | null = null;

  constructor(needs: ConnectionNeeds) {
    const onToolsChanged = () => {
      this.#live = null;
      needs.onToolsChanged();
    };
    this.#needs = { ...needs, onToolsChanged };
  }

  get isUp(): boolean {
    return this.#up !== null;
  }

  /** Whether the server has lately said what tools it has, and nothing since that they have changed. */
  get hasLiveList(): boolean {
    const live = this.#live;
    return live !== null && live.open === this.#up && performance.now() - live.askedAt < LIST_COUNTS_MS;
  }

  /** Resolves when it is up. A caller that stops waiting does not stop the start. */
  ready(signal: AbortSignal): Promise<OpenClient> {
    this.#open ??= this.#opened();
    return unlessAborted(this.#open, signal);
  }

  async #opened(): Promise<OpenClient> {
    const { signal } = this.#closing;
    try {
      signal.throwIfAborted();
      if (opening < MOST_OPENING) opening += 1;
      else await unlessAborted(new Promise<void>((resolve) => waiting.push(resolve)), signal);
      const { openClient } = await import("./open-client.ts");
      const up = await openClient(this.#needs, signal);
      up.client.onclose = () => this.#forget(up);
      this.#up = up;
      return up;
    } catch (error) {
      this.#open = null;
      throw error;
    } finally {
      // One that stopped waiting passes on the turn that it will still get.
      const next = waiting.shift();
      if (next === undefined) opening -= 1;
      else next();
    }
  }

  async listTools(signal: AbortSignal): Promise<unknown[]> {
    const open = await this.ready(signal);
    return unlessAborted(this.#listAnew(open).tools, signal);
  }

  #listAnew(open: OpenClient): LiveList {
    const tools = this.#pages(open, "tools", this.#closing.signal);
    const live = { open, askedAt: performance.now(), tools };
    tools.catch(() => {
      if (this.#live === live) this.#live = null;
    });
    this.#live = live;
    return live;
  }

  async list(what: "prompts" | "resources", signal: AbortSignal): Promise<unknown[]> {
    return this.#pages(await this.#readyInTime(signal), what, signal);
  }

  async request(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
    const open = await this.#readyInTime(signal);
    return this.#answered(open, { method, params, timeout: this.#requestMs }, signal);
  }

  /** For all requests except calls, which may take long. */
  get #requestMs(): number {
    return Math.min(LIST_MS, this.#needs.definition.timeout ?? LIST_MS);
  }

  /** A caller does not wait longer for the start than the settings say; the start continues for the next call. */
  async #readyInTime(signal: AbortSignal): Promise<OpenClient> {
    const { definition, alias } = this.#needs;
    const { timeout, startTimeout = 0 } = definition;
    if (timeout === undefined) return this.ready(signal);
    const limit = Math.max(timeout, startTimeout);
    const late = () =>
      new McpError(
        "mcp_timeout",
        `The MCP server "${alias}" did not start within ${limit} ms. It may be ready at the next call; startTimeout in its settings sets the limit.`,
      );
    return inTime({ milliseconds: limit, late }, (either) => this.ready(either), signal);
  }

  async #answered(
    { ask }: OpenClient,
    { timeout, ...request }: Asked & { readonly timeout: number },
    signal: AbortSignal,
  ): Promise<JsonRecord> {
    try {
      return await ask(request, { signal, timeout, maxTotalTimeout: timeout });
    } catch (error) {
      signal.throwIfAborted();
      // "Method not found": many announce lists that they do not have.
      if (isRecord(error) && error.code === -32601 && request.method.endsWith("/list")) return {};
      throw this.#inWords(error, request.method);
    }
  }

  /**
   * One of its lists; empty if it does not support that. All pages together have the time limit of one request; a
   * server that repeats a page has no more of them.
   */
  async #pages(open: OpenClient, what: Listed, signal: AbortSignal): Promise<unknown[]> {
    if (open.client.getServerCapabilities()?.[what] === undefined) return [];
    const method = `${what}/list`;
    const found: unknown[] = [];
    const cursors = new Set<string>();
    const until = performance.now() + this.#requestMs;
    let left = MOST_CHARACTERS;
    for (let params = {}; cursors.size < MOST_PAGES; ) {
      const asked = { method, params, timeout: Math.max(until - performance.now(), 1) };
      const { [what]: part, nextCursor: cursor } = await this.#answered(open, asked, signal);
      for (const entry of Array.isArray(part) ? part : []) {
        left -= charactersOf(entry);
        if (left < 0 || found.length === MOST_ENTRIES) return this.#cut(found, what);
        found.push(entry);
      }
      if (typeof cursor !== "string" || cursor === "" || cursors.has(cursor)) return found;
      if (cursor.length > MOST_CURSOR_CHARACTERS) break;
      cursors.add(cursor);
      params = { cursor };
    }
    return this.#cut(found, what);
  }

  #cut(found: unknown[], what: Listed): unknown[] {
    this.#needs.report(`its list of ${what} is too long: only the first ${found.length} are used`);
    return found;
  }

  /** One call of a tool. A broken connection is opened again once. */
  async callTool(request: CallRequest): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      const open = await this.#readyInTime(request.signal);
      let isSent = false;
      try {
        await this.#assertJudged(open, request);
        isSent = true;
        return await this.#callOnce(open, request);
      } catch (error) {
        request.signal.throwIfAborted();
        const loss = await this.#lossOf(open, isSent ? error : causeOf(error));
        if (loss === null) throw this.#inWords(error, request.tool);
        if (attempt === 0 && (loss === "unsent" || !isSent || request.mayRepeat)) continue;
        if (!isSent) throw this.#inWords(error, request.tool);
        throw this.#lostInWords(open, request.tool);
      }
    }
  }

  /** A call goes out only for the tool as it was judged: rejects with what the server says of it now. */
  async #assertJudged(open: OpenClient, { judged, isLongAgo, signal }: CallRequest): Promise<void> {
    if (judged === undefined) return;
    let list: readonly unknown[] = [];
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const isKnown = this.hasLiveList && this.#live?.open === open && !(isLongAgo && looks === 0);
      const live = isKnown && this.#live !== null ? this.#live : this.#listAnew(open);
      list = await unlessAborted(live.tools, signal);
      if (this.#live === live) break;
    }
    const { findChange } = await import("./tool-change.ts");
    const change = findChange(judged, list);
    if (change === null) return;
    this.#needs.onOtherTools(list);
    throw toolChanged(this.#needs.alias, judged, change);
  }

  #callOnce({ client }: OpenClient, request: CallRequest): Promise<unknown> {
    const { tool, args, inputSchema, signal, onProgress } = request;
    const timeout = this.#needs.definition.timeout ?? CALL_MS;
    return client.callTool(
      { name: tool, arguments: args },
      {
        signal,
        timeout,
        maxTotalTimeout: timeout * MOST_CALL_FACTOR,
        onprogress: onProgress,
        toolDefinition: { name: tool, inputSchema: { type: "object", ...inputSchema } },
      },
    );
  }

  /** Whether the connection broke, and whether the request may have reached the server. null: it did not break. */
  async #lossOf(open: OpenClient, error: unknown): Promise<"unsent" | "unknown" | null> {
    const { isTimeout, lossOf } = await import("./open-client.ts");
    if (isTimeout(error)) {
      await open.client.ping({ timeout: PING_MS }).catch(() => this.#drop(open));
      return null;
    }
    const loss = lossOf(error);
    if (loss !== null) await this.#drop(open);
    return loss;
  }

  /** Another call may have opened the next one already. */
  #forget(open: OpenClient): void {
    if (this.#up !== open) return;
    this.#up = null;
    this.#open = null;
  }

  async #drop(open: OpenClient): Promise<void> {
    this.#forget(open);
    await open.client.close().catch(() => {});
  }

  #inWords(error: unknown, tool: string): McpError {
    if (error instanceof McpError) return error;
    const { alias, clean } = this.#needs;
    return new McpError(
      "mcp_failed",
      `The MCP server "${alias}" failed at ${tool}: ${clean(reasonOf(error))}`,
      { cause: error },
    );
  }

  #lostInWords(open: OpenClient, tool: string): McpError {
    const words = open.lastWords();
    return new McpError(
      "mcp_connection_lost",
      `The MCP server "${this.#needs.alias}" ended while ${tool} was running; whether the call had an effect is ` +
        `not known. The server is started again with the next call.${words === "" ? "" : ` Its last output: ${words}`}`,
    );
  }

  async close(): Promise<void> {
    this.#closing.abort(unavailable("The session is over."));
    const open = await this.#open?.catch(() => null);
    await open?.client.close().catch(() => {});
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof McpError ? error.cause : error;
}

function toolChanged(alias: string, { name }: OfferedTool, foreign: readonly string[]): McpError {
  const how =
    foreign.length === 0
      ? `no longer offers its tool ${name} in a form that can be used`
      : `describes its tool ${name} in another way than when this call was decided about`;
  const next =
    foreign.length === 0 ? "" : " If the call still fits, repeat it: it is then decided about again.";
  return new McpError(
    "mcp_tool_changed",
    `The call was not made: the MCP server "${alias}" now ${how}.${next}`,
    { foreign },
  );
}

/** Of one that is nested too deeply to be written nobody knows how long it is; few lists have any. */
function charactersOf(entry: unknown): number {
  return orElse(MOST_CHARACTERS / 10, () => JSON.stringify(entry).length);
}

type Listed = "tools" | "prompts" | "resources";
type Asked = Parameters<OpenClient["ask"]>[0];
