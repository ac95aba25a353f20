import { writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { withFallback } from "@burin/contract/or-else";
import { tryLstat, tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import type { GitTriggers } from "@burin/shell-judge";
import { findProgramSetting } from "../git/git-programs.ts";
import type { TakenBack } from "../processes/limited-program.ts";
import { listNamedPrograms, readFolderSettings } from "./judge-repository.ts";
import { findProtectedPath, formatFileId, type ProtectedPath } from "./sandbox-place.ts";
import { takeBack } from "./taken-back.ts";

/** A git configuration file that the command may change, as it was before. */
export interface WritableSettings {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
  /** Its entries that may name a program. */
  readonly programs: readonly string[];
}

const MAX_BYTES = 256 * 1024;

/**
 * Finds the configuration files that a line of git commands alone may write. None if git would start another program
 * for it, which could write them too.
 */
export function findWritableSettings(
  places: readonly ProtectedPath[],
  use: GitTriggers,
): readonly WritableSettings[] {
  const folders = places.filter(({ part }) => part === "git folder");
  if (folders.some(({ path }) => mayStartPrograms(path, use))) return [];
  const files = places.filter(
    ({ part, kind, path }) =>
      part === "git file" && kind === "file" && /^config(?:\.worktree)?$/.test(basename(path)),
  );
  return files.flatMap(({ path }) => {
    const stats = tryLstat(path);
    const bytes = stats?.isFile() && stats.nlink === 1 ? tryReadBytes(path, MAX_BYTES) : null;
    const programs = listNamedPrograms(path);
    return stats === null || bytes === null || programs === null
      ? []
      : [{ path, bytes, mode: stats.mode, programs }];
  });
}

/** Whether git would run a hook of this repository, or a program that its settings name, for such a line. */
export function mayStartPrograms(folder: string, { hooks, usesFiles }: GitTriggers): boolean {
  const settings = readFolderSettings(folder);
  if (settings === null) return true;
  const hooksPath = settings.findLast(({ key }) => key === "core.hookspath")?.value;
  const place = hooksPath === undefined ? resolve(folder, "hooks") : resolve(dirname(folder), hooksPath);
  const names = tryReadEntries(place).map(({ name }) => name.replace(/\.exe$/i, ""));
  const isRun = (name: string) => (hooks === "any" ? !name.endsWith(".sample") : hooks.includes(name));
  if (names.some(isRun)) return true;
  const own = settings.filter(({ scope }) => scope === "local" || scope === "worktree");
  return usesFiles && findProgramSetting(own, { changes: true, subcommand: "" }) !== null;
}

/** Restores a file if an entry that may name a program was added, changed or removed. */
export function restoreSettings(
  open: readonly WritableSettings[],
  ground: { readonly roots: readonly string[]; readonly home: string },
): readonly TakenBack[] {
  return open.flatMap(({ path, bytes, mode, programs }) => {
    if (withFallback(null, () => tryReadBytes(path, MAX_BYTES))?.equals(bytes) === true) return [];
    const now = listNamedPrograms(path);
    if (now !== null && now.join("\0") === programs.join("\0")) return [];
    const folder = tryLstat(dirname(path));
    const place = folder === null ? null : findProtectedPath(path, formatFileId(folder), "git file");
    const why = "a command changed a setting with which git can run programs";
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    // Another program may have created it again, or the disk is full.
    if (place === null || (taken !== null && taken.kept !== null))
      withFallback(undefined, () => writeFileSync(path, bytes, { flag: "wx", mode }));
    return taken === null ? [] : [taken];
  });
}
