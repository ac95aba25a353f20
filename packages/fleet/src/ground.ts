import type { Question, SessionOptions } from "@burin/core";
import type { ChatModel, LogRecord } from "@burin/core/sessions";
import type { Limits } from "./admission.ts";

/** What the command line passes to the fleet. */
export interface FleetOptions {
  /** `~/.burin`, or the folder that BURIN_HOME names. */
  readonly home: string;
  /** The folder in which Burin was started. */
  readonly root: string;
  readonly out: (text: string) => void;
  /** Writes a message for the user to stderr. */
  readonly note: (text: string) => void;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
  /** Returns a session's options for that folder, with this machine's settings. Throws SettingsError. */
  readonly open: (root: string, models: ModelOptions) => Promise<SessionOptions>;
  /** Formats one record of a session; returns "" if it is not worth a line. */
  readonly showRecord: (record: LogRecord) => string;
  /** Formats a question. */
  readonly showQuestion: (question: Question) => string;
}

interface ModelOptions {
  readonly model: string | undefined;
  /** Wraps each request to a model. */
  readonly around: (model: ChatModel) => ChatModel;
}

/** An error in the use of a fleet command. The message says what to do about it. */
export class FleetError extends Error {}

/** The command line after `burin fleet`. */
export interface FleetRequest {
  readonly words: readonly string[];
  readonly database?: string | undefined;
  readonly concurrency: number;
  readonly limits: Limits;
  /** The budget for all tasks of a run together. */
  readonly budget?: string | undefined;
  /** Whether to work on the run, or show the log, until everything has ended. */
  readonly follow: boolean;
  readonly run?: string | undefined;
  readonly json: boolean;
  readonly patches?: string | undefined;
  readonly predictions?: string | undefined;
  /** The port of the web page; any free port if undefined. */
  readonly port?: number | undefined;
  /** The address at which a worker reports its health, such as `8080` or `0.0.0.0:8080`. */
  readonly health?: string | undefined;
  /** The maximum memory that the commands of one task may use, such as `500M` or `2G`. */
  readonly taskMemory?: string | undefined;
  /** true if the user has confirmed `remove`. */
  readonly yes: boolean;
}

/** What every fleet command gets. */
export interface Fleet {
  readonly url: string;
  readonly request: FleetRequest;
  readonly ground: FleetOptions;
}
