import type { ChatModel, LogRecord, Question, SessionOptions } from "@burin/core";
import type { Limits } from "./limit-claims.ts";

/** What the fleet is given by the command line. */
export interface Ground {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** The folder that Burin was started in. */
  readonly root: string;
  readonly out: (text: string) => void;
  /** Tells the user, beside the output. */
  readonly note: (text: string) => void;
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  /** The options of a session in that folder, by the settings of this machine. Throws SettingsError. */
  readonly open: (root: string, models: AskedModels) => Promise<SessionOptions>;
  /** One record of a session in words; empty for one that is not worth a line. */
  readonly showRecord: (record: LogRecord) => string;
  /** What is asked, in words. */
  readonly showQuestion: (question: Question) => string;
}

interface AskedModels {
  readonly model: string | undefined;
  /** Stands around each request to a model. */
  readonly around: (model: ChatModel) => ChatModel;
}

/** What is wrong with how the fleet was asked, and what to do about it. */
export class FleetError extends Error {}

/** What stood on the command line behind `burin fleet`. */
export interface FleetRequest {
  readonly words: readonly string[];
  readonly database?: string;
  readonly concurrency: number;
  readonly limits: Limits;
  /** Of all tasks of a run together. */
  readonly budget?: string;
  /** Wait until all tasks have ended. */
  readonly follow: boolean;
  readonly run?: string;
  readonly json: boolean;
  readonly patches?: string;
  readonly predictions?: string;
  /** Of the web page; without it any that is free. */
  readonly port?: number;
}

/** What every command of the fleet works with. */
export interface Fleet {
  readonly url: string;
  readonly request: FleetRequest;
  readonly ground: Ground;
}
