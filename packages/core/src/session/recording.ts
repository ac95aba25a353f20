import type { AgentEvent } from "@burin/contract/agent-event";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { isAnswered } from "@burin/contract/tool-call";
import type { SeenFile } from "@burin/machine/files/read-record";
import type { EventLog } from "./event-log.ts";

/** Time for the first request to go out before the machinery of the log is loaded. */
const PAUSE_MS = 30;

/**
 * Writes a session's events down. The log is opened a little after the first of them, so that no start waits
 * for it; an event that is noted twice counts once.
 */
export class Recording {
  readonly #openLog: () => Promise<EventLog>;
  readonly #onUnused: () => void;
  #early: Parameters<EventLog["note"]>[] = [];
  #seen: SeenFile[] = [];
  readonly #known = new WeakSet<AgentEvent>();
  #opening: Promise<EventLog> | null = null;
  #log: EventLog | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isSealed = false;

  /** `onUnused` is called instead of all else when nothing was to be written up to the end. */
  constructor(openLog: () => Promise<EventLog>, onUnused: () => void = () => {}) {
    this.#openLog = openLog;
    this.#onUnused = onUnused;
  }

  note(event: AgentEvent): void {
    if (this.#isSealed || this.#known.has(event)) return;
    this.#known.add(event);
    const seen = isStep(event) && this.#seen.length > 0 ? this.#seen.splice(0) : undefined;
    if (this.#log !== null) {
      this.#log.note(event, Date.now(), seen);
      return;
    }
    this.#early.push([event, Date.now(), seen]);
    this.#timer ??= setTimeout(() => this.#open().catch(() => {}), PAUSE_MS);
  }

  /** It is written with the answer that shows it to the model: one that a crash takes away has shown nothing. */
  noteSeen(seen: SeenFile): void {
    this.#seen.push(seen);
  }

  /** Resolves when all that was noted is on the disk; throws `not_recorded` when that cannot be. */
  async recorded(): Promise<void> {
    try {
      await (await this.#open()).recorded();
    } catch (error) {
      throw notRecorded(error);
    }
  }

  /** Resolves when all that was noted is in the file; throws `not_recorded` when that cannot be. */
  async written(): Promise<void> {
    try {
      (await this.#open()).writeAll();
    } catch (error) {
      throw notRecorded(error);
    }
  }

  /** What happens from here on is not written: the session is left as it is now. */
  seal(): void {
    this.#isSealed = true;
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#log === null && this.#early.length === 0) this.#onUnused();
    else await (await this.#open()).close();
  }

  #open(): Promise<EventLog> {
    this.#opening ??= this.#openLog().then(
      (log) => {
        this.#log = log;
        for (const early of this.#early) log.note(...early);
        this.#early = [];
        return log;
      },
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }
}

/** With these the model has been told what was read or written before. */
function isStep(event: AgentEvent): boolean {
  if (event.type === "tool_call") return isAnswered(event.call);
  return event.type === "session" || (event.type === "text" && event.role === "user");
}

function notRecorded(error: unknown): WorkspaceError {
  const why = error instanceof Error ? error.message : String(error);
  return new WorkspaceError(
    "not_recorded",
    `The record of this session cannot be written (${why}), and nothing is done that would not be recorded. Mend that, or start with --no-session.`,
  );
}
