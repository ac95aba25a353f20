import type { FunctionDeclaration } from "@burin/contract/messages/function-call";
import { messageOf } from "@burin/contract/text/error-message";
import { declarationOf, type Tool, type ToolSource } from "@burin/contract/tools";

/** A source that gave no tools, and why. The others stay usable. */
export interface DiscoveryFailure {
  readonly source: string;
  readonly message: string;
}

/** What every provider accepts as a function name. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Where a tool that was registered from code is said to come from. */
const BUILT_IN = "built-in";

interface Registered {
  readonly tool: Tool;
  readonly source: string;
  readonly plainName: string | undefined;
}

/** One that cannot even be read must not keep the others from the model. */
function isUsable(tool: Tool): boolean {
  try {
    return tool.missing === undefined && typeof declarationOf(tool).description === "string";
  } catch {
    return false;
  }
}

/** Keeps every tool by its name. Built-in and discovered tools are alike from here on. */
export class ToolRegistry {
  readonly #tools = new Map<string, Registered>();
  readonly #sources: ToolSource[] = [];
  readonly #isWanted: (name: string) => boolean;

  /** `isWanted` leaves out tools of sources by their names. */
  constructor(isWanted: (name: string) => boolean = () => true) {
    this.#isWanted = isWanted;
  }

  /** A name that is taken or that a provider would reject is refused: a tool never silently shadows another. */
  registerTool(tool: Tool, source: string = BUILT_IN): void {
    if (typeof tool?.name !== "string" || !TOOL_NAME.test(tool.name)) {
      throw new Error(`Tool name "${tool?.name}" must be 1 to 64 letters, digits, "_" or "-".`);
    }
    if (typeof tool.parameterSchema !== "object" || tool.parameterSchema === null) {
      throw new Error(`The tool "${tool.name}" needs a parameterSchema, e.g. { type: "object" }.`);
    }
    if (this.#tools.has(tool.name)) {
      throw new Error(`A tool named "${tool.name}" is already registered; unregister it first.`);
    }
    this.#tools.set(tool.name, { tool, source, plainName: tool.plainName });
  }

  /** true when there was such a tool. */
  unregisterTool(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** By its name, or by its plain name while that means no other. */
  getTool(name: string): Tool | undefined {
    const named = this.#tools.get(name)?.tool;
    if (named !== undefined) return named;
    const plain = [...this.#tools.values()].filter(({ plainName }) => plainName === name);
    return plain.length === 1 ? plain[0]?.tool : undefined;
  }

  /** The name of the source that gave the tool. */
  sourceOf(name: string): string | undefined {
    return this.#tools.get(name)?.source;
  }

  /** All tools, ordered by name, so that what the model is told never depends on the order of registration. */
  getAllTools(): Tool[] {
    const entries = [...this.#tools].sort(([a], [b]) => (a < b ? -1 : 1));
    return entries.map(([, { tool }]) => tool);
  }

  /** All that lack nothing. */
  getUsableTools(): Tool[] {
    return this.getAllTools().filter(isUsable);
  }

  /** What the model is told: every tool that can be used. */
  getFunctionDeclarations(): FunctionDeclaration[] {
    return this.getUsableTools().map(declarationOf);
  }

  addSource(source: ToolSource): void {
    this.#sources.push(source);
    source.watch?.((tools) => this.replaceTools(source.name, tools));
  }

  /** Asks all sources at once and registers what each gives as it comes; one that fails harms no other. */
  async discoverTools(signal: AbortSignal): Promise<DiscoveryFailure[]> {
    const failures = await Promise.all(this.#sources.map((source) => this.discoverFrom(source, signal)));
    return failures.flat();
  }

  /** The same for one source. When it fails, what it gave before stays. */
  async discoverFrom(source: ToolSource, signal: AbortSignal): Promise<readonly DiscoveryFailure[]> {
    try {
      return this.replaceTools(source.name, await source.discover(signal));
    } catch (error) {
      return [{ source: source.name, message: messageOf(error) }];
    }
  }

  /** Registers these tools as all that the source has; those that cannot be registered are told. */
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
        failures.push({ source, message: messageOf(error) });
      }
    }
    return failures;
  }
}
