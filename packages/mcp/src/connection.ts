import { rejectOnAbort, runWithTimeout } from "@burin/contract/async/wait";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { withFallback } from "@burin/contract/with-fallback";
import type { CallRequest } from "./discovered-mcp-tool.ts";
import { createUnavailableError, describeReason, McpError } from "./mcp-error.ts";
import type { OfferedTool } from "./offered-tools.ts";
import type { OpenClient, OpenOptions } from "./open-client.ts";
import { findChange } from "./tool-change.ts";

const CALL_MS = 600_000;
/** A server that reports progress may take longer than the limit, but at most by this factor. */
const MAX_CALL_FACTOR = 6;
const LIST_MS = 60_000;
const PING_MS = 2000;
const MAX_PAGES = 100;
/** The limits of a list: more entries and characters than are ever shown. */
const MAX_ENTRIES = 20_000;
const MAX_CHARACTERS = 32_000_000;
const MAX_CURSOR_CHARACTERS = 10_000;
/** How long a list counts as current. Not every server reports that its tools have changed. */
const LIST_COUNTS_MS = 60_000;
/** How often a call asks for the list if the server keeps reporting changes. */
const MAX_LOOKS = 3;

/** The maximum number of connections that open at the same time. Hundreds of programs at once would block everything else. */
const MAX_OPENING = 16;

