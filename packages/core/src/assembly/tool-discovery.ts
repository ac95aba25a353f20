import { createLazyMethods } from "@burin/contract/async/lazy-methods";
import { once } from "@burin/contract/async/once";
import { runWithEitherSignal, wait } from "@burin/contract/async/wait";
import { describeError } from "@burin/contract/text/error-message";
import type { Tool, ToolSource } from "@burin/contract/tools";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { McpServer } from "@burin/mcp/mcp-server";
import type { CallServer } from "@burin/web/search/mcp-search";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import type { McpParts } from "./join-mcp.ts";
import type { ReadyOptions } from "./options.ts";
import { createCommandRunner } from "./run-command.ts";

/** Opens the sources in the settings. Calls `report` for everything that a source leaves out. */
type OpenSources = (report: (failure: DiscoveryFailure) => void) => Promise<readonly ToolSource[]>;

/** How long a call of an unknown tool waits for the server that the tool's name begins with. */
const SERVER_WAIT_MS = 60_000;
/** How long a call of an unknown tool waits for any source that might have it. */
const LONGEST_WAIT_MS = 10_000;
const READY_MS = 10_000;

const CLOSED = "this toolbox or session is closed";

/** Starts the tool sources when first needed, and knows their state. Without sources, it loads nothing. */
export class ToolDiscovery {
  readonly #registry: ToolRegistry;
  readonly #open: OpenSources | null;
  /** All failures so far, in order. */
  readonly failures: DiscoveryFailure[] = [];
  onFailure: (failure: DiscoveryFailure) => void = () => {};
  /** The sources in the settings, once they are open. */
  sources: readonly ToolSource[] = [];
  readonly #work = new AbortController();
  #started: Promise<void> | null = null;
  /** The discovery of each source that has not answered yet. */
  #running = new Map<ToolSource, Promise<void>>();
  readonly #unsettled = new Set<ToolSource>();
  /** When each source was last asked. */
  readonly #asked = new Map<ToolSource, number>();

  readonly #commandMs: number;

  /** `commandMs` is how long the discovery command may take; 0 without one. */
  constructor(registry: ToolRegistry, open: OpenSources | null, commandMs: number) {
    this.#registry = registry;
    this.#open = open;
    this.#commandMs = commandMs;
  }

  /** Starts all sources on the first call. Resolves when each has been asked. Never rejects. */
  start(): Promise<void> {
    if (this.#open === null || this.#work.signal.aborted) return this.#started ?? Promise.resolve();
    this.#started ??= this.#openSources(this.#open);
    return this.#started;
  }

  async #openSources(open: OpenSources): Promise<void> {
    try {
      this.sources = await open((failure) => this.#reportFailure(failure));
      // Each source listens to the signal; Node warns on the user's screen about more than ten listeners.
      if (this.sources.length > 10)
        process.getBuiltinModule("node:events").setMaxListeners(0, this.#work.signal);
      if (this.#work.signal.aborted) return await this.#closeSources();
      for (const source of this.sources) this.#registry.addSource(source);
      for (const source of this.sources) this.#discoverSource(source);
    } catch (error) {
      this.#reportFailure({ source: "tools", message: describeError(error) });
    }
  }

  #discoverSource(source: ToolSource): void {
    const work = this.#registry.discoverToolsFromSource(source, this.#work.signal).then((failures) => {
      if (this.#running.get(source) === work) this.#running.delete(source);
      if (!this.#work.signal.aborted) for (const failure of failures) this.#reportFailure(failure);
    });
    this.#running.set(source, work);
    this.#asked.set(source, performance.now());
  }

  #reportFailure(failure: DiscoveryFailure): void {
    this.failures.push(failure);
    this.onFailure(failure);
  }

  /**
   * Starts the sources if necessary. Resolves when each has answered or failed, or when the wait is over. The result
   * names the sources that have not answered; their tools are added when they do.
   */
  async ready({ signal, timeoutMs }: ReadyOptions = {}): Promise<readonly DiscoveryFailure[]> {
    const closing = this.#work.signal;
    // The discovery command has its own time limit in the settings.
    const limit = timeoutMs ?? Math.max(READY_MS, this.#commandMs);
    let isOver = false;
    const settled = this.#settleAll().then(() => {
      isOver = true;
    });
    await runWithEitherSignal([signal ?? closing, closing], (either) => waitAtMost(settled, limit, either));
    if (closing.aborted) return [...this.failures, { source: "tools", message: CLOSED }];
    if (isOver) return this.failures;
    const why = signal?.aborted ? "when the wait was ended" : `within ${limit / 1000} s`;
    const message = `it has not answered ${why}; its tools are added when it does`;
    const names = this.#silentSources.map(({ name }) => name);
    // Even the list of sources may still be unknown.
    const late = names.length > 0 ? names : ["tools"];
    return [...this.failures, ...late.map((source) => ({ source, message }))];
  }

