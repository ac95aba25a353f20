import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { AgentEvent } from "@burin/contract/agent-event";
import { isAnswered } from "@burin/contract/tool-call";
import { makeFolders } from "@burin/machine/disk/make-folders";
import type { SeenFile } from "@burin/machine/files/read-record";
import { recordLine } from "./record-line.ts";

const sync = promisify(fdatasync);

/** What happens within this time is written together. */
const PAUSE_MS = 50;
/** A longer run of text is written although it goes on. */
const MOST_JOINED_CHARACTERS = 256 * 1024;

export interface EventLogOptions {
  readonly path: string;
  /** The number of the last record that is there already. */
  readonly lastNumber: number;
  /** The file ends in the middle of a line, which is left as it is. */
  readonly isMidLine: boolean;
  /** The JSON of a value without the secrets in it. */
  readonly jsonOf: (value: unknown) => string;
  readonly onClose?: () => void;
}

interface Noted {
  readonly event: AgentEvent;
  readonly at: number;
  readonly seen: readonly SeenFile[] | undefined;
}

/**
 * The log of a session: one AgentEvent a line, appended, never rewritten. Pieces of one text become one
 * record; live output of a running call is left out. What cannot be written is kept and tried again.
 */
export class EventLog {
  readonly #options: EventLogOptions;
  #descriptor: number | null = null;
  #number: number;
  #noted: Noted[] = [];
  /** What is made into bytes and not in the file yet. */
  #unwritten: Buffer;
  #isSynced = true;
  #timer: NodeJS.Timeout | null = null;
  readonly #announced = new Set<string>();

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#number = options.lastNumber;
    this.#unwritten = options.isMidLine ? Buffer.from("\n") : Buffer.alloc(0);
  }

  /** `seen` is what the model has come to know of files with it. */
  note(event: AgentEvent, at = Date.now(), seen?: readonly SeenFile[]): void {
    if (!this.#isWorthALine(event)) return;
    const last = this.#noted.at(-1);
    const joined = last && joinedText(last.event, event);
    if (last && joined) this.#noted[this.#noted.length - 1] = { ...last, event: joined };
    else this.#noted.push({ event, at, seen });
    this.#timer ??= setTimeout(() => this.#writeSome(), PAUSE_MS).unref();
  }

  /** Writes all that was noted, where a crash of this process cannot harm it. */
  writeAll(): void {
    this.#write(this.#noted.length);
  }

  /** The same, and resolves when a crash of the whole machine cannot harm it either. */
  async recorded(): Promise<void> {
    const descriptor = this.#write(this.#noted.length);
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
      await this.recorded();
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer);
      if (this.#descriptor !== null) closeSync(this.#descriptor);
      this.#descriptor = null;
      this.#options.onClose?.();
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
  #writeSome(): void {
    this.#timer = null;
    const last = this.#noted.at(-1)?.event;
    const isGrowing = last !== undefined && textIn(last) !== null && !isLong(last);
    try {
      this.#write(this.#noted.length - (isGrowing ? 1 : 0));
    } catch {
      // It stays noted; the next `recorded` tries again and tells.
    }
  }

  #write(count: number): number {
    const { jsonOf } = this.#options;
    const lines = this.#noted.splice(0, count).map(({ event, at, seen }) => {
      this.#number += 1;
      const json = { event: jsonOf(event), seen: seen && jsonOf(seen) };
      return recordLine(this.#number, new Date(at).toISOString(), json);
    });
    if (lines.length > 0) this.#unwritten = Buffer.concat([this.#unwritten, ...lines]);
    this.#descriptor ??= this.#open();
    while (this.#unwritten.length > 0) {
      this.#isSynced = false;
      this.#unwritten = this.#unwritten.subarray(writeSync(this.#descriptor, this.#unwritten));
    }
    return this.#descriptor;
  }

  #open(): number {
    makeFolders(dirname(this.#options.path));
    return openSync(this.#options.path, "a", 0o600);
  }
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
