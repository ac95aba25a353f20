import { maskPasswords, SECRET_VALUES } from "./child-environment.ts";

/** Matches the beginning of a token of SECRET_VALUES, which is always the beginning of a word. */
const STARTS = `
  sk AI gh gi gl xo xa AK AS hf r8 gs sg tf sb nt li do sn ru sh pp cs NR fo fi dc ps nv tv PM HR xk np py hv ya AQ AB da rk SG ey
`;
const PAIRS = indexFirstTwoBytes(STARTS.trim().split(/\s+/));

function indexFirstTwoBytes(starts: readonly string[]): Uint8Array {
  const codes = new Set(starts.map((start) => (start.charCodeAt(0) << 8) | start.charCodeAt(1)));
  return Uint8Array.from({ length: 1 << 16 }, (_, code) => (codes.has(code) ? 1 : 0));
}

const [OTHER, MARK, LETTER] = [0, 1, 2];
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => classifyCharacter(String.fromCharCode(code)));

function classifyCharacter(sign: string): number {
  if (/\w/.test(sign)) return LETTER;
  return "-.+/=".includes(sign) ? MARK : OTHER;
}

/** The length of the shortest token, counting only letters, digits and marks. */
const SHORTEST = 15;
/** How many bytes to test around a possible token: more than any pattern needs. */
const LONGEST = 8192;
const TOKENS = new RegExp(SECRET_VALUES.map(({ source }) => `(?:${source})`).join("|"));
const KEY = "PRIVATE KEY-----";

/**
 * Whether bytes contain a token, a private key or a password in a URL, judged by their form. Looks at only every 15th
 * byte of most text, and tries the patterns where a token might begin.
 */
export function holdsSecret(bytes: Buffer): boolean {
  return bytes.includes(KEY) || holdsToken(bytes) || holdsPassword(bytes);
}

function holdsToken(bytes: Buffer): boolean {
  const readCharacterClass = (at: number) => KINDS[bytes[at] ?? 0];
  for (let at = SHORTEST - 1; at < bytes.length; ) {
    let [start, end] = [at, at];
    while (end < bytes.length && readCharacterClass(end) !== OTHER) end += 1;
    while (end > at && start > 0 && readCharacterClass(start - 1) !== OTHER) start -= 1;
    if (end - start >= SHORTEST && isToken(bytes, start, end)) return true;
    at = end + SHORTEST;
  }
  return false;
}

function isToken(bytes: Buffer, start: number, end: number): boolean {
  let before = MARK;
  for (let at = start; at <= end - SHORTEST; at += 1) {
    const kind = KINDS[bytes[at] ?? 0] ?? OTHER;
    const isStart = kind === LETTER && before !== LETTER;
    if (isStart && PAIRS[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] === 1) {
      if (TOKENS.test(bytes.toString("latin1", at, Math.min(end, at + LONGEST)))) return true;
    }
    before = kind;
  }
  return false;
}

const [SLASH, AT] = [0x2f, 0x40];
const isSpace = (code: number) => code === 0x20 || (code >= 9 && code <= 13);

/** Looks back from each `@`, because most text has fewer of them than URLs. */
function holdsPassword(bytes: Buffer): boolean {
  if (!bytes.includes("://")) return false;
  for (let found = bytes.indexOf(AT); found !== -1; found = bytes.indexOf(AT, found + 1)) {
    let start = found;
    while (
      start > 0 &&
      bytes[start - 1] !== SLASH &&
      bytes[start - 1] !== AT &&
      !isSpace(bytes[start - 1] ?? 0)
    )
      start -= 1;
    if (bytes[start - 1] !== SLASH || bytes.toString("latin1", Math.max(0, start - 3), start) !== "://")
      continue;
    const url = bytes.toString("latin1", Math.max(0, start - 33), found + 600);
    if (maskPasswords(url) !== url) return true;
  }
  return false;
}
