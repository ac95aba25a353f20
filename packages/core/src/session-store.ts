import { resolveDirectory } from "@burin/files/workspace/node-workspace";
import type { SessionOptions } from "./assembly/options.ts";
import type { Session } from "./assembly/session.ts";
import { createSession } from "./configured-session.ts";
import { findSession } from "./session/log/session-files.ts";
import { listSessionSummaries, type SessionSummary } from "./session/log/session-summary.ts";
import { forkSession, resumeSession } from "./session/resume.ts";
import { resolveBurinHome } from "./settings/load-settings.ts";

/** Which sessions a store opens. */
export interface StoreOptions {
  /** The folder in which the sessions work. */
  readonly root: string;
  /** The folder in which they are recorded. Default: `~/.burin`, or the folder in BURIN_HOME. */
  readonly home?: string | undefined;
}

/** The options of a session in a store. The store itself sets the others. */
export type StoredSessionOptions = Omit<SessionOptions, "root" | "home" | "record" | "resume">;

/** Options of a copy: at which turn of the model it leaves the original. */
export interface ForkOptions extends StoredSessionOptions {
  /** The last turn of the model that the copy contains. 0 keeps only the first prompt. Default: all turns. */
  readonly at?: number;
}

/** The recorded sessions of one folder. Created by `openStore`. */
export interface SessionStore {
  /** Opens a new session. */
  create(options?: StoredSessionOptions): Promise<Session>;
  /**
   * Resumes a session by its id or the beginning of its id. Without one, resumes the most recently used session. No
   * other process can open it until it is closed. Rejects with a SessionError that says what to do instead.
   */
  resume(id?: string, options?: StoredSessionOptions): Promise<Session>;
  /** Lists the sessions, most recently used first. */
  list(): Promise<readonly SessionSummary[]>;
  /** Opens a copy of a session. The original does not change. */
  fork(id: string, options?: ForkOptions): Promise<Session>;
}

/**
 * Opens the store of the sessions recorded for a folder. Starts and reads nothing.
 * @example
 * const store = openStore({ root: process.cwd() });
 * const session = await store.resume(id, { model });
 * session.answer(questionId, { outcome: "once" });
 * for await (const event of session.continue()) console.log(event);
 */
export function openStore({ root: given, home: folder }: StoreOptions): SessionStore {
  const home = folder ?? resolveBurinHome(process.env);
  const root = resolveDirectory(given);
  const openSession = (options: StoredSessionOptions, more: Partial<SessionOptions> = {}) =>
    createSession({ ...options, ...more, root, home, record: true });
  const resume = async (id: string | undefined, options: StoredSessionOptions, isFork: boolean) => {
    const found = await resumeSession({ home, root, ...(id === undefined ? {} : { id }), fork: isFork });
    try {
      return openSession(options, { resume: found });
    } catch (error) {
      found.lock.release();
      throw error;
    }
  };
  return {
    create: async (options = {}) => openSession(options),
    resume: (id, options = {}) => resume(id, options, false),
    list: () => listSessionSummaries(home, root),
    fork: async (id, { at: turn, ...options } = {}) => {
      if (turn === undefined) return resume(id, options, true);
      const place = await findSession(home, root, id);
      return resume(await forkSession({ home, root, place, turn }), options, false);
    },
  };
}
