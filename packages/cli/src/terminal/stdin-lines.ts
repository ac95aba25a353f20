import { createInterface, type Interface } from "node:readline";
import { Transform } from "node:stream";
import { MAX_STDIN_BYTES } from "./read-stdin.ts";

const NEWLINE = 0x0a;

/** Yields stdin line by line. A line that is too long is cut at the limit. */
export function openStdinLines(): Interface {
  let left = MAX_STDIN_BYTES;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let from = 0; from < chunk.length; ) {
        const found = chunk.indexOf(NEWLINE, from);
        const end = found === -1 ? chunk.length : found + 1;
        const line = chunk.subarray(from, end);
        this.push(line.length <= left ? line : line.subarray(0, left));
        // Keep the line break of a line that is cut.
        if (line.length > left && found !== -1) this.push(Buffer.of(NEWLINE));
        left = found === -1 ? Math.max(left - line.length, 0) : MAX_STDIN_BYTES;
        from = end;
      }
      done();
    },
  });
  const input = process.stdin.pipe(limit);
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}
