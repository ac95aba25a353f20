import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { orElse } from "@burin/contract/or-else";
import { textOf } from "../encodings/text-format.ts";
import type { Slices } from "../ignore/walk.ts";
import { NAMES_DESCRIPTORS, nameOfOpen } from "../paths/paths.ts";
import { HitLines, type Wanted } from "./hit-lines.ts";
import type { LineMatcher } from "./line-matcher.ts";
import { isSearchable, isUtf16, textParts } from "./text-parts.ts";

const WHOLE_BYTES = 1024 * 1024;
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export interface FileSearcherNeeds {
  readonly matcher: LineMatcher;
  /** Checks the real path of an opened file. */
  readonly mayOpen: (realPath: string) => boolean;
  /** Called with what could not be searched completely. */
  readonly onGap: (gap: string) => void;
  readonly slices: Slices;
  /** Unsaved texts that replace the content of files, by their real paths. */
  readonly unsaved: ReadonlyMap<string, string>;
}

/** Searches one file after the other. Only a file that it opened and checked itself can appear in a result. */
export class FileSearcher {
  readonly #needs: FileSearcherNeeds;
  readonly #buffer = Buffer.allocUnsafe(WHOLE_BYTES);

  constructor(needs: FileSearcherNeeds) {
    this.#needs = needs;
  }

  /** Returns null when there is no hit, also because the file cannot be read or is binary. */
  async search(path: string, wanted: Wanted): Promise<HitLines | null> {
    const unsaved = this.#needs.unsaved.get(path);
    if (unsaved !== undefined) return this.#needs.mayOpen(path) ? this.#inText(unsaved, wanted) : null;
    const descriptor = open(path);
    if (descriptor === null) return null;
    try {
      const length = readSync(descriptor, this.#buffer, 0, WHOLE_BYTES, null);
      const isWhole = length < WHOLE_BYTES;
      const hits = isWhole ? this.#inWhole(length, wanted) : await this.#inParts(descriptor, wanted);
      return hits !== null && hits.hits > 0 && this.#mayShow(descriptor, path) ? hits : null;
    } catch (error) {
      if (error instanceof Error && "syscall" in error) return null;
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }

  /** Whether the file begins as UTF-16 text, which not every engine can read. */
  isUtf16(path: string): boolean {
    return isUtf16(this.#head(path, 4));
  }

  /** Whether the file would be searched as text. */
  isText(path: string): boolean {
    return isSearchable(this.#head(path, 8192));
  }

  #head(path: string, length: number): Buffer {
    const descriptor = open(path);
    if (descriptor === null) return this.#buffer.subarray(0, 0);
    const read = orElse(0, () => readSync(descriptor, this.#buffer, 0, length, null));
    closeSync(descriptor);
    return this.#buffer.subarray(0, read);
  }

  #inWhole(length: number, wanted: Wanted): HitLines | null {
    const bytes = this.#buffer.subarray(0, length);
    if (!this.#needs.matcher.mayMatch(this.#buffer, length) && !isUtf16(bytes)) return null;
    const text = isSearchable(bytes) ? textOf(bytes) : null;
    return text === null ? null : this.#inText(text, wanted);
  }

  #inText(text: string, wanted: Wanted): HitLines | null {
    const hits = new HitLines(this.#needs.matcher, wanted);
    hits.add(text, true);
    return hits.hits > 0 ? hits : null;
  }

  async #inParts(descriptor: number, wanted: Wanted): Promise<HitLines | null> {
    if (!fstatSync(descriptor).isFile()) return null;
    const { matcher, onGap, slices } = this.#needs;
    const hits = new HitLines(matcher, wanted);
    const onLongLine = () => onGap("Only the beginning of lines longer than 8 MB was searched.");
    for (const { text, isLast } of textParts(descriptor, Buffer.from(this.#buffer), onLongLine)) {
      hits.add(text, isLast);
      if (hits.isFull) break;
      if (slices.isOver && !(await slices.goOn())) break;
    }
    return hits;
  }

  /** Hits are rare, so the path is checked only when there is one. */
  #mayShow(descriptor: number, path: string): boolean {
    const real = NAMES_DESCRIPTORS ? nameOfOpen(descriptor) : realpathSync(path);
    return this.#needs.mayOpen(real);
  }
}

function open(path: string): number | null {
  return orElse(null, () => openSync(path, FLAGS));
}
