import type { SessionOptions, ToolboxOptions } from "./assembly/options.ts";
import { Session } from "./assembly/session.ts";
import { type RunOptions, Toolbox } from "./assembly/toolbox.ts";

export type { RunOptions, Session, SessionOptions, Toolbox, ToolboxOptions };

export function createToolbox(options: ToolboxOptions): Toolbox {
  return new Toolbox(options);
}

/** As `createSession`, which adds how settings and environment name models: `openModel` does. */
export function openSession(options: SessionOptions): Session {
  return new Session(options);
}
