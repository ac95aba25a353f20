import { closedObject, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import { BaseTool, type Tool, type ToolResult } from "@burin/contract/tools";

const PARAMETERS = closedObject(["query"], {
  query: text("Words of what it should do, or its name.", NON_EMPTY),
});
type Params = OptionValue<typeof PARAMETERS>;

export interface ToolSearchOptions {
  /** The names of the sources from which it can find tools, for the description. */
  readonly sources: readonly string[];
  /** Returns the tools that the model does not know yet. */
  readonly undeclared: () => readonly Tool[];
  readonly declare: (names: readonly string[]) => void;
  /** Waits for sources that are still starting. Resolves to the names of those that have not finished. */
  readonly settle: (signal: AbortSignal) => Promise<readonly string[]>;
}

export const TOOL_SEARCH = "tool_search";

const MAX_FOUND = 8;
const MAX_CHARACTERS = 20_000;

/** A tool that finds further tools, if there are too many to declare at once, and declares what it finds. */
export class ToolSearch extends BaseTool<Params> {
  readonly name = TOOL_SEARCH;
  readonly displayName = "ToolSearch";
  readonly kind = "read";
  readonly description: string;
  readonly parameterSchema = PARAMETERS;
  readonly #needs: ToolSearchOptions;

  constructor(needs: ToolSearchOptions) {
    super();
    this.#needs = needs;
    this.description =
      "Finds more tools than are listed here, by what they do; those it finds can be called from then on. " +
      `They come from: ${needs.sources.join(", ")}.`;
  }

  getDescription({ query }: Params): string {
    return `Find tools for ${query}`;
  }

  async execute({ query }: Params, signal: AbortSignal): Promise<ToolResult> {
    const waiting = await this.#needs.settle(signal);
    const tools = this.#needs.undeclared();
    const found = findBestTools(tools, query);
    this.#needs.declare(found.map(({ name }) => name));
    const late = waiting.length === 0 ? "" : `\nStill starting: ${waiting.join(", ")}. Try again later.`;
    if (found.length === 0) {
      const message = `None of the ${tools.length} other tools fits "${query}". Use other words.${late}`;
      return { llmContent: message, returnDisplay: message };
    }
    return {
      llmContent: `${describeTools(found)}${late}`,
      returnDisplay: `Found ${found.map(({ name }) => name).join(", ")}.${late}`,
    };
  }
}

/** Returns the tools that match the most words. A word in the name counts more than one in the description. */
function findBestTools(tools: readonly Tool[], query: string): Tool[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
  const scored = tools.map((tool) => ({ tool, score: scoreTool(tool, words, query.trim()) }));
  const fitting = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return fitting.slice(0, MAX_FOUND).map(({ tool }) => tool);
}

function scoreTool({ name, plainName, description }: Tool, words: readonly string[], query: string): number {
  if (name === query || plainName === query) return 1000;
  const lowerName = name.toLowerCase();
  const lowerText = description.toLowerCase();
  return words.reduce(
    (sum, word) => sum + (lowerName.includes(word) ? 3 : 0) + (lowerText.includes(word) ? 1 : 0),
    0,
  );
}

function describeTools(found: readonly Tool[]): string {
  const texts: string[] = [];
  let left = MAX_CHARACTERS;
  for (const { name, description, parameterSchema } of found) {
    const text = `${name}: ${description}\nParameters: ${JSON.stringify(parameterSchema)}`;
    texts.push(text.length <= left ? text : `${name}: ${description.slice(0, 200)}`);
    left -= text.length;
  }
  return `These tools can be called now:\n\n${texts.join("\n\n")}`;
}
