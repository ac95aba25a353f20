import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegular } from "@burin/machine/disk/regular-file";
import { type LogRecord, readRecordLine } from "./record-line.ts";

const LINE_END = 0x0a;
/** Of the first part; whoever wants the beginning alone need not read more. Each next one is twice as long. */
const FIRST_CHUNK_BYTES = 32 * 1024;
const MOST_CHUNK_BYTES = 1024 * 1024;
const MOST_LINE_BYTES = 128 * 1024 * 1024;

/** What reading a log has found out about it, beside its records. */
export interface LogState {
  /** The number of the last record that could be read. */
  lastNumber: number;
  /** Records that were written once and cannot be read any more: their numbers are missing. */
  lost: number;
  /** The file ends in the middle of a record: the last write was cut. */
  isTorn: boolean;
  /** What is appended begins a line of its own. */
  endsLine: boolean;
}

export function newLogState(): LogState {
  return { lastNumber: 0, lost: 0, isTorn: false, endsLine: true };
}

/**
 * The records of a log in their order, read part by part. A line that is broken is skipped: where a number is
 * missing behind it a record was lost, else it was a write that a crash had cut. Nothing is changed.
 */
export function* readLog(path: string, state: LogState = newLogState()): Generator<LogRecord> {
  const descriptor = openRegular(path);
  try {
    let rest: Buffer[] = [];
    let restBytes = 0;
    for (let size = FIRST_CHUNK_BYTES; ; size = Math.min(2 * size, MOST_CHUNK_BYTES)) {
      const chunk = Buffer.allocUnsafe(size);
      const count = readSync(descriptor, chunk, 0, chunk.length, null);
      if (count === 0) break;
      const bytes = chunk.subarray(0, count);
      let from = 0;
      for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, from)) {
        const last = bytes.subarray(from, end);
        yield* recordIn(rest.length === 0 ? last : Buffer.concat([...rest, last]), state);
        from = end + 1;
        rest = [];
        restBytes = 0;
      }
      restBytes += count - from;
      // Of a line that no session writes only the length is of use.
      if (restBytes > MOST_LINE_BYTES) rest = [];
      else rest.push(bytes.subarray(from));
    }
    state.endsLine = restBytes === 0;
    if (restBytes === 0) return;
    const before = state.lastNumber;
    yield* recordIn(Buffer.concat(rest), state);
    state.isTorn = state.lastNumber === before;
  } finally {
    closeSync(descriptor);
  }
}

/** Of the last line; null when that is no whole record, or one that is longer than is worth reading for this. */
export function lastRecord(path: string): LogRecord | null {
  const descriptor = openRegular(path);
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

function* recordIn(line: Buffer, state: LogState): Generator<LogRecord> {
  const record = readRecordLine(line);
  if (record === null) return;
  if (record.n > state.lastNumber + 1) state.lost += record.n - state.lastNumber - 1;
  state.lastNumber = record.n;
  yield record;
}
