import { writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { bytesOf, entriesOf, lstatOf } from "@burin/files/disk/disk-looks";
import type { GitStarts } from "@burin/shell-judge";
import { programIn } from "../git/git-programs.ts";
import type { TakenBack } from "../processes/limited-program.ts";
import { namedPrograms, settingsOfFolder } from "./judge-repository.ts";
import { idOf, type Place, placeAt } from "./sandbox-place.ts";
import { takeBack } from "./taken-back.ts";

/** A configuration file of git that commands may change, as it was before. */
export interface OpenSettings {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
  /** Its entries that may name a program. */
  readonly programs: readonly string[];
}

const MOST_BYTES = 256 * 1024;

/**
 * The configuration files that a line made of git commands alone may write: none where git would start something else
 * for it, as that could write them too.
 */
export function openSettings(places: readonly Place[], use: GitStarts): readonly OpenSettings[] {
  const folders = places.filter(({ part }) => part === "git folder");
  if (folders.some(({ path }) => mayStartPrograms(path, use))) return [];
  const files = places.filter(
    ({ part, kind, path }) =>
      part === "git file" && kind === "file" && /^config(?:\.worktree)?$/.test(basename(path)),
  );
  return files.flatMap(({ path }) => {
    const stats = lstatOf(path);
    const bytes = stats?.isFile() && stats.nlink === 1 ? bytesOf(path, MOST_BYTES) : null;
    const programs = namedPrograms(path);
    return stats === null || bytes === null || programs === null
      ? []
      : [{ path, bytes, mode: stats.mode, programs }];
  });
}

/** Whether git would run a hook of this repository, or a program that its settings name, for such a line. */
export function mayStartPrograms(folder: string, { hooks, usesFiles }: GitStarts): boolean {
  const settings = settingsOfFolder(folder);
  if (settings === null) return true;
  const hooksPath = settings.findLast(({ key }) => key === "core.hookspath")?.value;
  const place = hooksPath === undefined ? resolve(folder, "hooks") : resolve(dirname(folder), hooksPath);
  const names = entriesOf(place).map(({ name }) => name.replace(/\.exe$/i, ""));
  const isRun = (name: string) => (hooks === "any" ? !name.endsWith(".sample") : hooks.includes(name));
  if (names.some(isRun)) return true;
  const own = settings.filter(({ scope }) => scope === "local" || scope === "worktree");
  return usesFiles && programIn(own, { changes: true, subcommand: "" }) !== null;
}

/** Puts a file back in which an entry that may name a program is new, other or gone. */
export function restoreSettings(
  open: readonly OpenSettings[],
  ground: { readonly roots: readonly string[]; readonly home: string },
): readonly TakenBack[] {
  return open.flatMap(({ path, bytes, mode, programs }) => {
    if (orElse(null, () => bytesOf(path, MOST_BYTES))?.equals(bytes) === true) return [];
    const now = namedPrograms(path);
    if (now !== null && now.join("\0") === programs.join("\0")) return [];
    const folder = lstatOf(dirname(path));
    const place = folder === null ? null : placeAt(path, idOf(folder), "git file");
    const why = "a command changed a setting with which git can run programs";
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    // Another program may have made it again, or the disk is full.
    if (place === null || (taken !== null && taken.kept !== null))
      orElse(undefined, () => writeFileSync(path, bytes, { flag: "wx", mode }));
    return taken === null ? [] : [taken];
  });
}
