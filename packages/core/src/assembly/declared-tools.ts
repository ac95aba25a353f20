import { getOrCreate } from "@burin/contract/async/once";
import type { FunctionDeclaration } from "@burin/contract/messages/message";
import { buildDeclaration, type Tool } from "@burin/contract/tools";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { TOOL_SEARCH } from "../tools/tool-search.ts";

export interface DeclaredToolsOptions {
  readonly registry: ToolRegistry;
  /** Characters of JSON that the tools from sources may have together. */
  readonly maxCharacters: number;
  readonly isWaiting: () => boolean;
}

/** Sources whose tools are always declared: they are few, and the user or the embedder chose each. */
const FREE_SOURCES = new Set(["built-in", "embedder"]);

/**
 * The names of the declared tools: all that fit the budget, and those found by search. Each keeps its position, for the
 * caches of services.
 */
export class DeclaredTools {
  readonly #needs: DeclaredToolsOptions;
  readonly #order = new Set<string>();
  readonly #found = new Set<string>();

  constructor(needs: DeclaredToolsOptions) {
    this.#needs = needs;
  }

  buildDeclarations(): FunctionDeclaration[] {
    const { registry, maxCharacters, isWaiting } = this.#needs;
    const all = new Map(registry.getUsableTools().map((tool) => [tool.name, tool]));
    for (const name of this.#order) if (!all.has(name)) this.#order.delete(name);
    const measureCost = (tool: Tool) => (this.#isAlwaysDeclared(tool) ? 0 : measureDeclaration(tool));
    let left = maxCharacters - this.#listDeclared(all).reduce((sum, tool) => sum + measureCost(tool), 0);
    let leavesOut = false;
    const added: string[] = [];
    for (const tool of all.values()) {
      if (this.#order.has(tool.name) || tool.name === TOOL_SEARCH) continue;
      const cost = measureCost(tool);
      if (cost > left) leavesOut = true;
      else {
        added.push(tool.name);
        left -= cost;
      }
    }
    // The search tool is declared only when there are tools that it can find.
    const search = all.has(TOOL_SEARCH) && !this.#order.has(TOOL_SEARCH) && (leavesOut || isWaiting());
    for (const name of [...added, ...(search ? [TOOL_SEARCH] : [])].sort()) this.#order.add(name);
    return this.#listDeclared(all).map(buildDeclaration);
  }

  listUndeclared(): Tool[] {
    const usable = this.#needs.registry.getUsableTools();
    return usable.filter(({ name }) => name !== TOOL_SEARCH && !this.#order.has(name));
  }

  /** Declares these tools from the next request on, even beyond the budget. */
  declare(names: readonly string[]): void {
    for (const name of names) {
      this.#found.add(name);
      this.#order.add(name);
    }
  }

  #listDeclared(all: ReadonlyMap<string, Tool>): Tool[] {
    return [...this.#order].flatMap((name) => all.get(name) ?? []);
  }

  #isAlwaysDeclared({ name }: Tool): boolean {
    return FREE_SOURCES.has(this.#needs.registry.getToolSource(name) ?? "") || this.#found.has(name);
  }
}

const sizes = new WeakMap<Tool, number>();

function measureDeclaration(tool: Tool): number {
  return getOrCreate(sizes, tool, () => JSON.stringify(buildDeclaration(tool)).length);
}
