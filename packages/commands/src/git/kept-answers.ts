import type { Stats } from "node:fs";
import { tryLstat, tryRealPath } from "@burin/files/disk/disk-looks";

interface AnswerWithSources<T> {
  readonly answer: T;
  /**
   * The files, folders and links that the answer depends on, including missing ones; of a folder only its identity
   * counts. null means that the answer must not be cached.
   */
  readonly sources: readonly string[] | null;
}

/** A file changed this recently may change again without a new time stamp. */
const DOUBTFUL_MS = 100;
const MAX_KEPT = 200;

/** Caches answers of a program as long as none of its sources has changed. */
export class AnswerCache<T> {
  readonly #kept = new Map<string, { answer: T; sources: readonly string[]; state: string }>();

  /**
   * If a source changed at about the time of asking or later, the program may have read the old version, so the answer
   * is not cached.
   */
  answer(question: string, ask: () => AnswerWithSources<T>): T {
    const kept = this.#kept.get(question);
    if (kept !== undefined && readSourceStamps(kept.sources).text === kept.state) return kept.answer;
    const askedAt = Date.now();
    const { answer, sources } = ask();
    this.#kept.delete(question);
    if (sources === null) return answer;
    const { text: state, changed } = readSourceStamps(sources);
    if (changed < askedAt - DOUBTFUL_MS) this.#kept.set(question, { answer, sources, state });
    for (const oldest of [...this.#kept.keys()].slice(0, -MAX_KEPT)) this.#kept.delete(oldest);
    return answer;
  }
}

function readSourceStamps(sources: readonly string[]): { readonly text: string; readonly changed: number } {
  let changed = 0;
  const formatStats = (stats: Stats | null): string => {
    if (stats === null) return "-";
    const { dev, ino, uid, mode, ctimeMs, size } = stats;
    changed = Math.max(changed, ctimeMs);
    return [dev, ino, uid, mode, ...(stats.isDirectory() ? [] : [ctimeMs, size])].join(":");
  };
  const each = sources.map((path) => {
    const stats = tryLstat(path);
    return stats?.isSymbolicLink()
      ? `${formatStats(stats)}>${formatStats(tryLstat(tryRealPath(path) ?? ""))}`
      : formatStats(stats);
  });
  return { text: each.join(" "), changed };
}
