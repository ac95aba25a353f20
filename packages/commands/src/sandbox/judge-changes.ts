import { writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { findWorkTreeTop, tryLstat, tryReadBytes, tryReadEntries } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { explainProtectedFile } from "@burin/shell-judge";
import type { TakenBack } from "../processes/limited-program.ts";
import { restoreSettings, type WritableSettings } from "./git-settings.ts";
import { findStepFaults } from "./git-steps.ts";
import {
  explainGitFileRisk,
  explainRepositoryRisk,
  isCommitted,
  readLinkedFolder,
} from "./judge-repository.ts";
import { type RefTips, wasInCommits } from "./known-content.ts";
import { type AllowedCalls, hashFile, type WritePermissions } from "./permissions.ts";
import { findProtectedPath, formatFileId, type ProtectedPath } from "./sandbox-place.ts";
import { isPureGitFolder, listFiles, type Survey } from "./sandbox-survey.ts";
import { restoreLink, takeBack } from "./taken-back.ts";

/** File systems have coarse time stamps: a new file may seem one step older than it is. */
const TIME_STEP_MS = 20;
/** A program may be about to rename or remove what it has just created, so wait this long. */
const UNSETTLED_MS = 10_000;

export interface GuardContext {
  readonly roots: readonly string[];
  /** What is taken back is kept in it. */
  readonly home: string;
  /** The user's, which says where git and its settings are. */
  readonly environment: NodeJS.ProcessEnv;
  /** What is there by now. */
  readonly survey: Survey;
  readonly isGoingOn?: boolean;
}

/** The state before the commands that are being checked. */
export interface StateBefore extends Pick<Survey, "named"> {
  readonly places: ReadonlyMap<
    string,
    Pick<ProtectedPath, "kind" | "target"> & Partial<Pick<ProtectedPath, "id" | "path">>
  >;
  /** Only changes after this time can come from the commands. */
  readonly since: number;
  readonly until?: number;
  readonly calls: AllowedCalls;
  readonly tips: RefTips;
  /** Lines with which git would run a program, of a rebase that had stopped. */
  readonly steps: ReadonlySet<string>;
  /** What the command may write although it is protected, and all below it. */
  readonly writes?: readonly string[];
  /** Files in protected folders of which the command may write only some. */
  readonly others?: ReadonlySet<string>;
  /** Configuration files of git that could be changed. */
  readonly settings?: readonly WritableSettings[];
  /** Git folders outside the roots that belong to the project. */
  readonly gitFolders?: readonly string[];
  /** Files with a second name, which a command can change although this name is read-only for it. */
  readonly shared?: readonly SharedFile[];
}

/** Moves what commands created under protected names, or for git to run, to Burin's own folder. */
export function takeBackCreated(before: StateBefore, ground: GuardContext): readonly TakenBack[] {
  const places = [...ground.survey.places.values()];
  const restored = [...restoreSettings(before.settings ?? [], ground), ...restoreShared(before, ground)];
  if (ground.isGoingOn !== true) removeStandIns(places, before, ground);
  const steps = places.flatMap((place) =>
    place.part === "git folder" ? cleanSteps(place, before, ground) : [],
  );
  const made = places.filter((place) => wasCreated(place, before));
  const judged = made.length === 0 ? [] : new ChangeJudge(before, ground).takeBack(made);
  return [...restored, ...steps, ...judged];
}

/**
 * When a protected file is removed while it is being mounted, bubblewrap creates an empty stand-in. It is moved away
 * like the rest, but not reported.
 */
function removeStandIns(places: readonly ProtectedPath[], before: StateBefore, ground: GuardContext): void {
  const folders = new Set([...before.places.values()].map(({ path }) => path));
  for (const place of places) {
    const known = before.places.get(place.key);
    const isOther =
      place.part === "git folder"
        ? known === undefined && folders.has(place.path)
        : known?.id !== undefined && known.id !== place.id;
    if (isOther && isEmpty(place)) takeBack(place, { ...ground, why: "" });
  }
}

function isEmpty({ path, kind, part }: ProtectedPath): boolean {
  if (part === "git folder") return tryLstat(join(path, "HEAD")) === null;
  return kind === "folder" ? tryReadEntries(path).length === 0 : tryLstat(path)?.size === 0;
}

/** A stopped rebase continues with its earlier steps and with those that git itself adds. */
function cleanSteps(
  { path: folder }: ProtectedPath,
  { steps }: StateBefore,
  ground: GuardContext,
): TakenBack[] {
  return findStepFaults(folder, steps).flatMap(({ path, why, rest }) => {
    const place = findPlace(path);
    const mode = tryLstat(path)?.mode;
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    if (taken === null) return [];
    if (taken.kept !== null && rest !== null && mode !== undefined)
      withFallback(undefined, () => writeFileSync(path, rest, { flag: "wx", mode }));
    return [taken];
  });
}

function wasCreated(place: ProtectedPath, before: StateBefore): boolean {
  const known = before.places.get(place.key);
  const { writes = [] } = before;
  if (isWithinAny(place.path, writes)) return false;
  // The command could write in this folder, because some of its files are allowed.
  if (place.kind === "folder" && writes.some((one) => isWithin(one, place.path)))
    return place.part === "name";
  if (known !== undefined && !wasFolderCreated(place, before.since)) {
    // Everything but links was mounted read-only, so no command can have changed it.
    return known.kind === "link" && (place.kind !== "link" || place.target !== known.target);
  }
  if (before.until === undefined) return true;
  const changed = tryLstat(place.path)?.ctimeMs ?? 0;
  return changed >= before.since - TIME_STEP_MS && changed <= before.until;
}

/**
 * Inode numbers may be reused, so compare the birth time. Rounding down to whole milliseconds keeps what was created
 * just before the first look from counting as new.
 */
function wasFolderCreated({ path, part }: ProtectedPath, since: number): boolean {
  const stats = tryLstat(part === "git folder" ? path : dirname(path));
  // Some systems do not know the birth time and report zero or the time of the last change.
  return stats !== null && Math.floor(stats.birthtimeMs) > since && stats.birthtimeMs < stats.ctimeMs;
}

class ChangeJudge {
  readonly #before: StateBefore;
  readonly #ground: GuardContext;
  readonly #allowed: WritePermissions;
  readonly #taken: TakenBack[] = [];

  constructor(before: StateBefore, ground: GuardContext) {
    this.#before = before;
    this.#ground = ground;
    this.#allowed = before.calls.read();
  }

  takeBack(made: readonly ProtectedPath[]): readonly TakenBack[] {
    const isGoingOn = this.#ground.isGoingOn === true;
    const settled = made.filter(({ path }) => !this.#allowed.mayStillChange(path, isGoingOn));
    const of = (part: ProtectedPath["part"]) => settled.filter((place) => place.part === part);
    const folders = new Set(of("git folder").map(({ path }) => path));
    for (const place of of("git folder")) this.#judgeFolder(place);
    for (const place of of("git file")) {
      if (!folders.has(dirname(place.path)) || place.kind === "link")
        this.#take(place, explainGitFileRisk(place, this.#ground.environment));
    }
    for (const place of of("in git"))
      if (!isGoingOn || !isUnsettled(place))
        this.#take(place, "git does not write it, and a program may run it");
    for (const place of of("git link")) this.#judgeLink(place);
    for (const place of of("way out")) this.#take(place, "it leads out of the project");
    for (const place of of("named")) this.#take(place, "git reads or runs files there");
    for (const place of of("name")) this.#judgeName(place);
    return this.#taken;
  }

  /** From a folder, takes back only what nobody allowed; the rest may be what the user wants. */
  #judgeName(place: ProtectedPath): void {
    const files = place.kind === "folder" ? listFiles(place.path) : [place.path];
    const foreign = files.filter((file) => !this.#isKnown(file));
    if (foreign.length === 0 && (files.length > 0 || this.#before.places.has(place.key))) return;
    const isAll = foreign.length === files.length;
    for (const one of isAll ? [place] : foreign.flatMap((file) => findPlace(file) ?? []))
      this.#take(one, explainProtected(place.path));
  }

  /** The user has allowed this content there, or a repository contained it before the command. */
  #isKnown(file: string): boolean {
    const { writes = [], others, tips } = this.#before;
    if (isWithinAny(file, writes) || others?.has(file) === true) return true;
    return this.#isAllowed(file) || wasInCommits(file, tips, this.#ground.environment);
  }

  #isAllowed(file: string): boolean {
    const hash = this.#allowed.isEmpty ? null : hashFile(file);
    return hash !== null && this.#allowed.covers(file, hash);
  }

  #judgeFolder(place: ProtectedPath): void {
    const reason = explainRepositoryRisk(place.path, this.#ground.environment);
    if (reason === null) return;
    if (isPureGitFolder(place.path)) this.#take(place, reason);
    else this.#takeGitFiles(place, reason);
  }

  /** Any folder can be made to look like a git folder, and its other files may be the user's work. */
  #takeGitFiles(place: ProtectedPath, reason: string): void {
    const stats = tryLstat(place.path);
    const id = stats === null ? "" : formatFileId(stats);
    for (const name of ["HEAD", "hooks", "config", "config.worktree", "commondir"]) {
      const file = findProtectedPath(join(place.path, name), id, "git file");
      if (file !== null) this.#take(file, reason);
    }
  }

  /** A git folder that does not exist yet is checked when it is created, if it will be noticed there. */
  #judgeLink(place: ProtectedPath): void {
    const folder = readLinkedFolder(place);
    if (folder === null || !(this.#hasGitFolder(folder) || this.#mayCome(folder)))
      this.#take(place, "it leads git elsewhere");
  }

  #hasGitFolder(folder: string): boolean {
    const { survey } = this.#ground;
    return [...survey.places.values()].some(({ part, path }) => part === "git folder" && path === folder);
  }

  /** It may also have appeared since the last check, or be incomplete; git uses no folder without these files. */
  #mayCome(folder: string): boolean {
    if (!isWithinAny(folder, this.#ground.roots)) return false;
    const has = (name: string) => tryLstat(join(folder, name)) !== null;
    if (!has("HEAD") || !(has("commondir") || (has("objects") && has("refs")))) return true;
    // It became one just after the last check, and the next check will find it.
    const { isGoingOn, environment } = this.#ground;
    return isGoingOn === true && explainRepositoryRisk(folder, environment) === null;
  }

  #take(place: ProtectedPath, why: string | null): void {
    if (why === null || this.#taken.some(({ path }) => isWithin(place.path, path))) return;
    if (place.kind === "file" && place.part !== "name" && this.#isAllowed(place.path)) return;
    const isDisputed = this.#allowed.isDisputed(place.path);
    const doubt = isDisputed
      ? "; a command without the sandbox ran too, and which of them made it is not known"
      : "";
    const taken = takeBack(place, { ...this.#ground, why: `${why}${doubt}` });
    if (taken === null) return;
    this.#taken.push(taken);
    const target = this.#before.places.get(place.key)?.target;
    if (target !== undefined && taken.kept !== null) restoreLink(place.path, target);
  }
}

function findPlace(file: string): ProtectedPath | null {
  const folder = tryLstat(dirname(file));
  return folder === null ? null : findProtectedPath(file, formatFileId(folder), "name");
}

function isUnsettled({ path }: ProtectedPath): boolean {
  return Date.now() - (tryLstat(path)?.ctimeMs ?? 0) < UNSETTLED_MS;
}

function explainProtected(path: string): string {
  return explainProtectedFile(path.split(sep).slice(-3).join("/")) ?? "a protected name";
}

/** Determined after everything else: git writes a checkout's files before it notes their commit. */
export function markTracked(
  taken: readonly TakenBack[],
  environment: NodeJS.ProcessEnv,
): readonly TakenBack[] {
  return taken.map((one) => (isFromCommit(one, environment) ? { ...one, isCommitted: true } : one));
}

function isFromCommit({ path, kept }: TakenBack, environment: NodeJS.ProcessEnv): boolean {
  const workTree = findWorkTreeTop(dirname(path));
  if (kept === null || workTree === null) return false;
  return isCommitted(path, { folder: join(workTree, ".git"), workTree, environment }, kept);
}

/** A protected file with more than one hard link, and its content. */
interface SharedFile {
  /** The key of the protected path that it is at or below. */
  readonly key: string;
  readonly path: readonly string[];
  readonly changed: number;
  readonly mode: number;
  readonly content: Buffer;
}

const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 500;

/** A read-only mount covers one name of a file. Another hard link may still be writable. */
export function findSharedFiles(places: Iterable<ProtectedPath>): readonly SharedFile[] {
  const found: SharedFile[] = [];
  let looked = 0;
  const look = (top: ProtectedPath, path: readonly string[]): void => {
    looked += 1;
    const file = join(top.path, ...path);
    const stats = looked > MAX_FILES ? null : tryLstat(file);
    if (stats === null) return;
    if (stats.isDirectory()) for (const { name } of tryReadEntries(file)) look(top, [...path, name]);
    if (!stats.isFile() || stats.nlink < 2) return;
    const content = tryReadBytes(file, MAX_BYTES);
    if (content !== null)
      found.push({ key: top.key, path, changed: stats.ctimeMs, mode: stats.mode, content });
  };
  for (const place of places) if (place.part !== "git folder") look(place, []);
  return found;
}

/** Restores files whose content was changed. The survey says where the protected files are now. */
function restoreShared({ shared = [] }: StateBefore, ground: GuardContext): readonly TakenBack[] {
  return shared.flatMap(({ key, path, changed, mode, content }) => {
    const top = ground.survey.places.get(key);
    if (top === undefined) return [];
    const file = join(top.path, ...path);
    const stats = tryLstat(file);
    if (stats === null || !stats.isFile() || stats.nlink < 2 || stats.ctimeMs === changed) return [];
    if (tryReadBytes(file, MAX_BYTES)?.equals(content) === true) return [];
    const folder = tryLstat(dirname(file));
    const place = folder === null ? null : findProtectedPath(file, formatFileId(folder), top.part);
    const why = "it was changed under another of its names";
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    if (taken === null) return [];
    // Another program may have created it again, or the disk is full. The removed content is kept in any case.
    if (taken.kept !== null)
      withFallback(undefined, () => writeFileSync(file, content, { flag: "wx", mode }));
    return [taken];
  });
}
