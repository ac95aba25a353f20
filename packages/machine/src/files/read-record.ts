import { createHash, type Hash } from "node:crypto";
import type { Seen } from "@burin/contract/machine/file-change";

/** Lines that the model was shown whole. Numbers count from 1, both ends included. */
export interface ShownLines {
  readonly firstLine: number;
  readonly lastLine: number;
  /** How many the file had then. */
  readonly totalLines: number;
  /** Of their bytes, so that a file touched but not changed is still the one that was shown. */
  readonly hash: string;
}

/** What the model has come to know of one file, as plain data. With neither of the two it knows nothing of it any more. */
export interface SeenFile {
  /** By its real path. */
  readonly file: string;
  /** The hash of all that it held. */
  readonly whole?: string;
  readonly lines?: ShownLines;
}

/** Outlives the workspace that fills it. */
export interface ReadMemory {
  /** What was noted before, in that order. */
  recall(): Iterable<SeenFile>;
  note(seen: SeenFile): void;
}

/** Most ranges kept for one file; older ones are forgotten, which only makes a new read necessary. */
const MOST_RANGES = 200;

/** What the model has been shown of which file in this session, by the file's real path. */
export class ReadRecord {
  /** The hash of files that were shown whole, or that the model wrote. */
  readonly #whole = new Map<string, string>();
  readonly #parts = new Map<string, readonly ShownLines[]>();
  readonly #memory: ReadMemory | undefined;

  constructor(memory?: ReadMemory) {
    for (const seen of memory?.recall() ?? []) this.#enter(seen);
    this.#memory = memory;
  }

  note(seen: SeenFile): void {
    this.#enter(seen);
    this.#memory?.note(seen);
  }

  #enter({ file, whole, lines }: SeenFile): void {
    if (lines !== undefined) {
      const others = (this.#parts.get(file) ?? []).filter(
        ({ firstLine, lastLine }) => firstLine !== lines.firstLine || lastLine !== lines.lastLine,
      );
      this.#parts.set(file, [...others, lines].slice(-MOST_RANGES));
      return;
    }
    this.#parts.delete(file);
    if (whole === undefined) this.#whole.delete(file);
    else this.#whole.set(file, whole);
  }

  /** How much was shown of what the file holds now. The hash is asked for only when it is needed. */
  seen(realPath: string, present: { readonly bytes: Uint8Array | null; readonly hash: string }): Seen {
    const { bytes } = present;
    const whole = this.#whole.get(realPath);
    if (bytes === null || bytes.length === 0 || (whole !== undefined && whole === present.hash)) return "all";
    const parts = this.#parts.get(realPath);
    if (parts === undefined) return whole === undefined ? "nothing" : "older";
    const check = new ShownCheck(parts);
    check.add(bytes);
    return check.seen();
  }

  /** The same for a file that is too large to be held, and is given part by part. */
  check(realPath: string): ShownCheck {
    return new ShownCheck(this.#parts.get(realPath) ?? [], this.#whole.get(realPath));
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

interface RunningHash extends ShownLines {
  readonly running: Hash;
}

/** Compares what was shown with the bytes of a file, which come one after the other. */
export class ShownCheck {
  readonly #parts: readonly RunningHash[];
  readonly #whole: string | undefined;
  readonly #wholeHash: Hash | undefined;
  /** Ascending: the numbers of lines at whose beginning something begins or ends that was shown. */
  readonly #bounds: readonly number[];
  /** The line, counted from 0, in which the next byte stands. */
  #line = 0;
  #endsInLine = false;

  constructor(parts: readonly ShownLines[], whole?: string) {
    this.#parts = parts.map((part) => ({ ...part, running: createHash("sha256") }));
    const bounds = parts.flatMap(({ firstLine, lastLine }) => [firstLine - 1, lastLine]);
    this.#bounds = [...new Set(bounds)].sort((a, b) => a - b);
    this.#whole = whole;
    this.#wholeHash = whole === undefined ? undefined : createHash("sha256");
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#wholeHash?.update(bytes);
    if (this.#parts.length === 0) return;
    let from = 0;
    for (const bound of [...this.#bounds.filter((line) => line > this.#line), Number.POSITIVE_INFINITY]) {
      const to = this.#skipTo(bytes, from, bound);
      this.#hash(bytes.subarray(from, to.at));
      from = to.at;
      this.#line = to.line;
      if (from === bytes.length) break;
    }
    this.#endsInLine = bytes[bytes.length - 1] !== 0x0a;
  }

  seen(): Seen {
    if (this.#wholeHash !== undefined && this.#wholeHash.digest("base64") === this.#whole) return "all";
    if (this.#parts.length === 0) return this.#whole === undefined ? "nothing" : "older";
    const total = this.#line + (this.#endsInLine ? 1 : 0);
    const isSame = this.#parts.every(
      ({ lastLine, totalLines, hash, running }) =>
        totalLines === total && lastLine <= total && running.digest("base64") === hash,
    );
    if (!isSame) return "older";
    return coversAll(this.#parts, total) ? "all" : "part";
  }

  /** The place at which a line begins, or the end. A newline byte ends a line, in whatever encoding. */
  #skipTo(bytes: Uint8Array, from: number, wanted: number): { readonly at: number; readonly line: number } {
    let line = this.#line;
    let at = from;
    while (line < wanted) {
      const newline = bytes.indexOf(0x0a, at);
      if (newline === -1) return { at: bytes.length, line };
      line += 1;
      at = newline + 1;
    }
    return { at, line };
  }

  /** Of the bytes between two bounds, which belong to the lines from the present one on. */
  #hash(bytes: Uint8Array): void {
    for (const { firstLine, lastLine, running } of this.#parts) {
      if (firstLine - 1 <= this.#line && this.#line < lastLine) running.update(bytes);
    }
  }
}

function coversAll(shown: readonly ShownLines[], total: number): boolean {
  let covered = 0;
  for (const { firstLine, lastLine } of [...shown].sort((a, b) => a.firstLine - b.firstLine)) {
    if (firstLine > covered + 1) return false;
    covered = Math.max(covered, lastLine);
  }
  return covered >= total;
}
