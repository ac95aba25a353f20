import { isAscii, isUtf8 } from "node:buffer";
import { fstatSync } from "node:fs";
import type { LargeEdit, LargePlan, Seen } from "@burin/contract/machine/file-change";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { encodeText, isUnicode, unitBytes } from "./encodings.ts";
import { unencodable } from "./held-file.ts";
import { rememberBasis } from "./large-content.ts";
import { lineEndNear, newlinesIn, type Place, regionsAround } from "./large-regions.ts";
import { bytesAt, type PassPart, passOver } from "./literal-pass.ts";
import type { ShownCheck } from "./read-record.ts";
import { formatOfHead, narrowEncoding, type TextFormat } from "./text-format.ts";

/** By these bytes the encoding is known; what follows must agree. */
const SAMPLE_BYTES = 1024 * 1024;
const MOST_PLACES = 20;

export interface LargeWork {
  readonly descriptor: number;
  readonly realPath: string;
  readonly signal: AbortSignal;
  /** A new one for each pass over the file. */
  readonly check: () => ShownCheck;
}

interface Wording {
  readonly stage: string;
  readonly oldText: string;
  readonly newText: string;
}

/** What a literal replacement would do, found out in one pass; null when the file holds no text. */
export async function planLargeEdit(edit: LargeEdit, work: LargeWork): Promise<LargePlan | null> {
  const { descriptor, realPath } = work;
  const stats = fstatSync(descriptor, { bigint: true });
  const format = await formatFor(edit, descriptor);
  if (format === null) return null;
  const plan = { edit, realPath, bytes: Number(stats.size), regions: [], isShownWhole: false };
  let seen: Seen = "nothing";
  for (const wording of [{ ...edit, stage: "exact" }, ...withOtherLineEnds(edit)]) {
    const searched = await search(wording.oldText, format, { edit, work });
    seen = searched.seen;
    if (searched.found === 0) continue;
    const found = countOf(searched, edit.expected);
    const lines = searched.places.map(({ line }) => line);
    const located = { ...plan, seen, found, lines, stage: wording.stage, alreadyApplied: false };
    if (found !== edit.expected) return located;
    const { places, oldBytes } = searched;
    const newBytes = await bytesOfNew(wording, { edit, format, descriptor, place: places[0]?.at ?? 0 });
    const { regions, ranges } = await regionsAround(places, { descriptor, format, oldBytes, newBytes });
    const whole = { ...located, regions, isShownWhole: places.length === found };
    rememberBasis(whole, { stats, format, oldBytes, newBytes, ranges });
    return whole;
  }
  const isDone = edit.newText.trim() !== "" && (await search(edit.newText, format, { edit, work })).found > 0;
  return { ...plan, seen, found: 0, lines: [], stage: "exact", alreadyApplied: isDone };
}

function withOtherLineEnds({ oldText, newText }: LargeEdit): Wording[] {
  if (!oldText.includes("\n")) return [];
  const end = oldText.includes("\r\n") ? "\n" : "\r\n";
  const ended = (text: string) => text.replace(/\r?\n/g, end);
  return [{ stage: "line endings", oldText: ended(oldText), newText: ended(newText) }];
}

async function formatFor({ file }: LargeEdit, descriptor: number): Promise<TextFormat | null> {
  const sample = await bytesAt(descriptor, 0, SAMPLE_BYTES);
  const format = formatOfHead(sample);
  if (format !== "narrow") return format;
  const lines = sample.subarray(0, sample.lastIndexOf(0x0a) + 1);
  const encoding = narrowEncoding(lines.length > 0 ? lines : sample);
  assertSearchable(file, encoding);
  return { encoding, markBytes: 0 };
}

/** Where a character takes two bytes, the second may be that of another character, and places be found in it. */
function assertSearchable(file: string, encoding: string): void {
  if (/^(gb|shift_jis|euc|big5)/.test(encoding)) throw unsearchable(file, `it is in ${encoding}`);
}

