import type { FileHits, SearchLine, SearchRequest, SearchResult } from "@burin/contract/machine/workspace";
import { alignToCharacter } from "@burin/contract/text/truncate";
import type { LineMatch, LineMatcher } from "./line-matcher.ts";

const MAX_LINE_CHARACTERS = 2000;

/** How many hits and context lines to collect from one file. */
export interface HitRequest {
  readonly context: number;
  /** One hit more than may be shown, to know whether something is left out. */
  readonly hits: number;
}

/** Collects the hits of one text and the lines around them. The text may come in parts that end at line ends. */
export class HitLines {
  readonly lines: SearchLine[] = [];
  hits = 0;
  readonly #matcher: LineMatcher;
  readonly #wanted: HitRequest;
  /** The number of the last line before the part. */
  #passed = 0;
  /** How many context lines are still due after the last hit. */
  #owed = 0;
  /** The last lines that were not collected, for the context of the next hit. */
  #before: SearchLine[] = [];

  constructor(matcher: LineMatcher, wanted: HitRequest) {
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
      const found = this.#matcher.findNext(text, at);
      if (found === null) break;
      this.#addContextLines(text.slice(at, found.start), number);
      number += countLines(text, at, found.start) + 1;
      this.lines.push(...this.#before.splice(0), { number, text: truncateLine(text, found), isHit: true });
      this.hits += 1;
      this.#owed = this.#wanted.context;
      const newline = text.indexOf("\n", found.end);
      at = newline === -1 ? text.length : newline + 1;
    }
    if (isLast && this.#owed === 0) return;
    this.#addContextLines(text.slice(at), number);
    this.#passed = number + countLines(text, at, text.length);
  }

  /**
   * Handles lines without a hit: the first ones are context after the last hit, and the last ones may be context before
   * the next.
   */
  #addContextLines(text: string, linesBefore: number): void {
    const { context } = this.#wanted;
    if (context === 0 || text === "") return;
    const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
    const createContextLines = (from: number, to: number) =>
      lines.slice(from, to).map((line, index) => createContextLine(line, linesBefore + from + index + 1));
    const owed = Math.min(this.#owed, lines.length);
    this.lines.push(...createContextLines(0, owed));
    this.#owed -= owed;
    const near = createContextLines(Math.max(owed, lines.length - context), lines.length);
    this.#before = [...this.#before, ...near].slice(-context);
  }
}

function createContextLine(line: string, number: number): SearchLine {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return { number, text: truncateLine(text, { start: 0, end: text.length, matchEnd: 0 }), isHit: false };
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; count += 1) at = text.indexOf("\n", at) + 1 || to;
  return count;
}

/** Returns the line as it is; of a long line the beginning, or the part around a match further on. */
function truncateLine(text: string, { start, end, matchEnd }: LineMatch): string {
  if (end - start <= MAX_LINE_CHARACTERS) return text.slice(start, end);
  const isNear = matchEnd - start <= MAX_LINE_CHARACTERS;
  const from = isNear ? start : alignToCharacter(text, matchEnd - MAX_LINE_CHARACTERS / 2);
  const to = alignToCharacter(text, Math.min(end, from + MAX_LINE_CHARACTERS));
  const head = from > start ? "[line cut] ..." : "";
  return `${head}${text.slice(from, to)}${to < end ? "... [line cut]" : ""}`;
}

/**
 * The maximum number of characters of a result. A longer one would be cut again on its way to the model, in the middle and without
 * the number of hits.
 */
const MAX_CHARACTERS = 60_000;

/** Where nothing was found, how long to look for a hit in the files that git ignores. */
export const IGNORED_MS = 1000;
/** Asks only whether there is a hit. */
export const NO_RESULTS = { max: 0, context: 0, namesOnly: true } as const;

/** Takes the hits file by file, in the order of the paths, until there are enough. */
export class HitCollector {
  readonly gaps = new Set<string>();
  readonly #request: Pick<SearchRequest, "max" | "context" | "namesOnly">;
  readonly #files: FileHits[] = [];
  #hits = 0;
  #characters = 0;
  /** true as soon as it is known that something will be left out. */
  isFull = false;
  isOutOfTime = false;

  constructor(request: Pick<SearchRequest, "max" | "context" | "namesOnly">) {
    this.#request = request;
  }

  get remaining(): HitRequest {
    const { context, max, namesOnly } = this.#request;
    return namesOnly ? { context: 0, hits: 1 } : { context, hits: max - this.#hits + 1 };
  }

  addFile(path: string, found: HitLines | null): void {
    if (found === null || this.isFull) return;
    const lines: SearchLine[] = [];
    for (const line of found.lines) {
      this.isFull = line.isHit && !this.#hasRoomFor(line);
      if (this.isFull) break;
      if (line.isHit) this.#hits += 1;
      this.#characters += line.text.length;
      lines.push(line);
    }
    // Drops the context of a hit that is not shown.
    while (this.isFull && lines.at(-1)?.isHit === false) lines.pop();
    if (lines.some((line) => line.isHit)) this.#files.push({ path, lines });
  }

  markOutOfTime(): void {
    this.isOutOfTime = true;
    this.gaps.add(
      "The search was stopped after 30 seconds; search in a smaller folder or for something more specific.",
    );
  }

  buildResult(): SearchResult {
    return { files: this.#files, hits: this.#hits, hasMore: this.isFull, gaps: [...this.gaps] };
  }

  #hasRoomFor(line: SearchLine): boolean {
    return this.#hits < this.#request.max && this.#characters + line.text.length <= MAX_CHARACTERS;
  }
}
