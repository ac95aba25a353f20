import { readSync } from "node:fs";
import { orElse } from "@burin/contract/or-else";
import { partDecoder } from "../encodings/encodings.ts";
import { formatOfHead, narrowEncoding } from "../encodings/text-format.ts";

const PART_BYTES = 4 * 1024 * 1024;
/** The rest of a longer line is not searched. */
const LONGEST_LINE = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

export function isUtf16(head: Uint8Array): boolean {
  const [first, second, third, fourth] = head;
  if (first === 0xfe && second === 0xff) return true;
  return first === 0xff && second === 0xfe && !(third === 0 && fourth === 0);
}

/** UTF-16 needs its byte order mark, without which no engine could tell it from binary data. */
export function isSearchable(head: Buffer): boolean {
  return isUtf16(head) || !head.subarray(0, 8192).includes(0);
}

/**
 * The text of a large file in parts that end at line ends, so that memory does not grow with the file. `head` is
 * what has been read of it. Yields nothing for a binary file.
 */
export function* textParts(
  descriptor: number,
  head: Buffer,
  onLongLine: () => void,
): Generator<{ readonly text: string; readonly isLast: boolean }> {
  const format = isSearchable(head) ? formatOfHead(head) : null;
  if (format === null) return;
  const encoding = format === "narrow" ? narrowEncoding(wholeLines(head)) : format.encoding;
  const decode = faultTolerant(encoding);
  let bytes: Buffer = head.subarray(format === "narrow" ? 0 : format.markBytes);
  let carried = "";
  let isSkipping = false;
  for (;;) {
    const isLast = bytes.length === 0;
    let text = carried + decode(bytes, isLast);
    if (isSkipping) {
      const newline = text.indexOf("\n");
      text = newline === -1 ? "" : text.slice(newline);
      isSkipping = newline === -1;
    }
    let end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    carried = text.slice(end);
    if (carried.length > LONGEST_LINE) {
      onLongLine();
      isSkipping = true;
      carried = "";
      end = text.length;
    }
    if (end > 0) yield { text: text.slice(0, end), isLast };
    if (isLast) return;
    const buffer = Buffer.allocUnsafe(PART_BYTES);
    bytes = buffer.subarray(0, readSync(descriptor, buffer));
  }
}

/** Node's decoders of parts throw at some broken characters that are cut in two, and cannot go on. */
function faultTolerant(encoding: string): ReturnType<typeof partDecoder> {
  let decode = partDecoder(encoding);
  return (bytes, isLast) => {
    const decoded = orElse(null, () => decode(bytes, isLast));
    if (decoded !== null) return decoded;
    decode = partDecoder(encoding);
    return `\ufffd${decode(bytes, isLast)}`;
  };
}

/** The beginning up to its last line end, so that no character is cut in two. */
function wholeLines(head: Buffer): Buffer {
  const end = head.lastIndexOf(NEWLINE);
  return end === -1 ? head : head.subarray(0, end);
}
