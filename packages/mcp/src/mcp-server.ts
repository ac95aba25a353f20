import { dirname, join } from "node:path";
import { rejectOnAbort, wait } from "@burin/contract/async/wait";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import type { ToolSource } from "@burin/contract/tools";
import { replaceHomeFile } from "@burin/files/disk/home-file";
import { makeFolders } from "@burin/files/disk/own-files";
import { readText } from "@burin/files/disk/regular-file";
import { McpConnection } from "./connection.ts";
import { hashDefinition } from "./definition.ts";
import { type ApprovedTool, DiscoveredMCPTool, type McpToolServer } from "./discovered-mcp-tool.ts";
import type { McpLogin } from "./mcp-door.ts";
import { isWanted, readTools } from "./offered-tools.ts";
import type { OpenOptions } from "./open-client.ts";

export interface McpServerOptions extends Omit<OpenOptions, "onToolsChanged"> {
  readonly prefix: string;
  /** Whether the first request waits for this server as long as its tools are unknown. */
  readonly isAwaited?: boolean;
}

/** The delay of a start: the first request to the model needs the processor more than an unused server. */
const START_DELAY_MS = 250;
/** How long to wait for a list that only has to be read from disk. */
const READ_MS = 1000;
/** How long to wait, once, for a server that has never been up. */
const NEW_MS = 5000;
/** The pause between two lists, for a server that keeps reporting changes. */
const RELIST_MS = 1000;
/** The maximum number of messages of a server that are reported, each once until its tools are discovered again. */
const MAX_REPORTS = 20;

export class McpServer implements ToolSource {
  readonly name: string;
  readonly prefix: string;
  readonly alias: string;
  readonly connection: McpConnection;
  readonly #needs: McpServerOptions;
  readonly #cache: ListCache;
  readonly #forTools: Omit<McpToolServer, "isListCurrent">;
  readonly #closing = new AbortController();
  #onTools: (tools: readonly DiscoveredMCPTool[]) => void = () => {};
  #raw: readonly unknown[] | null;
  #wasLate: boolean;
  /** The tools that an earlier session listed, until they have been used. */
  #known: readonly DiscoveredMCPTool[] | null;
  #listing: Promise<readonly DiscoveredMCPTool[]> | null = null;
  /** Aborted to start a delayed request at once. */
  readonly #hurry = new AbortController();
  #relisting: NodeJS.Timeout | null = null;
  #hasChanged = false;
  readonly #told = new Set<string>();

  /** Creates the server, and reads what earlier sessions know about it. */
  constructor(needs: McpServerOptions) {
    const { alias, definition, home, prefix } = needs;
    const reportOnce = (message: string) => {
      if (this.#told.has(message) || this.#told.size >= MAX_REPORTS) return;
      this.#told.add(message);
      needs.report(message);
    };
    this.#needs = { ...needs, report: reportOnce };
    this.alias = alias;
    this.name = `mcp:${alias}`;
    this.prefix = prefix;
    this.connection = new McpConnection({
      ...this.#needs,
      onToolsChanged: () => this.#relistSoon(),
      onOtherTools: (list) => this.#onTools(this.#useTools(list)),
    });
    const hash = hashDefinition(definition);
    this.#cache = new ListCache(home, hash);
    const { tools, approved, wasLate = false } = this.#cache.read();
    this.#forTools = {
      alias,
      prefix,
      hash,
      isTrusted: definition.trust,
      connection: this.connection,
      approved: new Map(Object.entries(approved)),
      onApproved: () => void this.#save(),
    };
    this.#raw = tools;
    this.#wasLate = wasLate;
    this.#known = tools === null ? null : this.#buildTools(tools);
  }

  get patience(): number {
    if (this.#known !== null) return READ_MS;
    return this.#isAwaited ? Math.min(NEW_MS, this.#needs.definition.startTimeout ?? NEW_MS) : 0;
  }

  get #isAwaited(): boolean {
    return this.#needs.isAwaited === true && this.#raw === null && !this.#wasLate;
  }

  noteLateStart(): void {
    this.#wasLate = true;
    void this.#save();
    const { alias, report } = this.#needs;
    report(
      `it did not start in time, so the first request goes without its tools, and later sessions do not wait for it. ` +
        `To store its tools, run: burin mcp test ${alias}`,
    );
  }

  watch(onTools: (tools: readonly DiscoveredMCPTool[]) => void): void {
    this.#onTools = onTools;
  }

  /** Returns the server's tools; at first those of an earlier session, while the server is asked in the background. */
  discover(signal: AbortSignal): Promise<readonly DiscoveredMCPTool[]> {
    signal.addEventListener("abort", () => this.#stopStart(), { once: true });
    this.#told.clear();
    const known = this.#known;
    if (known === null) return this.#listTools(this.#isAwaited || this.#listing !== null);
    this.#known = null;
    void this.#refreshTools(false);
    return Promise.resolve(known);
  }

  async #refreshTools(isUrgent: boolean): Promise<void> {
    try {
      this.#onTools(await this.#listTools(isUrgent));
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#needs.report(describeError(error));
    }
  }

  async settle(): Promise<void> {
    this.#hurry.abort();
    await this.#listing?.catch(() => {});
  }

