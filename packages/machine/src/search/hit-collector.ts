import type {
  FileHits,
  SearchLine,
  SearchRequest,
  SearchResult,
} from "@burin/contract/machine/search-request";
import type { SearchedFile } from "./file-searcher.ts";
import type { Wanted } from "./hit-lines.ts";

/** More than this would be cut again before it reached the model, in the middle and without a word on hits. */
const MOST_CHARACTERS = 60_000;

/** Takes the hits file by file, in the order of the paths, until there are enough. */
export class HitCollector {
  readonly gaps = new Set<string>();
  readonly #request: Pick<SearchRequest, "most" | "context" | "namesOnly">;
  readonly #files: FileHits[] = [];
  #hits = 0;
  #characters = 0;
  #hasMore = false;

  constructor(request: Pick<SearchRequest, "most" | "context" | "namesOnly">) {
    this.#request = request;
  }

  get wanted(): Wanted {
    const { context, most, namesOnly } = this.#request;
    return namesOnly ? { context: 0, hits: 1 } : { context, hits: most - this.#hits + 1 };
  }

  /** true as soon as it is known that something is left out. */
  get isFull(): boolean {
    return this.#hasMore;
  }

  take(path: string, found: SearchedFile | null): void {
    if (found === null || this.#hasMore) return;
    const lines: SearchLine[] = [];
    for (const line of found.lines) {
      if (line.isHit && !this.#admits(line)) {
        this.#hasMore = true;
        break;
      }
      if (line.isHit) this.#hits += 1;
      this.#characters += line.text.length;
      lines.push(line);
    }
    if (this.#hasMore) dropLeadingContext(lines);
    if (lines.some((line) => line.isHit)) this.#files.push({ path, lines });
  }

  outOfTime(): void {
    this.gaps.add(
      "The search was stopped after 30 seconds; search in a smaller folder or for something more specific.",
    );
  }

  result(): SearchResult {
    return { files: this.#files, hits: this.#hits, hasMore: this.#hasMore, gaps: [...this.gaps] };
  }

  #admits(line: SearchLine): boolean {
    return this.#hits < this.#request.most && this.#characters + line.text.length <= MOST_CHARACTERS;
  }
}

/** Context that belongs to a hit which is not shown. */
function dropLeadingContext(lines: SearchLine[]): void {
  while (lines.at(-1)?.isHit === false) lines.pop();
}
