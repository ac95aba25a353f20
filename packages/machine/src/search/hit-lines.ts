import type {
  FileHits,
  SearchLine,
  SearchRequest,
  SearchResult,
} from "@burin/contract/machine/search-request";
import { wholeCharacterEnd } from "@burin/contract/text/truncate";
import type { LineFound, LineMatcher } from "./line-matcher.ts";

const MOST_LINE_CHARACTERS = 2000;

/** What is wanted from one file. */
export interface Wanted {
  readonly context: number;
  /** One more than may be shown, to know whether something is left out. */
  readonly hits: number;
}

/** Collects the hits of one text and the lines around them. The text may come in parts that end at line ends. */
export class HitLines {
  readonly lines: SearchLine[] = [];
  hits = 0;
  readonly #matcher: LineMatcher;
  readonly #wanted: Wanted;
  /** The number of the last line before the part. */
  #passed = 0;
  /** The number of the last line that was collected. */
  #collected = 0;
  /** The number of context lines that are still to come after a hit. */
  #owed = 0;
  /** The last lines of the previous part, for the context of a hit at the start of this one. */
  #before: string[] = [];

  constructor(matcher: LineMatcher, wanted: Wanted) {
    this.#matcher = matcher;
    this.#wanted = wanted;
  }

  get isFull(): boolean {
    return this.hits >= this.#wanted.hits && this.#owed === 0;
  }

  add(text: string, isLast: boolean): void {
    let at = 0;
    let number = this.#passed;
    while (this.hits < this.#wanted.hits) {
      const found = this.#matcher.next(text, at);
      if (found === null) break;
      const between = this.#wanted.context > 0 ? text.slice(at, found.start) : "";
      const skipped = countLines(text, at, found.start);
      this.#contextBetween(between, number, skipped);
      number += skipped + 1;
      this.#hit(text, found, number);
      const newline = text.indexOf("\n", found.end);
      at = newline === -1 ? text.length : newline + 1;
    }
    if (isLast && this.#owed === 0) return;
    const rest = countLines(text, at, text.length);
    if (this.#wanted.context > 0) this.#rest(text.slice(at), number);
    this.#passed = number + rest;
  }

  #hit(text: string, found: LineFound, number: number): void {
    this.lines.push({ number, text: shownLine(text, found), isHit: true });
    this.hits += 1;
    this.#collected = number;
    this.#owed = this.#wanted.context;
    this.#before = [];
  }

  /** The lines between two hits that are close enough to one of them. */
  #contextBetween(between: string, passed: number, count: number): void {
    const { context } = this.#wanted;
    if (context === 0) return;
    const lines = linesOf(between);
    this.#behind(lines, passed);
    const earlier = count < context ? this.#before.slice(count - context) : [];
    const near = [...earlier, ...lines.slice(-context)].slice(-context);
    const first = passed + count - near.length + 1;
    for (const [index, line] of near.entries()) this.#collect(line, first + index);
  }

  #rest(rest: string, passed: number): void {
    const { context } = this.#wanted;
    const lines = linesOf(rest);
    this.#behind(lines, passed);
    this.#before = [...this.#before, ...lines.slice(-context)].slice(-context);
  }

  /** Takes the context lines of an earlier hit. */
  #behind(lines: readonly string[], passed: number): void {
    const count = Math.min(this.#owed, lines.length);
    for (const [index, line] of lines.slice(0, count).entries()) this.#collect(line, passed + index + 1);
    this.#owed -= count;
  }

  #collect(line: string, number: number): void {
    if (number <= this.#collected) return;
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    this.lines.push({
      number,
      text: shownLine(text, { start: 0, end: text.length, matchEnd: 0 }),
      isHit: false,
    });
    this.#collected = number;
  }
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  let at = from;
  while (at < to) {
    const newline = text.indexOf("\n", at);
    count += 1;
    if (newline === -1 || newline >= to) break;
    at = newline + 1;
  }
  return count;
}

/** The line verbatim; of a long line its beginning, or the part around a match that is further on. */
function shownLine(text: string, { start, end, matchEnd }: LineFound): string {
  if (end - start <= MOST_LINE_CHARACTERS) return text.slice(start, end);
  const isNear = matchEnd - start <= MOST_LINE_CHARACTERS;
  const from = isNear ? start : wholeCharacterEnd(text, matchEnd - MOST_LINE_CHARACTERS / 2);
  const to = wholeCharacterEnd(text, Math.min(end, from + MOST_LINE_CHARACTERS));
  const head = from > start ? "[line cut] ..." : "";
  return `${head}${text.slice(from, to)}${to < end ? "... [line cut]" : ""}`;
}

/** A longer result would be cut again before it reaches the model, in the middle and without the number of hits. */
const MOST_CHARACTERS = 60_000;

/** Takes the hits file by file, in the order of the paths, until there are enough. */
export class HitCollector {
  readonly gaps = new Set<string>();
  readonly #request: Pick<SearchRequest, "most" | "context" | "namesOnly">;
  readonly #files: FileHits[] = [];
  #hits = 0;
  #characters = 0;
  /** true as soon as something is known to be left out. */
  isFull = false;

  constructor(request: Pick<SearchRequest, "most" | "context" | "namesOnly">) {
    this.#request = request;
  }

  get wanted(): Wanted {
    const { context, most, namesOnly } = this.#request;
    return namesOnly ? { context: 0, hits: 1 } : { context, hits: most - this.#hits + 1 };
  }

  take(path: string, found: HitLines | null): void {
    if (found === null || this.isFull) return;
    const lines: SearchLine[] = [];
    for (const line of found.lines) {
      this.isFull = line.isHit && !this.#admits(line);
      if (this.isFull) break;
      if (line.isHit) this.#hits += 1;
      this.#characters += line.text.length;
      lines.push(line);
    }
    // Without context that belongs to a hit which is not shown.
    while (this.isFull && lines.at(-1)?.isHit === false) lines.pop();
    if (lines.some((line) => line.isHit)) this.#files.push({ path, lines });
  }

  outOfTime(): void {
    this.gaps.add(
      "The search was stopped after 30 seconds; search in a smaller folder or for something more specific.",
    );
  }

  result(): SearchResult {
    return { files: this.#files, hits: this.#hits, hasMore: this.isFull, gaps: [...this.gaps] };
  }

  #admits(line: SearchLine): boolean {
    return this.#hits < this.#request.most && this.#characters + line.text.length <= MOST_CHARACTERS;
  }
}