  /** Asks the server itself and remembers the answer. */
  #listTools(isUrgent: boolean): Promise<readonly DiscoveredMCPTool[]> {
    const listing = wait(isUrgent ? 0 : START_DELAY_MS, this.#hurry.signal).then(async () => {
      this.#closing.signal.throwIfAborted();
      return this.#useTools(await this.connection.listTools(this.#closing.signal));
    });
    this.#listing = listing;
    return listing;
  }

  /** Remembers the server's answer. From now on its tools are the current ones. */
  #useTools(raw: readonly unknown[]): readonly DiscoveredMCPTool[] {
    this.#raw = raw;
    void this.#save();
    return this.#buildTools(raw);
  }

  /** Asks the server again if its tools may have changed. A server that is not up is asked by the call itself. */
  async renew(): Promise<void> {
    await this.settle();
    if (this.connection.isUp && !this.connection.hasLiveList) await this.#refreshTools(true);
  }

  /** Asks the server without delay, for a caller that waits for the answer. */
  async listTools(signal: AbortSignal): Promise<readonly DiscoveredMCPTool[]> {
    await this.connection.ready(signal);
    return rejectOnAbort(this.#listTools(true), signal);
  }

  async login(how: McpLogin, signal: AbortSignal): Promise<"logged_in" | "not_needed"> {
    const [{ login }, { resolveAddress, buildOAuthOptions }] = await Promise.all([
      import("./oauth-login.ts"),
      import("./open-client.ts"),
    ]);
    if (this.#needs.definition.type === "stdio") return "not_needed";
    const { url, headers } = resolveAddress(this.#needs);
    const end = await login({ ...buildOAuthOptions(this.#needs, url), headers, ...how }, signal);
    // A service that accepts everybody may not be an MCP server at all, so connect to it.
    if (end === "not_needed") await this.connection.ready(signal);
    return end;
  }

  #save(): Promise<void> {
    const approved = Object.fromEntries(this.#forTools.approved);
    return this.#cache.write({ tools: this.#raw, approved, wasLate: this.#wasLate && this.#raw === null });
  }

  #buildTools(raw: readonly unknown[]): DiscoveredMCPTool[] {
    const { offered, refused } = readTools(raw);
    for (const { name, reason } of refused.slice(0, 5)) {
      this.#needs.report(`its tool "${name.slice(0, 80)}" was left out: ${reason}`);
    }
    if (refused.length > 5) this.#needs.report(`${refused.length - 5} more of its tools were left out`);
    const wanted = offered.filter(({ name }) => isWanted(name, this.#needs.definition));
    const isListCurrent = () => this.#raw === raw && this.connection.hasLiveList;
    const server = { ...this.#forTools, isListCurrent };
    return wanted.map((tool) => new DiscoveredMCPTool(server, tool));
  }

  #relistSoon(): void {
    this.#hasChanged = true;
    if (this.#relisting !== null || this.#closing.signal.aborted) return;
    this.#relisting = setTimeout(() => void this.#relist(), RELIST_MS);
    this.#relisting.unref();
  }

  /** Lists again, one request at a time, however often and however slowly the server reports changes. */
  async #relist(): Promise<void> {
    this.#hasChanged = false;
    await this.#refreshTools(true);
    this.#relisting = null;
    if (this.#hasChanged) this.#relistSoon();
  }

  /** Stops a start that is no longer needed. */
  #stopStart(): void {
    this.#closing.abort(new Error("Burin is closing its session."));
    this.#hurry.abort();
  }

  async close(): Promise<void> {
    this.#stopStart();
    if (this.#relisting !== null) clearTimeout(this.#relisting);
    await Promise.all([this.connection.close(), this.#cache.waitForWrites()]);
  }
}

/** What earlier sessions know about a server. */
export interface KnownServer {
  /** The server's own list, or null if it never sent one. It is checked again when it is read. */
  readonly tools: readonly unknown[] | null;
  /** What the user last approved, by the tool's name on the server. */
  readonly approved: Readonly<Record<string, ApprovedTool>>;
  /** true if a session once waited for the server in vain and it has not been up since. */
  readonly wasLate?: boolean;
}

const NOTHING: KnownServer = { tools: null, approved: {} };
const MAX_CHARACTERS = 8_000_000;

/** A server's list on disk, so that its tools can be declared before it is up. The cache may fail without harm. */
export class ListCache {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();
  /** `hash` identifies the server's definition, so another command has another file. */
  constructor(home: string, hash: string) {
    this.#path = join(home, "cache", "mcp", `${hash}.json`);
  }

  /** Reads synchronously: twenty files through the thread pool would delay the first request much longer. */
  read(): KnownServer {
    try {
      const value: unknown = JSON.parse(readText(this.#path, 4 * MAX_CHARACTERS) ?? "");
      if (!isRecord(value)) return NOTHING;
      const stored = isRecord(value.approved) ? Object.entries(value.approved) : [];
      const approved = stored.flatMap(([name, one]) => {
        const known = readApproved(one);
        return known === null ? [] : [[name, known] as const];
      });
      const tools = Array.isArray(value.tools) ? value.tools : null;
      return { tools, approved: Object.fromEntries(approved), wasLate: value.wasLate === true };
    } catch {
      return NOTHING;
    }
  }

  /** Writes the whole file, one write after the other. */
  write(known: KnownServer): Promise<void> {
    const replaceFile = async () => {
      const text = JSON.stringify(known);
      if (text.length > MAX_CHARACTERS) return;
      makeFolders(dirname(this.#path));
      await replaceHomeFile(this.#path, text);
    };
    this.#writing = this.#writing.then(replaceFile).catch(() => {});
    return this.#writing;
  }

  /** Resolves when everything is written. */
  waitForWrites(): Promise<void> {
    return this.#writing;
  }
}

/** Reads a stored approval. Earlier versions stored only the hash. */
function readApproved(value: unknown): ApprovedTool | null {
  if (typeof value === "string") return { definition: value };
  if (!isRecord(value) || typeof value.definition !== "string") return null;
  const { definition, tool } = value;
  return isRecord(tool) ? { definition, tool: { ...tool, name: String(tool.name) } } : { definition };
}
