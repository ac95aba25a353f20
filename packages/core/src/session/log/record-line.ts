import type { AgentEvent } from "@burin/contract/agent-event";
import { once } from "@burin/contract/async/once";
import { orElse } from "@burin/contract/or-else";
import type { SeenFile } from "@burin/files/workspace/read-record";

export interface LogRecord {
  /** Counts from 1 without gaps, so that a lost record shows. */
  readonly n: number;
  /** When it happened, ISO 8601. */
  readonly at: string;
  readonly event: AgentEvent;
  /** What the model has learned about files since the previous record. */
  readonly seen?: readonly SeenFile[];
}

const LINE_END = 0x0a;
const START = /^\{"len":(\d{1,12}),"sum":"([0-9a-f]{8})",/;
/** Longer than the start of any line. */
const START_BYTES = 48;

/** Long sessions have thousands of lines, and getting the module takes as long as the checksum. */
const zlib = once(() => process.getBuiltinModule("node:zlib"));

function sumOf(bytes: Buffer): number {
  return zlib().crc32(bytes);
}

/** A line of a log: plain JSON that starts with the length in bytes and the CRC-32 of all that follows. */
export function recordLine(
  { n, at, event, seen }: LogRecord,
  json: (value: unknown) => string = JSON.stringify,
): Buffer {
  const known = seen === undefined ? "" : `,"seen":${json(seen)}`;
  const text = `"n":${n},"at":"${at}","event":${json(event)}${known}}`;
  // A terminal that shows the file would obey them.
  const rest = Buffer.from(text.replace(/[\x7f-\x9f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`));
  const sum = sumOf(rest).toString(16).padStart(8, "0");
  return Buffer.concat([Buffer.from(`{"len":${rest.length},"sum":"${sum}",`), rest, Buffer.of(LINE_END)]);
}

/** Returns null when the line, given without its end, was not completely written. */
export function readRecordLine(line: Buffer): LogRecord | null {
  const start = START.exec(line.toString("latin1", 0, Math.min(START_BYTES, line.length)));
  if (start === null) return null;
  const rest = line.subarray(start[0].length);
  if (rest.length !== Number(start[1]) || sumOf(rest) !== Number.parseInt(start[2] ?? "", 16)) return null;
  return orElse(null, () => JSON.parse(line.toString("utf8")) as LogRecord);
}
