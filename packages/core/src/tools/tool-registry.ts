import { getOrCreate } from "@burin/contract/async/once";
import type { FunctionDeclaration } from "@burin/contract/messages/message";
import { describeError } from "@burin/contract/text/error-message";
import { buildDeclaration, type Tool, type ToolSource } from "@burin/contract/tools";
import { withFallback } from "@burin/contract/with-fallback";
import { findParametersFault } from "../text/parameters-fault.ts";

/** A source that provided no tools, and the reason. Other sources are not affected. */
export interface DiscoveryFailure {
  readonly source: string;
  readonly message: string;
}

/** A function name that every provider accepts. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The default source, for tools registered from code. */
export const BUILT_IN_SOURCE = "built-in";

interface Registered {
  readonly tool: Tool;
  readonly source: string;
  readonly plainName: string | undefined;
  /** true for one of the fourteen tools that come with Burin. */
  readonly isOwn?: boolean;
}

/** Whether the tool can be declared. A tool whose properties throw must not hide the others from the model. */
function canBeDeclared(tool: Tool): boolean {
  return withFallback(
    false,
    () => tool.missing === undefined && typeof buildDeclaration(tool).description === "string",
  );
}

/** Returns what is wrong with a tool, or null. A service would reject the whole request because of it. */
function findToolFault(tool: Tool): string | null {
  if (typeof tool.execute !== "function" && typeof tool.prepare !== "function") return "has no execute";
  const description = withFallback(null, () => tool.description);
  if (typeof description !== "string") return "needs a description, for the model";
  const schema = withFallback(undefined, () => tool.parameterSchema);
  if (schema === undefined) return 'needs a parameterSchema, e.g. { type: "object" }';
  const wrong = findParametersFault(schema);
  return wrong === null ? null : `cannot be used: ${wrong}`;
}

/** Holds every tool by its name. It treats built-in and discovered tools alike. */
export class ToolRegistry {
  #tools = new Map<string, Registered>();
  #sources: ToolSource[] = [];
  #leftOut: string[] = [];
  readonly #isWanted: (name: string) => boolean;
  #handOut: (tool: Tool) => Tool = (tool) => tool;
  /** The original tool for each one that was handed out in its place. */
  #originals: WeakMap<Tool, Tool> | null = null;

  /** `isWanted` filters the tools of sources by name. */
  constructor(isWanted: (name: string) => boolean = () => true) {
    this.#isWanted = isWanted;
  }

  /** Returns a view of this registry for others. Each tool that they get is wrapped by `guard`. */
  createGuardedView(guard: (tool: Tool) => Tool): ToolRegistry {
    const made = new WeakMap<Tool, Tool>();
    const originals = new WeakMap<Tool, Tool>();
    const view = new ToolRegistry(this.#isWanted);
    view.#tools = this.#tools;
    view.#sources = this.#sources;
    view.#leftOut = this.#leftOut;
    view.#originals = originals;
    view.#handOut = (tool) =>
      getOrCreate(made, tool, () => {
        const handed = guard(this.#handOut(tool));
        originals.set(handed, tool);
        return handed;
      });
    return view;
  }

  /** The built-in tools that settings exclude. */
  get leftOut(): string[] {
    return this.#leftOut;
  }

  /** Registers a tool. Rejects a taken or unacceptable name, so that a tool never silently replaces another. */
  registerTool(tool: Tool<never>, source: string = BUILT_IN_SOURCE): void {
    if (typeof tool?.name !== "string" || !TOOL_NAME.test(tool.name)) {
      throw new Error(`Tool name "${tool?.name}" must be 1 to 64 letters, digits, "_" or "-".`);
    }
    const fault = findToolFault(tool as Tool);
    if (fault !== null) throw new Error(`The tool "${tool.name}" ${fault}.`);
    if (this.#tools.has(tool.name)) {
      throw new Error(`A tool named "${tool.name}" is already registered; unregister it first.`);
    }
    const original = this.#originals?.get(tool as Tool) ?? (tool as Tool);
    this.#tools.set(tool.name, { tool: original, source, plainName: tool.plainName });
  }

  /** Registers one of the fourteen built-in tools, which keep their contract by their types and tests. */
  registerOwn(tool: Tool): void {
    this.registerTool(tool);
    const known = this.#tools.get(tool.name);
    if (known) this.#tools.set(tool.name, { ...known, isOwn: true });
  }

  isOwn(name: string): boolean {
    return this.#tools.get(name)?.isOwn === true;
  }

  /** Replaces each outdated tool with the tool of the same name in the other registry. */
  replaceOutdatedTools(other: ToolRegistry): void {
    for (const [name, known] of this.#tools) {
      const newer = known.tool.isOutdated ? other.getTool(name) : undefined;
      if (newer !== undefined && other.getToolSource(name) === known.source)
        this.#tools.set(name, { ...known, tool: newer });
    }
  }

  /** Removes a tool. Returns whether it existed. */
  unregisterTool(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** Finds a tool by its name, or by its plain name if that is unambiguous. */
  getTool(name: string): Tool | undefined {
    const found = this.#findNamed(name);
    return found && this.#handOut(found);
  }

  #findNamed(name: string): Tool | undefined {
    const named = this.#tools.get(name)?.tool;
    if (named !== undefined) return named;
    const plain = [...this.#tools.values()].filter(({ plainName }) => plainName === name);
    return plain.length === 1 ? plain[0]?.tool : undefined;
  }

  getToolSource(name: string): string | undefined {
    return this.#tools.get(name)?.source;
  }

  /** Returns all tools sorted by name, so that requests do not depend on the order of registration. */
  getAllTools(): Tool[] {
    const entries = [...this.#tools].sort(([a], [b]) => (a < b ? -1 : 1));
    return entries.map(([, { tool }]) => this.#handOut(tool));
  }

  getUsableTools(): Tool[] {
    return this.getAllTools().filter(canBeDeclared);
  }

  getFunctionDeclarations(): FunctionDeclaration[] {
    return this.getUsableTools().map(buildDeclaration);
  }

  addSource(source: ToolSource): void {
    this.#sources.push(source);
    source.watch?.((tools) => this.replaceTools(source.name, tools));
  }

  /** Asks all sources in parallel and registers their tools as they arrive. A failure affects no other source. */
  async discoverTools(signal: AbortSignal): Promise<DiscoveryFailure[]> {
    const failures = await Promise.all(
      this.#sources.map((source) => this.discoverToolsFromSource(source, signal)),
    );
    return failures.flat();
  }

  /** Asks one source and registers its tools. If it fails, its earlier tools stay. */
  async discoverToolsFromSource(
    source: ToolSource,
    signal: AbortSignal,
  ): Promise<readonly DiscoveryFailure[]> {
    try {
      return this.replaceTools(source.name, await source.discover(signal));
    } catch (error) {
      return [{ source: source.name, message: describeError(error) }];
    }
  }

  /** Replaces all tools of the source with these. Returns a failure for each tool that cannot be registered. */
  replaceTools(source: string, tools: readonly Tool[]): readonly DiscoveryFailure[] {
    for (const [name, known] of this.#tools) if (known.source === source) this.#tools.delete(name);
    const failures: DiscoveryFailure[] = [];
    for (const tool of tools) {
      try {
        const owner = this.#tools.get(tool.name)?.source;
        if (owner !== undefined)
          throw new Error(`"${tool.name}" was left out: that name is taken (${owner}).`);
        if (this.#isWanted(tool.name)) this.registerTool(tool, source);
      } catch (error) {
        failures.push({ source, message: describeError(error) });
      }
    }
    return failures;
  }
}
