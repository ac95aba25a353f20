const NEWLINE = 0x0a;

/** Counts the newlines between two byte positions. */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (bytes[at] === NEWLINE) count += 1;
  return count;
}
