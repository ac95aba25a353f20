import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { GitWork, RefChange } from "@burin/commands/git/git-work";
import { type Repository, type RepositorySnapshot, readNewParents } from "@burin/files/tree";
import type { GitChange } from "./journal-line.ts";

interface Looks {
  readonly earlier: RepositorySnapshot;
  readonly now: RepositorySnapshot;
}

/** Returns the small files of a repository whose content has changed. */
export function findChangedStateFiles({ gitDir }: Repository, { earlier, now }: Looks): string[] {
  const index = join(gitDir, "index");
  const isRefreshed = isSameIndex(earlier.index, now.index);
  return [...new Set([...earlier.stamps.keys(), ...now.stamps.keys()])].filter(
    (path) => earlier.stamps.get(path) !== now.stamps.get(path) && !(path === index && isRefreshed),
  );
}

/** Whether two indexes have the same entries. Ignores git's own notes that it has examined a file. */
export function isSameIndex(one: RepositorySnapshot["index"], other: RepositorySnapshot["index"]): boolean {
  if (one === null || other === null || one.size !== other.size) return false;
  for (const [path, { id, mode }] of one) {
    const same = other.get(path);
    if (same?.id !== id || same.mode !== mode) return false;
  }
  return true;
}

export function findRefChanges(
  earlier: RepositorySnapshot["refs"],
  now: RepositorySnapshot["refs"],
  others: ReadonlyMap<string, string | null>,
): RefChange[] {
  if (earlier === null || now === null) return [];
  const names = [...new Set([...earlier.keys(), ...now.keys()])].sort();
  return names.flatMap((name) => {
    const known = others.get(name);
    const before = known === undefined ? (earlier.get(name) ?? null) : known;
    const after = now.get(name) ?? null;
    return before === after ? [] : { name, before, after };
  });
}

const ID = /^[0-9a-f]{40,64}$/;
/** The size of a pack without objects: a header and a checksum. */
const EMPTY_PACK_BYTES = 44;
const MAX_OTHERS = 2000;

/** Packs the objects that the change made unreachable. Returns whether there were any. */
export function packDroppedCommits(
  git: GitWork,
  { earlier, now, change }: Looks & { readonly change: GitChange },
  file: string,
): boolean {
  const ids = new Set(change.refs.flatMap(({ before }) => before ?? []));
  const present = new Set([...(now.index?.values() ?? [])].map(({ id }) => id));
  for (const { id, mode } of earlier.index?.values() ?? [])
    if (!present.has(id) && (mode & 0o170000) !== 0o160000) ids.add(id);
  const kept = new Set(now.stashes);
  for (const id of [earlier.head, ...earlier.stashes]) if (ID.test(id) && !kept.has(id)) ids.add(id);
  if (ids.size === 0) return false;
  const ways = [now.head, ...now.stashes, ...(now.refs?.values() ?? [])].filter((id) => ID.test(id));
  const others = [...new Set(ways)].slice(0, MAX_OTHERS);
  // A commit on top of another one leads to it; asking git that takes longer than the rest of the look.
  const tips = [now.head, ...change.refs.map(({ after }) => after ?? "")].filter((id) => ID.test(id));
  const next = tips.flatMap((id) => readNewParents(change.repository, id) ?? []);
  if ([...ids].every((id) => others.includes(id) || next.includes(id))) return false;
  try {
    if (git.pack([...ids], others, file) === null && statSync(file).size > EMPTY_PACK_BYTES) return true;
  } catch {
    // Without the pack, git itself keeps such objects for two weeks.
  }
  rmSync(file, { force: true });
  return false;
}
