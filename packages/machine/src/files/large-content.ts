import type { BigIntStats } from "node:fs";
import type { LargePlan } from "@burin/contract/machine/file-change";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { encodeText, unitBytes } from "./encodings.ts";
import { unencodable } from "./held-file.ts";
import type { Range } from "./large-regions.ts";
import { bytesAt, type PassPart, passOver } from "./literal-pass.ts";
import { changed, type NewContent, type Replacement, writeAll } from "./replace-file.ts";
import type { TextFormat } from "./text-format.ts";

/** What a plan says to the machine, while it says regions of text to its readers. */
interface LargeBasis {
  readonly stats: BigIntStats;
  readonly format: TextFormat;
  readonly oldBytes: Buffer;
  readonly newBytes: Buffer;
  readonly ranges: readonly Range[];
}

const bases = new WeakMap<LargePlan, LargeBasis>();

export function rememberBasis(plan: LargePlan, basis: LargeBasis): void {
  bases.set(plan, basis);
}

interface LargeWriting {
  /** The file, open to be read. */
  readonly descriptor: number;
  readonly signal: AbortSignal;
  /** What a person made of the text of the only region. */
  readonly edited?: string | undefined;
}

/** One thing to be put in the place of another. */
interface Rewriting {
  readonly basis: LargeBasis;
  readonly signal: AbortSignal;
  /** How many places of the old bytes there must be; a range is replaced once, wherever else its bytes stand. */
  readonly expected: number;
  readonly range: Range | null;
  readonly newBytes: Buffer;
}

/** The changed file, copied part by part from the old one; and compared with it part by part once more. */
export function largeContent(plan: LargePlan, writing: LargeWriting): Pick<Replacement, "stats" | "content"> {
  const { file, expected } = plan.edit;
  const basis = bases.get(plan);
  if (basis === undefined) throw changed(file);
  const { signal, edited, descriptor } = writing;
  const range = edited === undefined ? null : onlyRange(plan, basis);
  const newBytes = edited === undefined ? basis.newBytes : editedBytes(plan, basis, edited);
  const rewriting: Rewriting = { basis, signal, expected, range, newBytes };
  let copy: { readonly descriptor: number; readonly bytes: number } | null = null;
  const content: NewContent = {
    writeTo: async (into) => {
      let written = 0;
      const put = async (bytes: Buffer) => {
        await writeAll(into, bytes, false);
        written += bytes.length;
        return true;
      };
      if (!(await rewrite(descriptor, rewriting, put))) throw changed(file);
      copy = { descriptor: into, bytes: written };
    },
    isOf: async (now) => {
      if (copy === null) return false;
      const written = copy;
      let position = 0;
      const isSame = await rewrite(now, rewriting, async (bytes) => {
        const there = await bytesAt(written.descriptor, position, bytes.length);
        position += bytes.length;
        return there.equals(bytes);
      });
      return isSame && position === written.bytes;
    },
  };
  return { stats: basis.stats, content };
}

function onlyRange({ edit, isShownWhole }: LargePlan, { ranges }: LargeBasis): Range {
  const [range, ...others] = ranges;
  if (range !== undefined && others.length === 0 && isShownWhole) return range;
  throw new WorkspaceError(
    "too_large",
    `${edit.file} is too large to be held in memory, and the change is at several places, so it can only be taken as a whole or refused. Nothing was written.`,
  );
}

function editedBytes(plan: LargePlan, { format }: LargeBasis, edited: string): Buffer {
  const { file } = plan.edit;
  const { encoding } = format;
  const before = plan.regions[0]?.before ?? "";
  const isCrlf = before.includes("\r\n") && !/(?:^|[^\r])\n/.test(before);
  const content = isCrlf ? edited.replace(/\r?\n/g, "\r\n") : edited;
  const sign = content.indexOf("\ufffd");
  if (sign !== -1) throw unencodable({ file, content, encoding, character: "\ufffd", position: sign });
  const bytes = encodeText(content, encoding);
  if (Buffer.isBuffer(bytes)) return bytes;
  throw unencodable({ file, content, encoding, ...bytes });
}

type Put = (bytes: Buffer) => Promise<boolean>;

/** Gives the new content to `put`, in order. false when the file is not as it was planned, or `put` says so. */
async function rewrite(descriptor: number, rewriting: Rewriting, put: Put): Promise<boolean> {
  const { basis, signal, range, newBytes, expected } = rewriting;
  const { format, oldBytes } = basis;
  if (range !== null) {
    const there = await bytesAt(descriptor, range.start, range.bytes.length);
    if (!there.equals(range.bytes)) return false;
  }
  let isRight = true;
  let copied = 0;
  const needle = range === null ? oldBytes : null;
  const pass = { descriptor, signal, needle, unit: unitBytes(format.encoding), markBytes: format.markBytes };
  const { found, overlaps } = await passOver(pass, async (part) => {
    const pieces = new Pieces(put);
    const { window, length, start } = part;
    for (const { at, end } of replacedIn(part, rewriting)) {
      await pieces.add(window.subarray(copied - start, at - start));
      await pieces.add(newBytes);
      copied = end;
    }
    if (copied < start + length) {
      await pieces.add(window.subarray(copied - start, length));
      copied = start + length;
    }
    isRight = (await pieces.end()) && isRight;
  });
  return isRight && (range !== null || (found === expected && overlaps === 0));
}

/** Positions in the file. A range may begin in one part and end in another. */
function replacedIn(
  part: PassPart,
  { range, basis }: Rewriting,
): { readonly at: number; readonly end: number }[] {
  const { start, length, places } = part;
  if (range === null) {
    return places.map((place) => ({ at: start + place, end: start + place + basis.oldBytes.length }));
  }
  const isHere = range.start >= start && range.start < start + length;
  return isHere ? [{ at: range.start, end: range.end }] : [];
}

const MOST_GATHERED_BYTES = 1024 * 1024;

/** Many small pieces are put at once; they are used up before the buffer that they lie in is filled again. */
class Pieces {
  readonly #put: Put;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isRight = true;

  constructor(put: Put) {
    this.#put = put;
  }

  async add(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= MOST_GATHERED_BYTES) await this.#flush();
  }

  async end(): Promise<boolean> {
    await this.#flush();
    return this.#isRight;
  }

  async #flush(): Promise<void> {
    const [first, ...others] = this.#pieces;
    if (first === undefined) return;
    const bytes = others.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    this.#isRight = (await this.#put(bytes)) && this.#isRight;
  }
}
