import { type AgentEvent, createNotice, type RunEnd } from "@burin/contract/agent-event";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { Settings } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { isAnswered } from "@burin/contract/tool-call";
import type { ReadMemory, SeenFile } from "@burin/files/workspace/node-workspace";
import type { EventLog, LogLocation } from "./log/event-log.ts";
import type { LogRecord } from "./log/record-line.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";

const TOLD_AFTER_SEAL = new Set<AgentEvent["type"]>(["notice", "input_error"]);
/** How long to wait before loading the log's code, so that the first request is sent first. */
const PAUSE_MS = 30;

interface RecordingOptions extends LogLocation {
  readonly settings: Settings;
}

/** Receives all events of a session. Its log is loaded shortly after the first event, so that no start waits for it. */
export class Recording {
  /** What the model has seen of files, in earlier processes and in this one. */
  readonly reads: ReadMemory;
  readonly #place: RecordingOptions;
  readonly #announcement: AgentEvent;
  #early: Parameters<EventLog["note"]>[] = [];
  #seen: SeenFile[] = [];
  readonly #known = new WeakSet<AgentEvent>();
  #opening: Promise<EventLog> | null = null;
  #log: EventLog | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isSealed = false;
  #hasBegun = false;
  /** null if nothing is exported. */
  readonly #telemetry: Promise<Telemetry> | null;

  /** `announcement` is the session's first event. */
  constructor(place: RecordingOptions, announcement: AgentEvent) {
    this.#place = place;
    this.#announcement = announcement;
    this.reads = {
      recall: () => place.resumed?.session.seen ?? [],
      // Written together with the answer that shows it to the model: without that, the model has seen nothing.
      note: (seen) => void this.#seen.push(seen),
    };
    this.#telemetry = isTelemetryEnabled(place) ? this.#openTelemetry(place) : null;
  }

  note(event: AgentEvent): void {
    // Only these events can arrive twice, from two places.
    if (event.type === "notice" || event === this.#announcement) {
      if (this.#known.has(event)) return;
      this.#known.add(event);
    }
    if (this.#isSealed) {
      if (TOLD_AFTER_SEAL.has(event.type)) this.#log?.sendToReaders(event);
      return;
    }
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      // The first record must identify the log.
      this.note(this.#announcement);
    }
    this.#observeEvent(event);
    const seen = completesStep(event) && this.#seen.length > 0 ? this.#seen.splice(0) : undefined;
    const noted = [event, new Date().toISOString(), seen] as const;
    if (this.#log !== null) this.#log.note(...noted);
    else {
      this.#early.push([...noted]);
      this.#timer ??= setTimeout(() => void this.#open(), PAUSE_MS);
    }
  }

  /** See `EventLog.follow`. */
  follow(from?: number): AsyncGenerator<LogRecord> {
    const last = this.#log?.lastNumber ?? this.#place.resumed?.session.lastNumber ?? 0;
    const opened = this.#open();
    return (async function* () {
      yield* (await opened).follow(from ?? last + 1);
    })();
  }

  /** Resolves when everything noted is on disk. Rejects with `not_recorded` if that fails. */
  async recorded(): Promise<void> {
    const log = await this.#open();
    await log.recorded().catch((error: unknown) => {
      throw this.#reportFailure(error);
    });
  }

  /** Returns a value as JSON without secrets, as in the log. */
  async formatJson(value: unknown): Promise<string> {
    const { Redactor } = await import("./log/redactor.ts");
    return new Redactor(this.#place.secrets).redactJson(value);
  }

  /** Records the end of a run. A success that cannot be written becomes a failure: it could not be resumed. */
  async end(end: RunEnd): Promise<RunEnd> {
    const log = await this.#open();
    const at = new Date().toISOString();
    let told = end;
    if (!this.#isSealed) {
      log.add(end, at);
      await log.writeEverything().catch((fault: unknown) => {
        const { code: type, message } = this.#reportFailure(fault);
        if (end.status === "success") told = { ...end, status: "error", error: { type, message } };
      });
    }
    this.#observeEvent(told);
    log.sendToReaders(told, at);
    return told;
  }

  /** Stops writing, so that the log keeps its current state. */
  stopRecording(): void {
    this.#isSealed = true;
  }

  async close(): Promise<void> {
    // Telemetry's last messages belong in the log.
    await this.#telemetry?.then((telemetry) => telemetry.send()).catch(() => {});
    // A run whose reader has stopped may end later, so ignore its events.
    this.stopRecording();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#opening === null && this.#early.length === 0) this.#place.resumed?.lock.release();
    else await (await this.#open()).close();
  }

  #reportFailure(error: unknown): WorkspaceError {
    const where = this.#place.keep === undefined ? ` in ${this.#place.home}` : "";
    return new WorkspaceError(
      "not_recorded",
      [
        `The log of this session cannot be written${where} (${describeError(error)}),`,
        "and Burin makes no unrecorded changes. Fix this, or start with --no-session.",
      ].join(" "),
    );
  }

  async #openTelemetry({ id, settings, secrets }: RecordingOptions): Promise<Telemetry> {
    const noteMessage = (message: string) => this.note(createNotice(message));
    const { Telemetry: Class } = await import("./telemetry/telemetry.ts");
    return new Class({ id, settings, secrets, tell: noteMessage });
  }

  /** Passes an event to telemetry, in order. */
  #observeEvent(event: AgentEvent): void {
    const now = Date.now();
    // Failures of telemetry do not affect the session.
    this.#telemetry?.then((telemetry) => telemetry.note(event, now)).catch(() => {});
  }

  #open(): Promise<EventLog> {
    this.#opening ??= import("./log/event-log.ts").then(({ EventLog: Log }) => {
      const log = new Log(this.#place);
      this.#log = log;
      for (const early of this.#early) log.note(...early);
      this.#early = [];
      return log;
    });
    return this.#opening;
  }
}

/** Whether OpenTelemetry's usual variables or the user's settings turn telemetry on. */
function isTelemetryEnabled({ settings, secrets: { environment } }: RecordingOptions): boolean {
  const names = ["", "TRACES_", "METRICS_"].map((kind) => `OTEL_EXPORTER_OTLP_${kind}ENDPOINT`);
  const isNamed = settings.telemetry.endpoint !== undefined || names.some((name) => environment[name]);
  return isNamed && environment.OTEL_SDK_DISABLED?.toLowerCase() !== "true";
}

/** Whether the model knows, after this event, what was read or written before it. */
function completesStep(event: AgentEvent): boolean {
  if (event.type === "tool_call") return isAnswered(event.call);
  return event.type === "session" || (event.type === "text" && event.role === "user");
}
