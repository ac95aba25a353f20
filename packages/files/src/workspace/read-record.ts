import type { SeenExtent } from "@burin/contract/machine/workspace";
import { hashBytes } from "../disk/regular-file.ts";

/** Lines that the model was shown in full. Numbers count from 1, both ends included. */
export interface ShownLines {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The number of lines that the file had at that time. */
  readonly totalLines: number;
  /** A hash of their bytes, so that a file that was touched but not changed still counts as read. */
  readonly hash: string;
}

/**
 * What the model knows about one file, as plain data. With neither `whole` nor `lines`, it no longer knows anything.
 */
export interface SeenFile {
  /** The real path. */
  readonly file: string;
  /** The hash of the whole content. */
  readonly whole?: string;
  readonly lines?: ShownLines;
}

/** What the model has seen, kept longer than a single workspace. */
export interface ReadMemory {
  /** Returns the earlier notes in order. */
  recall(): Iterable<SeenFile>;
  note(seen: SeenFile): void;
}

/** The maximum number of ranges that are kept for one file. Older ones are forgotten, which only makes another read necessary. */
const MAX_RANGES = 200;

/** What the model has seen of each file in this session, by the file's real path. */
export class ReadRecord {
  /** Files that were shown as a whole, or that the model wrote. */
  readonly #whole = new Map<string, SeenFile>();
  readonly #parts = new Map<string, readonly ShownLines[]>();
  readonly #memory: ReadMemory | undefined;

  constructor(memory?: ReadMemory) {
    for (const seen of memory?.recall() ?? []) this.#addLines(seen);
    this.#memory = memory;
  }

  note(seen: SeenFile): void {
    this.#addLines(seen);
    this.#memory?.note(seen);
  }

  /**
   * Notes that the whole file was shown. It is hashed after the response, because loading the hash would take a fifth
   * of the first call.
   */
  noteWholeFile(file: string, bytes: Uint8Array): void {
    let left: Uint8Array | null = bytes;
    let hash = "";
    const computeHashOnce = (): string => {
      if (left !== null) hash = hashBytes(left);
      left = null;
      return hash;
    };
    setImmediate(computeHashOnce).unref();
    this.note({
      file,
      get whole() {
        return computeHashOnce();
      },
    });
  }

  #addLines(seen: SeenFile): void {
    const { file, lines } = seen;
    if (lines !== undefined) {
      const others = (this.#parts.get(file) ?? []).filter(
        ({ firstLine, lastLine }) => firstLine !== lines.firstLine || lastLine !== lines.lastLine,
      );
      this.#parts.set(file, [...others, lines].slice(-MAX_RANGES));
      return;
    }
    this.#parts.delete(file);
    if ("whole" in seen) this.#whole.set(file, seen);
    else this.#whole.delete(file);
  }

  /** Returns how much of the file's present content was shown. `hash` is computed only if it is needed. */
  findSeenExtent(
    realPath: string,
    present: { readonly bytes: Uint8Array | null; readonly hash: string },
  ): SeenExtent {
    const { bytes } = present;
    if (bytes === null || bytes.length === 0) return "all";
    const whole = this.#whole.get(realPath)?.whole;
    if (whole !== undefined && whole === present.hash) return "all";
    const parts = this.#parts.get(realPath);
    if (parts === undefined) return whole === undefined ? "nothing" : "older";
    return computeSeenExtent(bytes, parts);
  }
}

/** Compares what was shown with the present content. A newline byte ends a line, in any encoding. */
function computeSeenExtent(bytes: Uint8Array, parts: readonly ShownLines[]): SeenExtent {
  const bounds = new Set(parts.flatMap(({ firstLine, lastLine }) => [firstLine - 1, lastLine]));
  const starts = new Map<number, number>();
  let total = 0;
  for (let at = 0; at < bytes.length; total += 1) {
    if (bounds.has(total)) starts.set(total, at);
    at = bytes.indexOf(0x0a, at) + 1 || bytes.length;
  }
  if (bounds.has(total)) starts.set(total, bytes.length);
  const isSame = parts.every(
    ({ firstLine, lastLine, totalLines, hash }) =>
      totalLines === total &&
      lastLine <= total &&
      hashBytes(bytes.subarray(starts.get(firstLine - 1), starts.get(lastLine))) === hash,
  );
  if (!isSame) return "older";
  return coversAllLines(parts, total) ? "all" : "part";
}

function coversAllLines(shown: readonly ShownLines[], total: number): boolean {
  let covered = 0;
  for (const { firstLine, lastLine } of [...shown].sort((a, b) => a.firstLine - b.firstLine)) {
    if (firstLine > covered + 1) return false;
    covered = Math.max(covered, lastLine);
  }
  return covered >= total;
}
