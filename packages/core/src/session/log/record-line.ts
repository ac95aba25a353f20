import type { AgentEvent } from "@burin/contract/agent-event";
import { once } from "@burin/contract/async/once";
import { withFallback } from "@burin/contract/with-fallback";
import type { SeenFile } from "@burin/files/workspace/node-workspace";

/** One entry of the record of a session. */
export interface LogRecord {
  /** Counts from 1 without gaps, so that a lost record is noticed. */
  readonly n: number;
  /** The time of the event, in ISO 8601. */
  readonly at: string;
  readonly event: AgentEvent;
  /** What the model learned about files since the previous record. */
  readonly seen?: readonly SeenFile[];
}

const LINE_END = 0x0a;
const START = /^\{"len":(\d{1,12}),"sum":"([0-9a-f]{8})",/;
/** The maximum number of bytes to look at for the start of a line. */
const START_BYTES = 48;

/** Get the module only once: long sessions have thousands of lines, and getting it takes as long as the checksum. */
const loadZlib = once(() => process.getBuiltinModule("node:zlib"));

function computeChecksum(bytes: Buffer): number {
  return loadZlib().crc32(bytes);
}

/** Formats a line of a log: plain JSON that starts with the length in bytes and the CRC-32 of all that follows. */
export function formatRecordLine(
  { n, at, event, seen }: LogRecord,
  json: (value: unknown) => string = JSON.stringify,
): Buffer {
  const known = seen === undefined ? "" : `,"seen":${json(seen)}`;
  const text = `"n":${n},"at":"${at}","event":${json(event)}${known}}`;
  // Escape control characters, which a terminal that shows the file would obey.
  const rest = Buffer.from(text.replace(/[\x7f-\x9f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`));
  const sum = computeChecksum(rest).toString(16).padStart(8, "0");
  return Buffer.concat([Buffer.from(`{"len":${rest.length},"sum":"${sum}",`), rest, Buffer.of(LINE_END)]);
}

/** Parses a line without its line end. Returns null if it was not completely written. */
export function readRecordLine(line: Buffer): LogRecord | null {
  const start = START.exec(line.toString("latin1", 0, Math.min(START_BYTES, line.length)));
  if (start === null) return null;
  const rest = line.subarray(start[0].length);
  if (rest.length !== Number(start[1]) || computeChecksum(rest) !== Number.parseInt(start[2] ?? "", 16))
    return null;
  return withFallback(null, () => JSON.parse(line.toString("utf8")) as LogRecord);
}
