import { onceFor } from "@burin/contract/async/once";
import type { FunctionDeclaration } from "@burin/contract/messages/function-call";
import { declarationOf, type Tool } from "@burin/contract/tools";
import type { ToolRegistry } from "../tools/tool-registry.ts";

export interface DeclaredToolsNeeds {
  readonly registry: ToolRegistry;
  /** Characters of JSON that the tools from sources may have together. */
  readonly mostCharacters: number;
  /** The tool that finds the others; declared only when there are others. */
  readonly searchTool: string;
  readonly isWaiting: () => boolean;
}

/** Tools from these are always declared: they are few, and the user or the embedder chose each. */
const FREE_SOURCES = new Set(["built-in", "embedder"]);

/** All that fit the budget, and those found by search; each keeps its position, for the caches of services. */
export class DeclaredTools {
  readonly #needs: DeclaredToolsNeeds;
  readonly #order = new Set<string>();
  readonly #found = new Set<string>();

  constructor(needs: DeclaredToolsNeeds) {
    this.#needs = needs;
  }

  declarations(): FunctionDeclaration[] {
    const { registry, mostCharacters, searchTool, isWaiting } = this.#needs;
    const all = new Map(registry.getUsableTools().map((tool) => [tool.name, tool]));
    for (const name of this.#order) if (!all.has(name)) this.#order.delete(name);
    let left = mostCharacters - this.#spent(all);
    let leavesOut = false;
    const added: string[] = [];
    for (const tool of all.values()) {
      if (this.#order.has(tool.name) || tool.name === searchTool) continue;
      const cost = this.#isFree(tool) ? 0 : sizeOf(tool);
      if (cost <= left) added.push(tool.name);
      else leavesOut = true;
      if (cost <= left) left -= cost;
    }
    const search = all.has(searchTool) && !this.#order.has(searchTool) && (leavesOut || isWaiting());
    for (const name of [...added, ...(search ? [searchTool] : [])].sort()) this.#order.add(name);
    return [...this.#order].flatMap((name) => {
      const tool = all.get(name);
      return tool === undefined ? [] : [declarationOf(tool)];
    });
  }

  undeclared(): Tool[] {
    const { registry, searchTool } = this.#needs;
    return registry.getUsableTools().filter(({ name }) => name !== searchTool && !this.#order.has(name));
  }

  /** Declares these tools from the next request on, even beyond the budget. */
  declare(names: readonly string[]): void {
    for (const name of names) {
      this.#found.add(name);
      this.#order.add(name);
    }
  }

  #isFree({ name }: Tool): boolean {
    return FREE_SOURCES.has(this.#needs.registry.sourceOf(name) ?? "");
  }

  #spent(all: ReadonlyMap<string, Tool>): number {
    let spent = 0;
    for (const name of this.#order) {
      const tool = all.get(name);
      if (tool !== undefined && !this.#isFree(tool) && !this.#found.has(name)) spent += sizeOf(tool);
    }
    return spent;
  }
}

const sizes = new WeakMap<Tool, number>();

function sizeOf(tool: Tool): number {
  return onceFor(sizes, tool, () => JSON.stringify(declarationOf(tool)).length);
}
