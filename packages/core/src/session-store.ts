import { realDirectory } from "@burin/files/workspace/node-workspace";
import type { SessionOptions } from "./assembly/options.ts";
import type { Session } from "./assembly/session.ts";
import { createSession } from "./configured-session.ts";
import { findSession } from "./session/log/session-files.ts";
import { type SessionSummary, sessionSummaries } from "./session/log/session-summary.ts";
import { forkSession, resumeSession } from "./session/resume.ts";
import { burinHome } from "./settings/load-settings.ts";

/** Where the sessions of a folder are recorded. */
export interface StoreOptions {
  /** The folder that the sessions work in. */
  readonly root: string;
  /** The folder that they are recorded in. Default: `~/.burin`, or the folder in BURIN_HOME. */
  readonly home?: string | undefined;
}

/** What a session of a store takes; the store knows the rest. */
export type StoredSessionOptions = Omit<SessionOptions, "root" | "home" | "record" | "resume">;

/** From which turn of the model on a copy goes its own way. */
export interface ForkOptions extends StoredSessionOptions {
  /** The last turn of the model that the copy contains; 0 keeps only the first prompt. Default: all of it. */
  readonly at?: number;
}

/** The recorded sessions of one folder. Made by `openStore`. */
export interface SessionStore {
  /** Opens a new session. */
  create(options?: StoredSessionOptions): Promise<Session>;
  /**
   * Opens a session again, by its id or the beginning of it; without one, that which was used last. No other process
   * can open it until it is closed. Rejects with SessionError, which says what to do instead.
   */
  resume(id?: string, options?: StoredSessionOptions): Promise<Session>;
  /** The sessions, most recently used first. */
  list(): Promise<readonly SessionSummary[]>;
  /** Opens a copy of a session, which stays as it is. */
  fork(id: string, options?: ForkOptions): Promise<Session>;
}

/**
 * Opens the sessions that are recorded for a folder. Starts and reads nothing.
 *
 * @example
 * const store = openStore({ root: process.cwd() });
 * const session = await store.resume(id, { model });
 * session.answer(questionId, { outcome: "once" });
 * for await (const event of session.continue()) console.log(event);
 */
export function openStore({ root: given, home: folder }: StoreOptions): SessionStore {
  const home = folder ?? burinHome(process.env);
  const root = realDirectory(given);
  const open = (options: StoredSessionOptions, more: Partial<SessionOptions> = {}) =>
    createSession({ ...options, ...more, root, home, record: true });
  const resume = async (id: string | undefined, options: StoredSessionOptions, isFork: boolean) => {
    const found = await resumeSession({ home, root, ...(id === undefined ? {} : { id }), fork: isFork });
    try {
      return open(options, { resume: found });
    } catch (error) {
      found.lock.release();
      throw error;
    }
  };
  return {
    create: async (options = {}) => open(options),
    resume: (id, options = {}) => resume(id, options, false),
    list: () => sessionSummaries(home, root),
    fork: async (id, { at: turn, ...options } = {}) => {
      if (turn === undefined) return resume(id, options, true);
      const place = await findSession(home, root, id);
      return resume(await forkSession({ home, root, place, turn }), options, false);
    },
  };
}
