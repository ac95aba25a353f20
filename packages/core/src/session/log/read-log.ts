import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegularFile } from "@burin/files/disk/regular-file";
import { type LogRecord, readRecordLine } from "./record-line.ts";
import { toSessionError } from "./session-error.ts";

const LINE_END = 0x0a;
/**
 * The size of the first chunk: small, for readers that need only the start of a log. Each further chunk is twice as
 * large.
 */
const FIRST_CHUNK_BYTES = 32 * 1024;
const MAX_CHUNK_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** What reading a log shows about the file, in addition to its records. */
export interface LogState {
  lastNumber: number;
  /** How many records were written but cannot be read any more: their numbers are missing. */
  lost: number;
  /** true if the file ends in the middle of a record, because the last write was cut off. */
  isTorn: boolean;
  /** true if the file ends with a line end, so that appended text starts a new line. */
  endsLine: boolean;
}

export function createLogState(): LogState {
  return { lastNumber: 0, lost: 0, isTorn: false, endsLine: true };
}

/** Reads the records of a log and skips broken lines. A number missing after one means that a record was lost. */
export function* readLog(path: string, state: LogState = createLogState()): Generator<LogRecord> {
  let descriptor = -1;
  try {
    descriptor = openRegularFile(path);
    let rest: Buffer[] = [];
    let restBytes = 0;
    for (let size = FIRST_CHUNK_BYTES; ; size = Math.min(2 * size, MAX_CHUNK_BYTES)) {
      const chunk = Buffer.allocUnsafe(size);
      const count = readSync(descriptor, chunk, 0, chunk.length, null);
      if (count === 0) break;
      const bytes = chunk.subarray(0, count);
      let from = 0;
      for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, from)) {
        const last = bytes.subarray(from, end);
        yield* parseRecord(rest.length === 0 ? last : Buffer.concat([...rest, last]), state);
        from = end + 1;
        rest = [];
        restBytes = 0;
      }
      restBytes += count - from;
      // No session writes such a long line, so count only its length.
      if (restBytes > MAX_LINE_BYTES) rest = [];
      else rest.push(bytes.subarray(from));
    }
    state.endsLine = restBytes === 0;
    if (restBytes === 0) return;
    const before = state.lastNumber;
    yield* parseRecord(Buffer.concat(rest), state);
    state.isTorn = state.lastNumber === before;
  } catch (error) {
    throw toSessionError(error, `The log ${path} cannot be read`);
  } finally {
    if (descriptor !== -1) closeSync(descriptor);
  }
}

/** Returns the record in the last line. null if it is incomplete, or too long to be worth reading for this. */
export function readLastRecord(path: string): LogRecord | null {
  const descriptor = openRegularFile(path);
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, FIRST_CHUNK_BYTES));
    const count = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    const end = bytes.lastIndexOf(LINE_END, count);
    const begin = end > 0 ? bytes.lastIndexOf(LINE_END, end - 1) : -1;
    return readRecordLine(bytes.subarray(begin + 1, Math.max(end, 0)));
  } finally {
    closeSync(descriptor);
  }
}

function* parseRecord(line: Buffer, state: LogState): Generator<LogRecord> {
  const record = readRecordLine(line);
  if (record === null) return;
  if (record.n > state.lastNumber + 1) state.lost += record.n - state.lastNumber - 1;
  state.lastNumber = record.n;
  yield record;
}
