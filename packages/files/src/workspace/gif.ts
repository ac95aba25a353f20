/** What is wrong with a file whose end is missing. */
export const TRUNCATED_FAULT = "it ends too early";

/** Finds what is wrong with its blocks, and where the last complete picture ends; 0 if there is none. */
export function readGif(bytes: Buffer): { readonly fault: string | null; readonly picturesEnd: number } {
  const measureColorTable = (flags = 0) => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
  let picturesEnd = 0;
  for (let at = 13 + measureColorTable(bytes[10]); at < bytes.length; ) {
    const block = bytes[at];
    if (block === 0x3b) return { fault: picturesEnd > 0 ? null : "it has no picture", picturesEnd };
    if (block !== 0x2c && block !== 0x21) return { fault: "a block in it is damaged", picturesEnd };
    at = skipSubBlocks(bytes, block === 0x2c ? at + 11 + measureColorTable(bytes[at + 9]) : at + 2);
    if (block === 0x2c && at <= bytes.length) picturesEnd = at;
  }
  return { fault: TRUNCATED_FAULT, picturesEnd };
}

function skipSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0);
  return at + 1;
}
