const NEWLINE = 0x0a;
const FOUR_NEWLINES = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;

/** Counts the newlines between two byte positions, four bytes at a time. */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  const first = from + (-(bytes.byteOffset + from) & 3);
  if (to - first < 4) return countOneByOne(bytes, from, to);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + first, (to - first) >> 2);
  let count = 0;
  for (let at = 0; at < words.length; at += 1) {
    const rest = (words[at] ?? 0) ^ FOUR_NEWLINES;
    // Sets the highest bit of each byte of `rest` that is zero, and no other bit.
    let found = ~(((rest & LOW_BITS) + LOW_BITS) | rest | LOW_BITS);
    for (; found !== 0; found &= found - 1) count += 1;
  }
  const last = first + words.length * 4;
  return count + countOneByOne(bytes, from, first) + countOneByOne(bytes, last, to);
}

function countOneByOne(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === NEWLINE) count += 1;
  return count;
}
