import type { Stats } from "node:fs";
import { lstatOf, realOf } from "@burin/files/disk/disk-looks";

interface Asked<T> {
  readonly answer: T;
  /** Files, folders and links, also missing ones; for a folder only its identity counts. null: not to be kept. */
  readonly sources: readonly string[] | null;
}

/** A file that was changed this recently may change again with the same time stamp. */
const DOUBTFUL_MS = 100;
const MOST_KEPT = 200;

/** Caches answers of a program as long as none of its sources has changed. */
export class KeptAnswers<T> {
  readonly #kept = new Map<string, { answer: T; sources: readonly string[]; state: string }>();

  /**
   * If a source was changed about the time of asking or later, the program may not have seen it, so the answer is
   * not cached.
   */
  answer(question: string, ask: () => Asked<T>): T {
    const kept = this.#kept.get(question);
    if (kept !== undefined && stateOf(kept.sources).text === kept.state) return kept.answer;
    const askedAt = Date.now();
    const { answer, sources } = ask();
    this.#kept.delete(question);
    if (sources === null) return answer;
    const { text: state, changed } = stateOf(sources);
    if (changed < askedAt - DOUBTFUL_MS) this.#kept.set(question, { answer, sources, state });
    for (const oldest of [...this.#kept.keys()].slice(0, -MOST_KEPT)) this.#kept.delete(oldest);
    return answer;
  }
}

function stateOf(sources: readonly string[]): { readonly text: string; readonly changed: number } {
  let changed = 0;
  const told = (stats: Stats | null): string => {
    if (stats === null) return "-";
    const { dev, ino, uid, mode, ctimeMs, size } = stats;
    changed = Math.max(changed, ctimeMs);
    return [dev, ino, uid, mode, ...(stats.isDirectory() ? [] : [ctimeMs, size])].join(":");
  };
  const each = sources.map((path) => {
    const stats = lstatOf(path);
    return stats?.isSymbolicLink() ? `${told(stats)}>${told(lstatOf(realOf(path) ?? ""))}` : told(stats);
  });
  return { text: each.join(" "), changed };
}
