const NEWLINE = 0x0a;
const FOUR_NEWLINES = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
/** How many words add up before one of the four byte counters could overflow. */
const MAX_WORDS = 255;

/** Counts the newlines between two byte positions, four bytes at a time. */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  const first = from + (-(bytes.byteOffset + from) & 3);
  if (to - first < 4) return countOneByOne(bytes, from, to);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, (to - first) >> 2);
  let count = 0;
  for (let start = 0; start < words.length; start += MAX_WORDS) {
    const end = Math.min(start + MAX_WORDS, words.length);
    // Four counters in one number: one for each byte of a word.
    let counters = 0;
    for (let at = start; at < end; at += 1) {
      const rest = (words[at] ?? 0) ^ FOUR_NEWLINES;
      // Sets the highest bit of each byte of `rest` that is zero, and no other bit.
      const found = ~(((rest & LOW_BITS) + LOW_BITS) | rest | LOW_BITS);
      counters = (counters + (found >>> 7)) | 0;
    }
    count += (counters & 255) + ((counters >>> 8) & 255) + ((counters >>> 16) & 255) + (counters >>> 24);
  }
  const last = first + words.length * 4;
  return count + countOneByOne(bytes, from, first) + countOneByOne(bytes, last, to);
}

function countOneByOne(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === NEWLINE) count += 1;
  return count;
}