function unsearchable(file: string, why: string): WorkspaceError {
  return new WorkspaceError(
    "too_large",
    `${file} is too large to be held in memory, and ${why}, so that it cannot be searched surely. Turn it into UTF-8 first, or change it with a command. Nothing was written.`,
  );
}

interface Searched {
  readonly found: number;
  readonly overlaps: number;
  /** The first of them. */
  readonly places: readonly Place[];
  readonly oldBytes: Buffer;
  readonly seen: Seen;
}

async function search(
  text: string,
  format: TextFormat,
  { edit, work }: { readonly edit: LargeEdit; readonly work: LargeWork },
): Promise<Searched> {
  const encoded = encodeText(text, format.encoding);
  // What the encoding cannot hold cannot stand in the file; the pass tells what was shown all the same.
  const needle = Buffer.isBuffer(encoded) ? encoded : null;
  const look = new Look(format, work.check());
  const pass = { ...work, needle, unit: unitBytes(format.encoding), markBytes: format.markBytes };
  const { found, overlaps } = await passOver(pass, (part) => look.at(part));
  const { places, otherEncoding } = look;
  if (otherEncoding !== null) {
    assertSearchable(edit.file, otherEncoding);
    const isPlain = [edit.oldText, edit.newText].every((one) => isAscii(Buffer.from(one)));
    if (!isPlain) throw unsearchable(edit.file, "parts of it are not in UTF-8");
  }
  return { found, overlaps, places, oldBytes: needle ?? Buffer.alloc(0), seen: look.seen() };
}

/** What is learnt of a file on the way through it. */
class Look {
  readonly places: Place[] = [];
  /** That of a part that is not in UTF-8, though the file seemed to be. */
  otherEncoding: string | null = null;
  readonly #format: TextFormat;
  readonly #check: ShownCheck;
  #line = 1;

  constructor(format: TextFormat, check: ShownCheck) {
    this.#format = format;
    this.#check = check;
  }

  at({ window, length, start, places }: PassPart): void {
    const bytes = window.subarray(0, length);
    this.#check.add(bytes);
    const { encoding, markBytes } = this.#format;
    if (encoding === "utf-8" && this.otherEncoding === null && !isUtf8(bytes)) {
      const guessed = narrowEncoding(bytes);
      if (!isUnicode(guessed)) this.otherEncoding = guessed;
    }
    let counted = start === 0 ? markBytes : 0;
    for (const at of places.slice(0, MOST_PLACES - this.places.length)) {
      this.#line += newlinesIn(bytes.subarray(counted, at), encoding).length;
      counted = at;
      this.places.push({ at: start + at, line: this.#line });
    }
    this.#line += this.places.length < MOST_PLACES ? newlinesIn(bytes.subarray(counted), encoding).length : 0;
  }

  seen(): Seen {
    return this.#check.seen();
  }
}

/** Where places overlap it matters from which end they are counted: then all count, as none is meant surely. */
function countOf({ found, overlaps }: Searched, expected: number): number {
  return found === expected ? found + overlaps : found;
}

interface NewTextPlace {
  readonly edit: LargeEdit;
  readonly format: TextFormat;
  readonly descriptor: number;
  readonly place: number;
}

/** New lines put into one line end as the file's lines do there. */
async function bytesOfNew({ oldText, newText }: Wording, where: NewTextPlace): Promise<Buffer> {
  const { edit, format, descriptor, place } = where;
  const isIntoOneLine = !oldText.includes("\n") && newText.includes("\n") && !newText.includes("\r");
  const content = isIntoOneLine
    ? newText.replaceAll("\n", await lineEndNear(place, { descriptor, format }))
    : newText;
  const bytes = encodeText(content, format.encoding);
  if (Buffer.isBuffer(bytes)) return bytes;
  throw unencodable({ file: edit.file, content, encoding: format.encoding, ...bytes });
}