/** Starts programs side by side up to that number; the others wait for their turn. */
class Starts {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const turn = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#running < MAX_OPENING) {
      this.#running += 1;
      this.#next();
    }
    try {
      await rejectOnAbort(turn, signal);
      return await start();
    } finally {
      // A start that stopped waiting still gets its turn, and passes it on.
      void turn.then(() => this.#next());
    }
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

/** Shared by sessions: they start programs on one machine. */
const starts = new Starts();

export interface ConnectionOptions extends OpenOptions {
  /** Called with the server's list when a call found a tool that differs from the one that was judged. */
  readonly onOtherTools: (list: readonly unknown[]) => void;
}

/** The tools of a server as it listed them on this connection. Forgotten when the server reports a change. */
interface LiveList {
  readonly open: OpenClient;
  readonly askedAt: number;
  readonly tools: Promise<unknown[]>;
}

/** The connection to one server. It is opened on first use, and again after it broke. */
export class McpConnection {
  readonly #needs: ConnectionOptions;
  readonly #closing = new AbortController();
  #open: Promise<OpenClient> | null = null;
  #up: OpenClient | null = null;
  #live: LiveList | null = null;

  constructor(needs: ConnectionOptions) {
    const onToolsChanged = () => {
      this.#live = null;
      needs.onToolsChanged();
    };
    this.#needs = { ...needs, onToolsChanged };
  }

  get isUp(): boolean {
    return this.#up !== null;
  }

  /** Whether the server has listed its tools recently and has reported no change since. */
  get hasLiveList(): boolean {
    const live = this.#live;
    return live !== null && live.open === this.#up && performance.now() - live.askedAt < LIST_COUNTS_MS;
  }

  /** Resolves when the connection is up. A caller that stops waiting does not stop the start. */
  ready(signal: AbortSignal): Promise<OpenClient> {
    this.#open ??= this.#openConnection();
    return rejectOnAbort(this.#open, signal);
  }

  async #openConnection(): Promise<OpenClient> {
    const { signal } = this.#closing;
    try {
      const up = await starts.run(async () => {
        const { openClient } = await import("./open-client.ts");
        return openClient(this.#needs, signal);
      }, signal);
      up.client.onclose = () => this.#forgetConnection(up);
      this.#up = up;
      return up;
    } catch (error) {
      this.#open = null;
      throw error;
    }
  }

  async listTools(signal: AbortSignal): Promise<unknown[]> {
    const open = await this.ready(signal);
    return rejectOnAbort(this.#startListing(open).tools, signal);
  }

  #startListing(open: OpenClient): LiveList {
    const tools = this.#listPages(open, "tools", this.#closing.signal);
    const live = { open, askedAt: performance.now(), tools };
    tools.catch(() => {
      if (this.#live === live) this.#live = null;
    });
    this.#live = live;
    return live;
  }

  async list(what: "prompts" | "resources", signal: AbortSignal): Promise<unknown[]> {
    return this.#listPages(await this.#waitForConnection(signal), what, signal);
  }

  async request(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
    const open = await this.#waitForConnection(signal);
    return this.#requestAnswer(open, { method, params, timeout: this.#requestMs }, signal);
  }

  /** The time limit of all requests except calls, which may take long. */
  get #requestMs(): number {
    return Math.min(LIST_MS, this.#needs.definition.timeout ?? LIST_MS);
  }

  /** Waits for the connection, but not longer than the settings allow. The start continues for the next call. */
  async #waitForConnection(signal: AbortSignal): Promise<OpenClient> {
    const { definition, alias } = this.#needs;
    const { timeout, startTimeout = 0 } = definition;
    if (timeout === undefined) return this.ready(signal);
    const limit = Math.max(timeout, startTimeout);
    const createStartTimeout = () =>
      new McpError(
        "mcp_timeout",
        `The MCP server "${alias}" did not start within ${limit} ms. It may be ready at the next call; startTimeout in its settings sets the limit.`,
      );
    return runWithTimeout(
      { milliseconds: limit, late: createStartTimeout },
      (either) => this.ready(either),
      signal,
    );
  }

  async #requestAnswer(
    { ask }: OpenClient,
    { timeout, ...request }: Asked & { readonly timeout: number },
    signal: AbortSignal,
  ): Promise<JsonRecord> {
    try {
      return await ask(request, { signal, timeout, maxTotalTimeout: timeout });
    } catch (error) {
      signal.throwIfAborted();
      // "Method not found": many servers announce lists that they do not have.
      if (isRecord(error) && error.code === -32601 && request.method.endsWith("/list")) return {};
      throw this.#toMcpError(error, request.method);
    }
  }

  /**
   * Returns one of the server's lists; empty if the server does not support it. All pages together have the time limit
   * of one request. Stops if the server repeats a page.
   */
  async #listPages(open: OpenClient, what: Listed, signal: AbortSignal): Promise<unknown[]> {
    if (open.client.getServerCapabilities()?.[what] === undefined) return [];
    const method = `${what}/list`;
    const found: unknown[] = [];
    const cursors = new Set<string>();
    const until = performance.now() + this.#requestMs;
    let left = MAX_CHARACTERS;
    for (let params = {}; cursors.size < MAX_PAGES; ) {
      const asked = { method, params, timeout: Math.max(until - performance.now(), 1) };
      const { [what]: part, nextCursor: cursor } = await this.#requestAnswer(open, asked, signal);
      for (const entry of Array.isArray(part) ? part : []) {
        left -= countCharacters(entry);
        if (left < 0 || found.length === MAX_ENTRIES) return this.#reportCut(found, what);
        found.push(entry);
      }
      if (typeof cursor !== "string" || cursor === "" || cursors.has(cursor)) return found;
      if (cursor.length > MAX_CURSOR_CHARACTERS) break;
      cursors.add(cursor);
      params = { cursor };
    }
    return this.#reportCut(found, what);
  }

  #reportCut(found: unknown[], what: Listed): unknown[] {
    this.#needs.report(`its list of ${what} is too long: only the first ${found.length} are used`);
    return found;
  }

  /** Calls a tool once. If the connection is broken, opens it again once. */
  async callTool(request: CallRequest): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      const open = await this.#waitForConnection(request.signal);
      let isSent = false;
      try {
        await this.#assertJudged(open, request);
        isSent = true;
        return await this.#callOnce(open, request);
      } catch (error) {
        request.signal.throwIfAborted();
        const loss = await this.#classifyFailure(open, isSent ? error : unwrapCause(error));
        if (loss === null) throw this.#toMcpError(error, request.tool);
        if (attempt === 0 && (loss === "unsent" || !isSent || request.mayRepeat)) continue;
        if (!isSent) throw this.#toMcpError(error, request.tool);
        throw this.#createLostError(open, request.tool);
      }
    }
  }

  /** Sends a call only if the tool is still as it was judged. Otherwise rejects with what the server now says. */
  async #assertJudged(open: OpenClient, { judged, isLongAgo, signal }: CallRequest): Promise<void> {
    if (judged === undefined) return;
    let list: readonly unknown[] = [];
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const isKnown = this.hasLiveList && this.#live?.open === open && !(isLongAgo && looks === 0);
      const live = isKnown && this.#live !== null ? this.#live : this.#startListing(open);
      list = await rejectOnAbort(live.tools, signal);
      if (this.#live === live) break;
    }
    const change = findChange(judged, list);
    if (change === null) return;
    this.#needs.onOtherTools(list);
    throw createToolChangedError(this.#needs.alias, judged, change);
  }

  #callOnce({ client }: OpenClient, request: CallRequest): Promise<unknown> {
    const { tool, args, inputSchema, signal, onProgress } = request;
    const timeout = this.#needs.definition.timeout ?? CALL_MS;
    return client.callTool(
      { name: tool, arguments: args },
      {
        signal,
        timeout,
        maxTotalTimeout: timeout * MAX_CALL_FACTOR,
        onprogress: onProgress,
        toolDefinition: { name: tool, inputSchema: { type: "object", ...inputSchema } },
      },
    );
  }

  /** Returns how the connection broke: whether the request may have arrived. null: it did not break. */
  async #classifyFailure(open: OpenClient, error: unknown): Promise<"unsent" | "unknown" | null> {
    const { isTimeout, classifyLoss } = await import("./open-client.ts");
    if (isTimeout(error)) {
      await open.client.ping({ timeout: PING_MS }).catch(() => this.#closeConnection(open));
      return null;
    }
    const loss = classifyLoss(error);
    if (loss !== null) await this.#closeConnection(open);
    return loss;
  }

  /** Forgets a connection, unless another call has already opened the next one. */
  #forgetConnection(open: OpenClient): void {
    if (this.#up !== open) return;
    this.#up = null;
    this.#open = null;
  }

  async #closeConnection(open: OpenClient): Promise<void> {
    this.#forgetConnection(open);
    await open.client.close().catch(() => {});
  }

  #toMcpError(error: unknown, tool: string): McpError {
    if (error instanceof McpError) return error;
    const { alias, clean } = this.#needs;
    return new McpError(
      "mcp_failed",
      `The MCP server "${alias}" failed at ${tool}: ${clean(describeReason(error))}`,
      { cause: error },
    );
  }

  #createLostError(open: OpenClient, tool: string): McpError {
    const words = open.lastWords();
    return new McpError(
      "mcp_connection_lost",
      `The MCP server "${this.#needs.alias}" ended while ${tool} was running; whether the call had an effect is ` +
        `not known. The server is started again with the next call.${words === "" ? "" : ` Its last output: ${words}`}`,
    );
  }

  async close(): Promise<void> {
    this.#closing.abort(createUnavailableError("Burin is closing its session."));
    const open = await this.#open?.catch(() => null);
    await open?.client.close().catch(() => {});
  }
}

function unwrapCause(error: unknown): unknown {
  return error instanceof McpError ? error.cause : error;
}

function createToolChangedError(alias: string, { name }: OfferedTool, foreign: readonly string[]): McpError {
  const how =
    foreign.length === 0
      ? `no longer offers a tool ${name} that can be used`
      : `describes its tool ${name} differently than when this call was judged`;
  const next =
    foreign.length === 0 ? "" : " If the call still makes sense, repeat it: it is then judged again.";
  return new McpError(
    "mcp_tool_changed",
    `The call was not made: the MCP server "${alias}" now ${how}.${next}`,
    { foreign },
  );
}

/** Returns the length of an entry; a large value if it is nested too deeply to be written. */
function countCharacters(entry: unknown): number {
  return withFallback(MAX_CHARACTERS / 10, () => JSON.stringify(entry).length);
}

type Listed = "tools" | "prompts" | "resources";
type Asked = Parameters<OpenClient["ask"]>[0];
