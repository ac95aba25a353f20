import type { ReadyOptions, SessionOptions, ToolboxOptions } from "./assembly/options.ts";
import { Session } from "./assembly/session.ts";
import { type RunOptions, Toolbox } from "./assembly/toolbox.ts";

export type { ReadyOptions, RunOptions, Session, SessionOptions, Toolbox, ToolboxOptions };

export function createToolbox(options: ToolboxOptions): Toolbox {
  return new Toolbox(options);
}

/** Like `createSession`, but without models from settings and environment: `openModel` opens them. */
export function openSession(options: SessionOptions): Session {
  return new Session(options);
}
