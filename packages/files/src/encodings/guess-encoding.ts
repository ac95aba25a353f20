import { rememberResults } from "@burin/contract/async/once";
import { decodeBytes } from "./encodings.ts";

/** How text in a single-byte encoding usually looks. */
interface Script {
  readonly encoding: string;
  /** Small letters beyond ASCII, the most common first; capitals are derived from them. */
  readonly letters: string;
  /** Whether letters beyond ASCII occur among ASCII letters (French), or form whole words (Greek). */
  readonly isLatin: boolean;
  /** How common files in this encoding are, as a logarithm. */
  readonly prior: number;
}

/** Characters that all of these encodings may have. */
const COMMON_SIGNS = "’‘“”–—…€«»„‚•°§©®·¿¡½²³ºª×µ№\u00a0";

const RUSSIAN = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё";
const WESTERN = [
  "éàèäüöçßñóíáêôîûùâúãõåøæëïœ", // French
  "óíáéñúãçêõâàü¿¡ªº", // Spanish and Portuguese
  "äöüåßøæé", // German and Nordic
  "èàùòìé", // Italian
  "áíðþöæéóúý", // Icelandic
  "£°±©®×½µ²™§³¼¾¥¢¶÷", // signs of English
];
/** The letters of Czech also cover Slovak. */
const CENTRAL_EUROPEAN = ["íáéěščřýžůóúťďňľäôĺŕ", "ęąłóżśćńź", "éáöóőüíúű", "čšžćđ", "ăîşţâ"];
/** Latvian, Lithuanian and Estonian. */
const BALTIC = ["āīēšūžņļģķč", "ėšųžąįūčę", "äõüöšž"];

const SCRIPTS: readonly Script[] = [
  ...WESTERN.map((letters) => ({ encoding: "windows-1252", letters, isLatin: true, prior: 2 })),
  { encoding: "windows-1251", letters: `${RUSSIAN}іїєґ`, isLatin: false, prior: 2 },
  { encoding: "koi8-r", letters: RUSSIAN, isLatin: false, prior: -3 },
  { encoding: "ibm866", letters: RUSSIAN, isLatin: false, prior: -4 },
  { encoding: "iso-8859-5", letters: RUSSIAN, isLatin: false, prior: -4 },
  ...CENTRAL_EUROPEAN.flatMap((letters) => [
    { encoding: "windows-1250", letters, isLatin: true, prior: 0 },
    { encoding: "iso-8859-2", letters, isLatin: true, prior: -2 },
  ]),
  { encoding: "windows-1253", letters: "αοιετνσηρκπμλυςγδθωχφβξζψόίάέήύώϊ", isLatin: false, prior: -1 },
  { encoding: "windows-1254", letters: "ışğüöçâîİ", isLatin: true, prior: -1 },
  { encoding: "windows-1255", letters: "יוהלאמרבתשנםכדקחעפטסזגןצךףץ", isLatin: false, prior: -1 },
  { encoding: "windows-1256", letters: "اليمنوترةبعدسفهكقحجشصطخىذزضغثئءؤأإآظ،؟؛", isLatin: false, prior: -1 },
  ...BALTIC.map((letters) => ({ encoding: "windows-1257", letters, isLatin: true, prior: -2 })),
  { encoding: "windows-874", letters: "านรอกเงมยลวดทสตะปบคหแจพชขใไโผศัิีื่้็์ุูำ", isLatin: false, prior: -1 },
];

const SAMPLE_BYTES = 64 * 1024;
/** The maximum number of repeats of one word that count; more prove nothing. */
const MAX_TIMES = 3;
/** Bytes that are never the second byte of a character. */
const WORD_ENDS = /[\0-/:-?]+/;
const ASCII_COST = Math.log(1 / 40);
const FAULT_COST = -25;
const FOUR_BYTE_COST = -18;

/** A range of an encoding's two-byte characters, and how much of normal text is in it. */
type Range = readonly [leadFrom: number, leadTo: number, trailFrom: number, trailTo: number, share: number];

interface DoubleByte {
  readonly encoding: string;
  /** How common files in this encoding are, as a logarithm, like `Script.prior`. */
  readonly prior: number;
  /** The first range that fits is used. */
  readonly ranges: readonly Range[];
  /** Bytes that are a character by themselves. */
  readonly single?: readonly [from: number, to: number, share: number];
}