  async #settleAll(): Promise<void> {
    await this.start();
    await Promise.all(this.sources.map((source) => this.#waitForSource(source)));
    await Promise.all(this.#running.values());
  }

  /** Waits for a source to settle. One with tools from an earlier session counts as running until then. */
  async #waitForSource(source: ToolSource): Promise<void> {
    this.#unsettled.add(source);
    await source.settle?.();
    this.#unsettled.delete(source);
  }

  get #silentSources(): readonly ToolSource[] {
    return this.sources.filter((source) => this.#running.has(source) || this.#unsettled.has(source));
  }

  /** Throws after `close`. */
  assertOpen(): void {
    if (this.#work.signal.aborted) throw new Error(`Nothing was asked: ${CLOSED}.`);
  }

  /** Forgets earlier failures and asks all sources again. */
  async refresh(): Promise<readonly DiscoveryFailure[]> {
    await this.ready();
    this.failures.length = 0;
    for (const source of this.sources) this.#discoverSource(source);
    return this.ready();
  }

  /** Asks changed sources again before a prompt, and waits for each as long as its `patience`. */
  async refreshBeforePrompt(signal: AbortSignal): Promise<void> {
    await this.start();
    for (const source of this.sources) {
      if (!this.#running.has(source) && (await source.hasInputChanged?.())) this.#discoverSource(source);
    }
    await Promise.all([...this.#running].map(([source, work]) => this.#waitFor(source, work, signal)));
  }

  async #waitFor(source: ToolSource, work: Promise<void>, signal: AbortSignal): Promise<void> {
    const { patience = 0 } = source;
    if (patience === 0) return;
    await waitAtMost(work, (this.#asked.get(source) ?? 0) + patience - performance.now(), signal);
    if (this.#running.get(source) === work && !signal.aborted) source.noteLateStart?.();
  }

  /** Waits for the sources of outdated tools with these names to declare the current ones; gives up after a while. */
  async #refreshNamed(names: readonly string[], signal: AbortSignal): Promise<void> {
    const tools = names.map((name) => this.#registry.getTool(name));
    const outdated = tools.map((tool) =>
      tool?.isOutdated ? this.#registry.getToolSource(tool.name) : undefined,
    );
    const sources = this.sources.filter(({ name }) => outdated.includes(name));
    const work = Promise.allSettled(sources.map((source) => source.renew?.()));
    if (sources.length > 0) await waitAtMost(work, SERVER_WAIT_MS, signal);
  }

  /** Waits for tools that the registry does not have yet, and until outdated ones are renewed. */
  async waitFor(names: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#waitForNamed(names, signal);
    await this.#refreshNamed(names, signal);
  }

  /** Resolves when the registry has all the names, when all sources have answered, or when it takes too long. */
  async #waitForNamed(names: readonly string[], signal: AbortSignal): Promise<void> {
    const areToolsRegistered = () => names.every((name) => this.#registry.getTool(name) !== undefined);
    if (this.#open === null || areToolsRegistered()) return;
    const mayOfferTools = ({ prefix }: ToolSource) =>
      prefix !== undefined && names.some((name) => name.startsWith(prefix));
    const begun = performance.now();
    await this.start();
    for (const source of this.sources) {
      // The source may have failed before the user logged in or fixed the problem.
      if (!this.#running.has(source) && mayOfferTools(source)) this.#discoverSource(source);
      void source.settle?.();
    }
    for (let left = 1; !areToolsRegistered() && this.#running.size > 0 && !signal.aborted; ) {
      const isNamed = [...this.#running.keys()].some(mayOfferTools);
      left = begun + (isNamed ? SERVER_WAIT_MS : LONGEST_WAIT_MS) - performance.now();
      if (left <= 0) return;
      await waitAtMost(Promise.race(this.#running.values()), left, signal);
    }
  }

  /** Whether a source has not answered yet. */
  get isWaiting(): boolean {
    return this.#running.size > 0;
  }

  /** Waits a while for the remaining sources. Resolves to the names of those that still have not answered. */
  async waitAndListUnanswered(signal: AbortSignal): Promise<readonly string[]> {
    await this.start();
    for (const source of this.sources) void source.settle?.();
    await waitAtMost(Promise.all(this.#running.values()), LONGEST_WAIT_MS, signal);
    return [...this.#running.keys()].map(({ name }) => name);
  }

  async close(): Promise<void> {
    this.#work.abort();
    await this.#started;
    await this.#closeSources();
  }

  async #closeSources(): Promise<void> {
    await Promise.all(this.#running.values());
    await Promise.allSettled(this.sources.map((source) => source.close?.()));
  }
}

/** Resolves when the work has ended, the time is up or the signal aborts. Never rejects. */
async function waitAtMost(work: Promise<unknown>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const enough = wait(milliseconds, AbortSignal.any([signal, over.signal]));
  await Promise.race([work, enough]).catch(() => {});
  over.abort();
}

type SourceParts = McpParts & { readonly registry: ToolRegistry };

/** Creates the discovery of tools that are not built in. Loads nothing before it is started, or without sources. */
export function createToolDiscovery(parts: SourceParts): ToolDiscovery {
  const { tools, mcpServers } = parts.home.settings;
  const hasCommand = tools.toolDiscoveryCommand !== undefined;
  const isNothing = !hasCommand && Object.keys(mcpServers).length === 0;
  const open = isNothing ? null : (report: Parameters<OpenSources>[0]) => openSources(parts, report);
  return new ToolDiscovery(parts.registry, open, hasCommand ? tools.toolDiscoverySeconds * 1000 : 0);
}

/** Creates a source for the discovery command and one for each MCP server. */
async function openSources(parts: SourceParts, report: Parameters<OpenSources>[0]): Promise<ToolSource[]> {
  const { tools, mcpServers } = parts.home.settings;
  const sources: ToolSource[] = [];
  if (tools.toolDiscoveryCommand !== undefined) {
    const [{ CommandSource }, { assignPrefixes }] = await Promise.all([
      import("../discovery/command-source.ts"),
      import("@burin/mcp/tool-names"),
    ]);
    const source = new CommandSource({
      settings: tools,
      root: parts.home.root,
      run: createCommandRunner({ ...parts, isConfined: parts.home.settings.sandbox.discovered }),
      report: (message) => report({ source: source.name, message }),
      reservedPrefixes: [...assignPrefixes(Object.keys(mcpServers)).values()],
    });
    sources.push(source);
  }
  if (Object.keys(mcpServers).length === 0) return sources;
  const { openMcpSources } = await import("./join-mcp.ts");
  return [...sources, ...(await openMcpSources(parts, report))];
}

function createServerLoader(discovery: ToolDiscovery) {
  return async () => {
    const { McpServer: Server } = await import("@burin/mcp/mcp-server");
    discovery.assertOpen();
    await discovery.start();
    return discovery.sources.filter((source): source is McpServer => source instanceof Server);
  };
}

/** Returns a function with which a built-in tool calls a tool of an MCP server. Its code is loaded on first use. */
export function createLazyServerCall(discovery: ToolDiscovery): CallServer {
  const caller = once(async () =>
    (await import("@burin/mcp/mcp-door")).createSettingsCaller(createServerLoader(discovery)),
  );
  return createLazyMethods(caller, ["call"]).call;
}

/** Returns access to the MCP servers among the sources. Its code is loaded on first use. */
export function createLazyMcp(discovery: ToolDiscovery, guard: (tool: Tool) => Tool): McpDoor {
  const door = once(async () =>
    (await import("@burin/mcp/mcp-door")).createMcpDoor(createServerLoader(discovery), guard),
  );
  const names = ["prompts", "resources", "prompt", "readResource", "callTool", "test", "login"] as const;
  return {
    ...createLazyMethods(door, names),
    resolved: async (text, signal) => {
      // Most prompts mention no server, so avoid loading the code that resolves mentions.
      if (!/(?:^\/|(?:^|\s)@)[A-Za-z0-9_-]+:/.test(text)) return text;
      return (await door()).resolved(text, signal);
    },
  };
}
