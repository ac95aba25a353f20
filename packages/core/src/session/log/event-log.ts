import { closeSync, fdatasync, openSync, utimesSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { runAtExit } from "@burin/commands/processes/at-exit";
import type { AgentEvent } from "@burin/contract/agent-event";
import { EventQueue } from "@burin/contract/async/event-queue";
import { isAnswered } from "@burin/contract/tool-call";
import { makeFolders } from "@burin/files/disk/own-files";
import type { SeenFile } from "@burin/files/workspace/node-workspace";
import type { PastSession } from "../past-session.ts";
import { readLog } from "./read-log.ts";
import { formatRecordLine, type LogRecord } from "./record-line.ts";
import { Redactor, type Secrets } from "./redactor.ts";
import { listSessions, resolveSessionPath } from "./session-files.ts";
import { type SessionLock, takeLock } from "./session-lock.ts";

const sync = promisify(fdatasync);

/** Events that arrive within this time are written together. */
const PAUSE_MS = 50;
/** The maximum number of characters of an unfinished text in memory; a longer piece is written at once. */
const MAX_JOINED_CHARACTERS = 256 * 1024;

export interface LogLocation {
  readonly id: string;
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  readonly root: string;
  readonly secrets: Secrets;
  /** false: nothing is written, and only the latest records are kept in memory. */
  readonly isRecorded: boolean;
  /** The log and the lock of a resumed session. */
  readonly resumed?: { readonly session: PastLog; readonly lock: SessionLock } | undefined;
  /** See `SessionOptions.keepLog`. */
  readonly keep?: ((lines: string) => Promise<void>) | undefined;
}

type PastLog = Pick<PastSession, "path" | "lastNumber" | "isMidLine" | "seen">;

/** The maximum number of records that a session without a log on disk keeps. */
const MAX_KEPT = 1000;

/** A session's log: one AgentEvent per line, only appended. Lines that could not be written are tried again. */
export class EventLog {
  readonly #place: LogLocation;
  readonly #followers = new Set<EventQueue<LogRecord>>();
  #opening: Promise<string> | null = null;
  readonly #redactor: Redactor;
  #lock: SessionLock | undefined;
  #forget = (): void => {};
  #descriptor: number | null = null;
  lastNumber: number;
  #noted: LogRecord[] = [];
  /** Serialized records that are not in the file yet. */
  #unwritten: Buffer;
  #unwrittenRecords: LogRecord[] = [];
  #isSynced = true;
  /** Lines that are written but not passed to `keep` yet. */
  #unkept: Buffer[] = [];
  #keeping: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  readonly #announced = new Set<string>();
  #end = (): void => {};
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(place: LogLocation) {
    const { secrets, resumed } = place;
    this.#place = place;
    this.#redactor = new Redactor(secrets);
    this.#lock = resumed?.lock;
    this.lastNumber = resumed?.session.lastNumber ?? 0;
    // After a line that a crash cut off, start a new line and leave the broken one as it is.
    this.#unwritten = resumed?.session.isMidLine ? Buffer.from("\n") : Buffer.alloc(0);
  }

  /** Adds an event to the log and sends it to the readers. `seen` is what the model learned about files with it. */
  note(event: AgentEvent, at = new Date().toISOString(), seen?: readonly SeenFile[]): void {
    if (this.#shouldLog(event)) this.add(event, at, seen);
    this.sendToReaders(event, at);
  }

  /** Adds an event only to the log; see `sendToReaders`. */
  add(event: AgentEvent, at = new Date().toISOString(), seen?: readonly SeenFile[]): void {
    const last = this.#noted.at(-1);
    const joined = last && joinTexts(last.event, event);
    if (last && joined) this.#noted[this.#noted.length - 1] = { ...last, event: joined };
    else {
      this.lastNumber += 1;
      this.#noted.push({ n: this.lastNumber, at, event, ...(seen ? { seen } : {}) });
    }
    if (this.#place.isRecorded)
      this.#timer ??= setTimeout(() => void this.#writeCompleteLines(), PAUSE_MS).unref();
    else if (this.#noted.length > MAX_KEPT) this.#noted.shift();
  }

  /** Sends an event only to the readers, not to the log. */
  sendToReaders(event: AgentEvent, at = new Date().toISOString()): void {
    for (const follower of this.#followers) follower.push({ n: this.lastNumber, at, event });
  }

  /**
   * Yields the records from this number on, and new ones until the log is closed. An unfinished record comes in pieces
   * with the same number. Live output has the number of the record before it.
   */
  async *follow(from: number): AsyncGenerator<LogRecord> {
    const queue = new EventQueue<LogRecord>();
    for (const record of [...this.#unwrittenRecords, ...this.#noted]) queue.push(record);
    const written = this.lastNumber - queue.size;
    this.#followers.add(queue);
    try {
      const path = from <= written && this.#place.isRecorded ? await this.#openLog() : null;
      for (const record of path === null ? [] : readLog(path)) {
        if (record.n > written) break;
        if (record.n >= from) yield removeSeen(record);
      }
      for await (const record of queue.yieldDuring(() => this.#ended)) {
        if (record.n >= from) yield removeSeen(record);
      }
    } finally {
      this.#followers.delete(queue);
    }
  }

  /** Returns the path of the file, after locking it for this process. */
  #openLog(): Promise<string> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<string> {
    const { home, root, id, resumed } = this.#place;
    const path = resumed?.session.path ?? resolveSessionPath(home, root, id);
    this.#lock ??= await takeLock(path);
    void correctFutureTimes(home, root).catch(() => {});
    this.#forget = runAtExit(() => {
      try {
        this.#write(this.#noted.length, path);
      } catch {
        // The process is exiting, so nothing can be reported any more.
      }
    });
    return path;
  }

  /** Writes everything, so that it survives a crash of this process. */
  async writeEverything(): Promise<void> {
    if (!this.#place.isRecorded) return;
    this.#write(this.#noted.length, await this.#openLog());
    await this.#passLinesToStore();
  }

  /** Passes lines to `keep`, one part after the other. Lines that arrive in the meantime go with the next part. */
  #passLinesToStore(): Promise<void> {
    const { keep } = this.#place;
    if (keep === undefined) return this.#keeping;
    this.#keeping = this.#keeping.then(async () => {
      const lines = Buffer.concat(this.#unkept.splice(0)).toString();
      if (lines !== "") await keep(lines);
    });
    return this.#keeping;
  }

  /** Writes everything, so that it also survives a crash of the whole machine. */
  async recorded(): Promise<void> {
    await this.writeEverything();
    // Lines that `keep` stores elsewhere survive a crash of this machine anyway.
    if (this.#descriptor === null || this.#isSynced || this.#place.keep !== undefined) return;
    this.#isSynced = true;
    try {
      await sync(this.#descriptor);
    } catch (error) {
      this.#isSynced = false;
      throw error;
    }
  }

  async close(): Promise<void> {
    try {
      if (this.lastNumber > (this.#place.resumed?.session.lastNumber ?? 0)) await this.recorded();
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer);
      if (this.#descriptor !== null) closeSync(this.#descriptor);
      this.#descriptor = null;
      this.#forget();
      this.#lock?.release();
      this.#end();
    }
  }

  /** Whether an event is logged. Each state of a call is logged once, its live output never. */
  #shouldLog(event: AgentEvent): boolean {
    if (event.type !== "tool_call") return true;
    const { call } = event;
    if (call.status === "executing") return call.display === undefined;
    if (isAnswered(call)) this.#announced.delete(call.callId);
    if (call.status !== "validating") return true;
    const isNew = !this.#announced.has(call.callId);
    this.#announced.add(call.callId);
    return isNew;
  }

  /** Writes what is complete. A text that may still grow is written later: a secret in it might be split. */
  async #writeCompleteLines(): Promise<void> {
    this.#timer = null;
    try {
      const path = await this.#openLog();
      const last = this.#noted.at(-1)?.event;
      const isGrowing = last !== undefined && readText(last) !== null && !isTextFull(last);
      this.#write(this.#noted.length - (isGrowing ? 1 : 0), path);
    } catch {
      // The records are kept. The next `recorded` tries again and reports the failure.
    }
  }

  #write(count: number, path: string): void {
    const records = this.#noted.splice(0, count);
    const lines = records.map((record) =>
      formatRecordLine(record, (value) => this.#redactor.redactJson(value)),
    );
    this.#unwrittenRecords.push(...records);
    if (lines.length > 0) this.#unwritten = Buffer.concat([this.#unwritten, ...lines]);
    if (this.#place.keep !== undefined) this.#unkept.push(...lines);
    if (this.#descriptor === null) {
      makeFolders(dirname(path));
      this.#descriptor = openSync(path, "a", 0o600);
    }
    while (this.#unwritten.length > 0) {
      this.#isSynced = false;
      this.#unwritten = this.#unwritten.subarray(writeSync(this.#descriptor, this.#unwritten));
    }
    this.#unwrittenRecords = [];
  }
}

function removeSeen({ n, at, event }: LogRecord): LogRecord {
  return { n, at, event };
}

function joinTexts(one: AgentEvent, other: AgentEvent): AgentEvent | null {
  if (readText(one) === null || readText(other) === null || isTextFull(one)) return null;
  if (one.type === "text" && other.type === "text") return { ...one, text: one.text + other.text };
  if (one.type !== "thought" || other.type !== "thought") return null;
  return one.signature === undefined ? { ...other, text: one.text + other.text } : null;
}

/** Returns the model's text or reasoning in an event, which arrives in pieces; null for other events. */
function readText(event: AgentEvent): string | null {
  if (event.type === "text") return event.role === "model" ? event.text : null;
  return event.type === "thought" && event.callId === undefined ? event.text : null;
}

function isTextFull(event: AgentEvent): boolean {
  return (readText(event) ?? "").length >= MAX_JOINED_CHARACTERS;
}

/** A file server's clock may be ahead by less than this. */
const MAX_SKEW_MS = 60_000;
/** A clock that shows an earlier year was never set. */
const FIRST_YEAR = 2026;

/** A file system's clock may be behind by some milliseconds, and what is written now must count as later. */
const CLOCK_STEP_MS = 1000;

/** Moves the times of logs from the future to the past: after a clock change they would count as the latest. */
async function correctFutureTimes(home: string, root: string): Promise<void> {
  const now = Date.now();
  if (new Date(now).getFullYear() < FIRST_YEAR) return;
  // The list begins with the log that changed last. Keep this order.
  for (const [index, { path, changed }] of (await listSessions(home, root)).entries()) {
    if (changed < now + MAX_SKEW_MS) return;
    utimesSync(path, new Date(), (now - CLOCK_STEP_MS - index) / 1000);
  }
}