/** Reads rows such as `b0-d7 a1-fe 0.85`: first byte, second byte, share. */
function parseRanges(rows: string): Range[] {
  return rows.split(/,\s+/).map((row) => {
    const bytes = row.split(/[- ]/, 4).map((byte) => Number.parseInt(byte, 16));
    const [leadFrom = 0, leadTo = 0, trailFrom = 0, trailTo = 0] = bytes;
    return [leadFrom, leadTo, trailFrom, trailTo, Number(row.split(" ").at(-1))];
  });
}

const DOUBLE_BYTES: readonly DoubleByte[] = [
  {
    encoding: "gbk",
    prior: 1.5,
    ranges: parseRanges("b0-d7 a1-fe 0.85, a1-a3 a1-fe 0.12, d8-f7 a1-fe 0.02, 81-fe 40-fe 0.01"),
  },
  {
    encoding: "shift_jis",
    prior: 1.5,
    ranges:
      parseRanges(`82-82 9f-f1 0.42, 83-83 40-96 0.13, 81-81 40-ac 0.1, 88-97 40-fc 0.29, 82-84 40-fc 0.01,
      87-87 40-9c 0.02, 98-9f 40-fc 0.01, e0-ea 40-fc 0.01, ed-fc 40-fc 0.002`),
    single: [0xa1, 0xdf, 0.03],
  },
  {
    encoding: "euc-jp",
    prior: -0.5,
    ranges:
      parseRanges(`a4-a4 a1-f3 0.45, a5-a5 a1-f6 0.13, a1-a3 a1-fe 0.1, b0-cf a1-fe 0.3, d0-f4 a1-fe 0.015,
      a6-ad a1-fe 0.02, 8e-8e a1-df 0.005`),
  },
  {
    encoding: "euc-kr",
    prior: 1,
    ranges: parseRanges("b0-c8 a1-fe 0.9, a1-a3 a1-fe 0.07, a4-ac a1-fe 0.02, ca-fd a1-fe 0.01"),
  },
  {
    encoding: "big5",
    prior: 0,
    ranges: parseRanges("a4-c6 40-7e 0.34, a4-c6 a1-fe 0.51, a1-a3 40-fe 0.12, c9-f9 40-fe 0.02"),
  },
];

/**
 * Returns the most likely encoding of bytes that are not UTF-8, by scoring how normal the text looks in each known
 * encoding. Two or three words among ASCII code are enough.
 */
export function guessEncoding(bytes: Uint8Array): string {
  const sample = removeRepeats(extractNonAsciiLines(bytes));
  let best = { encoding: "windows-1252", likelihood: Number.NEGATIVE_INFINITY };
  const keepMoreLikely = (encoding: string, likelihood: number) => {
    if (likelihood > best.likelihood) best = { encoding, likelihood };
  };
  for (const script of SCRIPTS) keepMoreLikely(script.encoding, scoreSingleByte(sample, script));
  for (const model of DOUBLE_BYTES) keepMoreLikely(model.encoding, scoreDoubleByte(sample, model));
  if (best.encoding !== "gbk") return best.encoding;
  return hasFourByteCharacters(bytes) ? "gb18030" : "gbk";
}

function extractNonAsciiLines(bytes: Uint8Array): Uint8Array {
  const sample = new Uint8Array(Math.min(bytes.length, SAMPLE_BYTES));
  let length = 0;
  for (let start = 0; start < bytes.length && length < sample.length; ) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    const line = bytes.subarray(start, Math.min(end, start + sample.length - length));
    if (line.some((byte) => byte >= 0x80)) {
      sample.set(line, length);
      length += line.length;
    }
    start = end;
  }
  return sample.subarray(0, length);
}

/** A table column that repeats one value in every row is hardly more evidence than one row. */
function removeRepeats(sample: Uint8Array): Uint8Array {
  const words = Buffer.from(sample).toString("latin1").split(WORD_ENDS);
  const seen = new Map<string, number>();
  const kept = words.filter((word) => {
    const times = seen.get(word) ?? 0;
    seen.set(word, times + 1);
    return times < MAX_TIMES;
  });
  return Buffer.from(kept.join(" "), "latin1");
}

