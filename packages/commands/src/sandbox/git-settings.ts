import { writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import { isWithin } from "@burin/files/paths/paths";
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

/** What a line of git commands alone may do to git's configuration. */
export interface SettingsAccess {
  readonly files: readonly WritableSettings[];
  /** A hook of the line that must not write them, and so must run apart. */
  readonly hook: string | null;
}

interface AccessContext {
  /** The protected files that the line may write anyway. */
  readonly writes: readonly string[];
  readonly canConfineHook: () => Promise<boolean>;
  readonly environment: NodeJS.ProcessEnv;
}

/** A git folder, and the environment of the user whose git works there. */
interface UsedRepository {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

export const NO_ACCESS: SettingsAccess = { files: [], hook: null };

/**
 * Finds the configuration files that a line of git commands alone may write. None if git would start another program
 * for it, which could write them too, unless that is only the line's last hook.
 */
export async function findSettingsAccess(
  places: readonly ProtectedPath[],
  use: GitTriggers,
  { writes, canConfineHook, environment }: AccessContext,
): Promise<SettingsAccess> {
  const folders = places.flatMap(({ part, path }) => (part === "git folder" ? [path] : []));
  const starting = folders.map((folder) => ({
    folder,
    ...findStarted({ folder, environment }, use, writes),
  }));
  const isOther = (hook: string) => hook !== use.lastHook;
  if (starting.some(({ isProgram, hooks }) => isProgram || hooks.some(isOther))) return NO_ACCESS;
  const owners = starting.filter(({ hooks }) => hooks.length > 0);
  // In a submodule, git does not pass on where the hooks are that run apart.
  const mayBeSubmodule = owners.some((one) => !isOutermost(one.folder, folders));
  if (owners.some(({ hasIncludes }) => hasIncludes) || mayBeSubmodule) return NO_ACCESS;
  const hook = owners.length > 0 ? use.lastHook : null;
  if (hook !== null && !(await canConfineHook())) return NO_ACCESS;
  const files = places.filter(
    ({ part, kind, path }) =>
      part === "git file" && kind === "file" && /^config(?:\.worktree)?$/.test(basename(path)),
  );
  return { files: files.flatMap(({ path }) => readSettings(path, environment)), hook };
}

function readSettings(path: string, environment: NodeJS.ProcessEnv): WritableSettings[] {
  const stats = tryLstat(path);
  const bytes = stats?.isFile() && stats.nlink === 1 ? tryReadBytes(path, MAX_BYTES) : null;
  const programs = listNamedPrograms(path, environment);
  return stats === null || bytes === null || programs === null
    ? []
    : [{ path, bytes, mode: stats.mode, programs }];
}

/** Whether no other repository contains it, except for the one that a linked work tree belongs to. */
function isOutermost(folder: string, folders: readonly string[]): boolean {
  const own = folder.replace(/\/worktrees\/[^/]+$/, "");
  const holdsIt = (one: string) =>
    isWithin(own, one) || (basename(one) === ".git" && isWithin(own, dirname(one)));
  return !folders.some((one) => one !== own && holdsIt(one));
}

/** Why git could not write the settings of this repository for such a line; null if it can. */
export function explainShutSettings(
  repository: UsedRepository,
  use: GitTriggers,
  canConfineHook: boolean,
): string | null {
  const { isUnread, isProgram, hooks, hasIncludes } = findStarted(repository, use, []);
  if (isUnread) return "git did not say what its settings are";
  if (isProgram) return "its settings name a program that git runs for it";
  const isMet = canConfineHook && !hasIncludes;
  const hook = hooks.find((one) => !isMet || one !== use.lastHook);
  return hook === undefined ? null : `git runs the hook ${hook} for it`;
}

/** Whether git would run a hook of this repository, or a program that its settings name, for such a line. */
export function mayStartPrograms(repository: UsedRepository, use: GitTriggers): boolean {
  const { isProgram, hooks } = findStarted(repository, use, []);
  return isProgram || hooks.length > 0;
}

function findStarted(
  { folder, environment }: UsedRepository,
  { hooks, usesFiles }: GitTriggers,
  writes: readonly string[],
) {
  const settings = readFolderSettings(folder, environment);
  if (settings === null) return { isUnread: true, isProgram: true, hooks: [], hasIncludes: true };
  const hooksPath = settings.findLast(({ key }) => key === "core.hookspath")?.value;
  const place = hooksPath === undefined ? resolve(folder, "hooks") : resolve(dirname(folder), hooksPath);
  const names = tryReadEntries(place).map(({ name }) => name.replace(/\.exe$/i, ""));
  // Git itself may bring it, just before it would run it.
  const mayCome = writes.flatMap((path) => (isWithin(path, place) ? [basename(path)] : []));
  const isRun = (name: string) => (hooks === "any" ? !name.endsWith(".sample") : hooks.includes(name));
  const isUnknown = writes.some((path) => path !== place && isWithin(place, path));
  const own = settings.filter(({ scope }) => scope === "local" || scope === "worktree");
  return {
    isUnread: false,
    isProgram:
      isUnknown || (usesFiles && findProgramSetting(own, { changes: true, subcommand: "" }) !== null),
    hooks: [...names, ...mayCome].filter(isRun),
    hasIncludes: own.some(({ key }) => key.startsWith("include.")),
  };
}

/** Restores a file if an entry that may name a program was added, changed or removed. */
export function restoreSettings(
  open: readonly WritableSettings[],
  ground: {
    readonly roots: readonly string[];
    readonly home: string;
    readonly environment: NodeJS.ProcessEnv;
  },
): readonly TakenBack[] {
  return open.flatMap(({ path, bytes, mode, programs }) => {
    if (withFallback(null, () => tryReadBytes(path, MAX_BYTES))?.equals(bytes) === true) return [];
    const now = listNamedPrograms(path, ground.environment);
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
