import type { Question, SessionOptions } from "@burin/core";
import type { ChatModel, LogRecord } from "@burin/core/sessions";
import type { Limits } from "./admission.ts";

/** What the command line passes to the fleet. */
export interface FleetOptions {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** The folder in which Burin was started. */
  readonly root: string;
  readonly out: (text: string) => void;
  /** Writes a message for the user to stderr. */
  readonly note: (text: string) => void;
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  /** Returns the options of a session in that folder, by this machine's settings. Throws SettingsError. */
  readonly open: (root: string, models: ModelOptions) => Promise<SessionOptions>;
  /** Describes one record of a session; empty if it is not worth a line. */
  readonly showRecord: (record: LogRecord) => string;
  /** Describes a question. */
  readonly showQuestion: (question: Question) => string;
}

interface ModelOptions {
  readonly model: string | undefined;
  /** Wraps each request to a model. */
  readonly around: (model: ChatModel) => ChatModel;
}

/** What is wrong with a fleet command, and what to do about it. */
export class FleetError extends Error {}

/** The command line after `burin fleet`. */
export interface FleetRequest {
  readonly words: readonly string[];
  readonly database?: string | undefined;
  readonly concurrency: number;
  readonly limits: Limits;
  /** For all tasks of a run together. */
  readonly budget?: string | undefined;
  /** Whether to work on the run, or to show the log, until all has ended. */
  readonly follow: boolean;
  readonly run?: string | undefined;
  readonly json: boolean;
  readonly patches?: string | undefined;
  readonly predictions?: string | undefined;
  /** The port of the web page; otherwise any free one. */
  readonly port?: number | undefined;
  /** Where a worker says how it is: `8080` or `0.0.0.0:8080`. */
  readonly health?: string | undefined;
  /** What the commands of one task may have in memory: `500M` or `2G`. */
  readonly taskMemory?: string | undefined;
  /** Of `remove`: it is meant. */
  readonly yes: boolean;
}

/** What every fleet command works with. */
export interface Fleet {
  readonly url: string;
  readonly request: FleetRequest;
  readonly ground: FleetOptions;
}
