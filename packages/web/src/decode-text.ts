import { orElse } from "@burin/contract/or-else";
import { decodeBytes } from "@burin/machine/encodings/encodings";
import { formatOf } from "@burin/machine/encodings/text-format";

/** A page declares its encoding in its first bytes. */
const HEAD_BYTES = 4096;
const OWN_WORD =
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})|@charset\s+"([\w.:-]{2,40})"/i;
/** Servers name these by default, whatever they send. */
const NAMED_BY_HABIT = new Set(["windows-1252", "iso-8859-1"]);

/** By its byte order mark, by what the page or its server declares, or by its bytes; null when it is not text. */
export function decodeText(bytes: Uint8Array, contentType: string): string | null {
  const seen = formatOf(bytes);
  if (seen === null) return null;
  const isCertain = seen.markBytes > 0 || seen.encoding.startsWith("utf-16");
  const encoding = isCertain ? seen.encoding : believed(bytes, contentType, seen.encoding);
  return decodeBytes(bytes.subarray(seen.markBytes), encoding);
}

/** The declared encoding, unless the bytes show that it is impossible or it is only the server's default. */
function believed(bytes: Uint8Array, contentType: string, seen: string): string {
  const served = knownEncoding(/charset\s*=\s*["']?([\w.:-]{2,40})/i.exec(contentType)?.[1]);
  const isVague = served === null || NAMED_BY_HABIT.has(served) || (served === "utf-8" && seen !== served);
  const said = (isVague ? ownWord(bytes) : null) ?? served;
  if (said === null || said.startsWith("utf-16") || said === "utf-8") return seen;
  if (!NAMED_BY_HABIT.has(said)) return said;
  return seen === "utf-8" || isMostlyBeyondAscii(bytes) ? seen : said;
}

/** Western text has a few letters beyond ASCII; if most are, it is not Western. */
function isMostlyBeyondAscii(bytes: Uint8Array): boolean {
  let beyond = 0;
  let letters = 0;
  for (const byte of bytes) {
    if (byte >= 0x80) beyond += 1;
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) letters += 1;
  }
  return beyond > letters;
}

function ownWord(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEAD_BYTES)).toString(
    "latin1",
  );
  const [, meta, xml, css] = OWN_WORD.exec(head) ?? [];
  return knownEncoding(meta ?? xml ?? css);
}

function knownEncoding(label: string | undefined): string | null {
  if (label === undefined) return null;
  return orElse(null, () => new TextDecoder(label).encoding);
}
