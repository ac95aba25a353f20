import type { FunctionDeclaration } from "../messages/function-call.ts";
import { nearNames } from "../text/near-names.ts";
import { declarationOf, type Tool } from "./tools.ts";

/** Where tools come from that are not built in: a command, an MCP server. */
export interface ToolSource {
  readonly name: string;
  discover(signal: AbortSignal): Promise<readonly Tool[]>;
}

/** A source that gave no tools, and why. The others stay usable. */
export interface DiscoveryFailure {
  readonly source: string;
  readonly message: string;
}

/** What every provider accepts as a function name. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Where a tool that was registered from code is said to come from. */
const BUILT_IN = "built-in";

/** Keeps every tool by its name. Built-in and discovered tools are alike from here on. */
export class ToolRegistry {
  readonly #tools = new Map<string, { readonly tool: Tool; readonly source: string }>();
  readonly #sources: ToolSource[] = [];

  /** A name that is taken or that a provider would reject is refused: a tool never silently shadows another. */
  registerTool(tool: Tool, source: string = BUILT_IN): void {
    if (!TOOL_NAME.test(tool.name)) {
      throw new Error(`Tool name "${tool.name}" must be 1 to 64 letters, digits, "_" or "-".`);
    }
    if (this.#tools.has(tool.name)) {
      throw new Error(`A tool named "${tool.name}" is already registered; unregister it first.`);
    }
    this.#tools.set(tool.name, { tool, source });
  }

  /** true when there was such a tool. */
  unregisterTool(name: string): boolean {
    return this.#tools.delete(name);
  }

  getTool(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** The name of the source that gave the tool. */
  sourceOf(name: string): string | undefined {
    return this.#tools.get(name)?.source;
  }

  /** All tools, ordered by name, so that what the model is told never depends on the order of registration. */
  getAllTools(): Tool[] {
    const entries = [...this.#tools.values()].map((entry) => entry.tool);
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  getFunctionDeclarations(): FunctionDeclaration[] {
    return this.getAllTools().map(declarationOf);
  }

  /** The registered names most like one that is unknown. */
  nearNames(name: string): string[] {
    return nearNames(name, this.#tools.keys());
  }

  addSource(source: ToolSource): void {
    this.#sources.push(source);
  }

  /** Asks all sources at once and registers what they give; one that fails is reported and harms no other. */
  async discoverTools(signal: AbortSignal): Promise<DiscoveryFailure[]> {
    const found = await Promise.allSettled(this.#sources.map((source) => source.discover(signal)));
    const failures: DiscoveryFailure[] = [];
    for (const [index, outcome] of found.entries()) {
      const source = this.#sources[index]?.name ?? "";
      if (outcome.status === "rejected") {
        failures.push({ source, message: messageOf(outcome.reason) });
        continue;
      }
      for (const tool of outcome.value) {
        try {
          this.registerTool(tool, source);
        } catch (error) {
          failures.push({ source, message: messageOf(error) });
        }
      }
    }
    return failures;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
