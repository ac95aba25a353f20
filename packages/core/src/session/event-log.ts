import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { AgentEvent } from "@burin/contract/agent-event";
import { isAnswered } from "@burin/contract/tool-call";
import { makeFolders } from "@burin/machine/disk/make-folders";
import type { SeenFile } from "@burin/machine/files/read-record";
import { endAtExit } from "@burin/machine/processes/at-exit";
import { EventQueue } from "../agent/event-queue.ts";
import { readLog } from "./read-log.ts";
import { type LogRecord, recordLine } from "./record-line.ts";

const sync = promisify(fdatasync);

/** What happens within this time is written together. */
const PAUSE_MS = 50;
/** A longer run of text is written although it goes on. */
const MOST_JOINED_CHARACTERS = 256 * 1024;

/** Where the log of a session is written. */
export interface LogFile {
  readonly path: string;
  /** The JSON of a value without the secrets in it. */
  readonly jsonOf: (value: unknown) => string;
  readonly onClose?: () => void;
}

export interface EventLogOptions {
  /** The number of the last record that is there already. */
  readonly lastNumber: number;
  /** The file ends in the middle of a line, which is left as it is. */
  readonly isMidLine: boolean;
  /** null: nothing is written, and only the last records are kept. */
  readonly open: (() => Promise<LogFile>) | null;
  /** Called instead of all else when nothing was noted up to the end. */
  readonly onUnused?: () => void;
}

/** Of a session that is not recorded. */
const MOST_KEPT = 1000;

/**
 * The log of a session: one AgentEvent a line, appended, never rewritten. Pieces of one text become one
 * record; live output of a running call is left out. What cannot be written is kept and tried again.
 */