function scoreSingleByte(sample: Uint8Array, script: Script): number {
  const costs = buildCostTable(script);
  let sum = script.prior;
  let before = 0;
  for (const byte of sample) {
    if (before >= 0x80 || byte >= 0x80) sum += scoreNeighbours(before, byte, script.isLatin);
    sum += byte >= 0x80 ? (costs[byte - 0x80] ?? FAULT_COST) : ASCII_COST;
    before = byte;
  }
  return sum;
}

/** Scores how normal this pair of characters, of which at least one is not ASCII, is in such a script. */
function scoreNeighbours(before: number, byte: number, isLatin: boolean): number {
  if (before >= 0x80 && byte >= 0x80) return Math.log(isLatin ? 0.06 : 0.85);
  const besideLetter = isAsciiLetter(before) || isAsciiLetter(byte);
  if (besideLetter) return Math.log(isLatin ? 0.8 : 0.02);
  return Math.log(0.14);
}

function isAsciiLetter(byte: number): boolean {
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x7a;
}

const buildCostTable = rememberResults((script: Script) =>
  Array.from({ length: 128 }, (_, index) => scoreByte(index + 0x80, script)),
);

function scoreByte(byte: number, { encoding, letters }: Script): number {
  const character = decodeBytes(Uint8Array.of(byte), encoding);
  if (character === "\ufffd" || /[\u0080-\u009f]/.test(character)) return FAULT_COST;
  const small = character.toLowerCase();
  const rank = letters.indexOf(small);
  if (rank === -1) return Math.log((COMMON_SIGNS.includes(character) ? 0.1 : 0.01) / 30);
  const share = small === character ? 0.78 : 0.11;
  const commonness = Array.from(letters, (_, place) => 1 / (place + 6));
  return Math.log((share * (commonness[rank] ?? 0)) / commonness.reduce((sum, one) => sum + one, 0));
}

function scoreDoubleByte(sample: Uint8Array, model: DoubleByte): number {
  let sum = model.prior;
  let afterHigh = false;
  for (let at = 0; at < sample.length; at += 1) {
    const byte = sample[at] ?? 0;
    const isHigh = byte >= 0x80;
    if (afterHigh || (isHigh && at > 0)) sum += Math.log(afterHigh && isHigh ? 0.85 : 0.15);
    afterHigh = isHigh;
    if (!isHigh) {
      sum += ASCII_COST;
      continue;
    }
    if (model.encoding === "gbk" && isFourByteCharacter(sample, at)) {
      sum += FOUR_BYTE_COST;
      at += 3;
      continue;
    }
    const pair = scoreTwoByteCharacter(byte, sample[at + 1] ?? 0, model);
    if (pair !== null) {
      sum += pair;
      at += 1;
    } else sum += scoreSingleByteCharacter(byte, model);
  }
  return sum;
}

function scoreTwoByteCharacter(lead: number, trail: number, { ranges, single }: DoubleByte): number | null {
  if (single && lead >= single[0] && lead <= single[1]) return null;
  for (const [leadFrom, leadTo, trailFrom, trailTo, share] of ranges) {
    if (lead < leadFrom || lead > leadTo || trail < trailFrom || trail > trailTo) continue;
    return Math.log(share / ((leadTo - leadFrom + 1) * (trailTo - trailFrom + 1)));
  }
  return null;
}

function scoreSingleByteCharacter(byte: number, { single }: DoubleByte): number {
  if (single === undefined || byte < single[0] || byte > single[1]) return FAULT_COST;
  return Math.log(single[2] / (single[1] - single[0] + 1));
}

function hasFourByteCharacters(bytes: Uint8Array): boolean {
  for (let at = 0; at + 3 < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) < 0x81) continue;
    if (isFourByteCharacter(bytes, at)) return true;
    at += 1;
  }
  return false;
}

function isFourByteCharacter(bytes: Uint8Array, at: number): boolean {
  const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;
  return (
    (bytes[at] ?? 0) >= 0x81 &&
    isDigit(bytes[at + 1]) &&
    (bytes[at + 2] ?? 0) >= 0x81 &&
    isDigit(bytes[at + 3])
  );
}