export class EventLog {
  readonly #options: EventLogOptions;
  readonly #followers = new Set<EventQueue<LogRecord>>();
  #opening: Promise<LogFile> | null = null;
  #file: LogFile | null = null;
  #forget = (): void => {};
  #descriptor: number | null = null;
  #number: number;
  #noted: LogRecord[] = [];
  /** What is made into bytes and not in the file yet. */
  #unwritten: Buffer;
  #unwrittenRecords: LogRecord[] = [];
  #isSynced = true;
  #timer: NodeJS.Timeout | null = null;
  readonly #announced = new Set<string>();
  #end = (): void => {};
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#number = options.lastNumber;
    this.#unwritten = options.isMidLine ? Buffer.from("\n") : Buffer.alloc(0);
  }

  get lastNumber(): number {
    return this.#number;
  }

  /** `seen` is what the model has come to know of files with it. */
  note(event: AgentEvent, at = new Date().toISOString(), seen?: readonly SeenFile[]): void {
    if (this.#isWorthALine(event)) this.add(event, at, seen);
    this.tell(event, at);
  }

  /** Into the log alone; see `tell`. */
  add(event: AgentEvent, at = new Date().toISOString(), seen?: readonly SeenFile[]): void {
    const last = this.#noted.at(-1);
    const joined = last && joinedText(last.event, event);
    if (last && joined) this.#noted[this.#noted.length - 1] = { ...last, event: joined };
    else {
      this.#number += 1;
      this.#noted.push({ n: this.#number, at, event, ...(seen ? { seen } : {}) });
    }
    if (this.#options.open !== null)
      this.#timer ??= setTimeout(() => void this.#writeSome(), PAUSE_MS).unref();
    else if (this.#noted.length > MOST_KEPT) this.#noted.shift();
  }

  /** To those who follow, and not into the log. */
  tell(event: AgentEvent, at = new Date().toISOString()): void {
    for (const follower of this.#followers) follower.push({ n: this.#number, at, event });
  }

  /**
   * The records from this number on, and what happens until the log is closed. A record that is not whole yet comes
   * in pieces of the same number; live output has the number of the record before it.
   */
  async *follow(from: number): AsyncGenerator<LogRecord> {
    const queue = new EventQueue<LogRecord>();
    for (const record of [...this.#unwrittenRecords, ...this.#noted]) queue.push(record);
    const written = this.#number - queue.size;
    this.#followers.add(queue);
    try {
      const path = from <= written && this.#options.open !== null ? (await this.#opened()).path : null;
      for (const record of path === null ? [] : readLog(path)) {
        if (record.n > written) break;
        if (record.n >= from) yield plainRecord(record);
      }
      for await (const record of queue.during(this.#ended)) {
        if (record.n >= from) yield plainRecord(record);
      }
    } finally {
      this.#followers.delete(queue);
    }
  }

  #opened(): Promise<LogFile> {
    this.#opening ??= (this.#options.open as () => Promise<LogFile>)().then(
      (file) => {
        this.#file = file;
        this.#forget = endAtExit(() => {
          try {
            this.#write(this.#noted.length, file);
          } catch {
            // The process ends; there is nobody left to tell.
          }
        });
        return file;
      },
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }

  /** Writes all that was noted, where a crash of this process cannot harm it. */
  async written(): Promise<void> {
    if (this.#options.open === null) return;
    const file = await this.#opened();
    this.#write(this.#noted.length, file);
  }

  /** The same, and resolves when a crash of the whole machine cannot harm it either. */
  async recorded(): Promise<void> {
    if (this.#options.open === null) return;
    const file = await this.#opened();
    const descriptor = this.#write(this.#noted.length, file);
    if (this.#isSynced) return;
    this.#isSynced = true;
    try {
      await sync(descriptor);
    } catch (error) {
      this.#isSynced = false;
      throw error;
    }
  }

  async close(): Promise<void> {
    try {
      if (this.#number > this.#options.lastNumber) await this.recorded();
      else this.#options.onUnused?.();
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer);
      if (this.#descriptor !== null) closeSync(this.#descriptor);
      this.#descriptor = null;
      this.#forget();
      this.#file?.onClose?.();
      this.#end();
    }
  }

  /** Of the states of a call each counts once; its live output does not. */
  #isWorthALine(event: AgentEvent): boolean {
    if (event.type !== "tool_call") return true;
    const { call } = event;
    if (call.status === "executing") return call.display === undefined;
    if (isAnswered(call)) this.#announced.delete(call.callId);
    if (call.status !== "validating") return true;
    const isNew = !this.#announced.has(call.callId);
    this.#announced.add(call.callId);
    return isNew;
  }

  /** A text that may still grow is left for later: a secret in it might be cut in two. */
  async #writeSome(): Promise<void> {
    this.#timer = null;
    try {
      const file = await this.#opened();
      const last = this.#noted.at(-1)?.event;
      const isGrowing = last !== undefined && textIn(last) !== null && !isLong(last);
      this.#write(this.#noted.length - (isGrowing ? 1 : 0), file);
    } catch {
      // It stays noted; the next `recorded` tries again and tells.
    }
  }

  #write(count: number, { path, jsonOf }: LogFile): number {
    const records = this.#noted.splice(0, count);
    const lines = records.map(({ n, at, event, seen }) =>
      recordLine(n, at, { event: jsonOf(event), seen: seen && jsonOf(seen) }),
    );
    this.#unwrittenRecords.push(...records);
    if (lines.length > 0) this.#unwritten = Buffer.concat([this.#unwritten, ...lines]);
    this.#descriptor ??= openToAppend(path);
    while (this.#unwritten.length > 0) {
      this.#isSynced = false;
      this.#unwritten = this.#unwritten.subarray(writeSync(this.#descriptor, this.#unwritten));
    }
    this.#unwrittenRecords = [];
    return this.#descriptor;
  }
}

function openToAppend(path: string): number {
  makeFolders(dirname(path));
  return openSync(path, "a", 0o600);
}

function plainRecord({ n, at, event }: LogRecord): LogRecord {
  return { n, at, event };
}

/** One text for two that follow each other; null when they do not belong together. */
function joinedText(one: AgentEvent, other: AgentEvent): AgentEvent | null {
  if (textIn(one) === null || textIn(other) === null || isLong(one)) return null;
  if (one.type === "text" && other.type === "text") return { ...one, text: one.text + other.text };
  if (one.type !== "thought" || other.type !== "thought") return null;
  return one.signature === undefined ? { ...other, text: one.text + other.text } : null;
}

/** The model's text or reasoning, which comes in pieces. */
function textIn(event: AgentEvent): string | null {
  if (event.type === "text") return event.role === "model" ? event.text : null;
  return event.type === "thought" && event.callId === undefined ? event.text : null;
}

function isLong(event: AgentEvent): boolean {
  return (textIn(event) ?? "").length >= MOST_JOINED_CHARACTERS;
}
