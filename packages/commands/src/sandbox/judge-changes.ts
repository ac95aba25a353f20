import { writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { bytesOf, entriesOf, lstatOf } from "@burin/files/disk/disk-looks";
import { gitTopOf } from "@burin/files/ignore/git-excludes";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { protectedFile } from "@burin/shell-judge";
import type { TakenBack } from "../processes/limited-program.ts";
import { type OpenSettings, restoreSettings } from "./git-settings.ts";
import { findStepFaults } from "./git-steps.ts";
import { folderOfLink, isCommitted, programInGitFile, programInRepository } from "./judge-repository.ts";
import { hadBefore, type Tips } from "./known-content.ts";
import { type Allowed, type AllowedCalls, hashOfFile } from "./permissions.ts";
import { idOf, type Place, placeAt } from "./sandbox-place.ts";
import { filesBelow, isGitsAlone, type Survey } from "./sandbox-survey.ts";
import { putLinkBack, takeBack } from "./taken-back.ts";

/** A file system's time stamps have steps: a new file may seem older by one step. */
const TIME_STEP_MS = 20;
/** A program may be about to rename or remove what it has just made. */
const UNSETTLED_MS = 10_000;

export interface GuardGround {
  readonly roots: readonly string[];
  /** What is taken back is kept in it. */
  readonly home: string;
  /** What is there by now. */
  readonly survey: Survey;
  readonly isGoingOn?: boolean;
}

/** The state before the commands that are being checked. */
export interface Before extends Pick<Survey, "named"> {
  readonly places: ReadonlyMap<string, Pick<Place, "kind" | "target"> & Partial<Pick<Place, "id" | "path">>>;
  /** Only changes after this time can come from the commands. */
  readonly since: number;
  readonly until?: number;
  readonly calls: AllowedCalls;
  readonly tips: Tips;
  /** Lines with which git would run a program, of a rebase that had stopped. */
  readonly steps: ReadonlySet<string>;
  /** What the command may write although it is protected, and all below it. */
  readonly writes?: readonly string[];
  /** The files in protected folders of which it may write some. */
  readonly others?: ReadonlySet<string>;
  /** Configuration files of git that could be changed. */
  readonly settings?: readonly OpenSettings[];
  /** Those outside the roots that belong to the project too. */
  readonly gitFolders?: readonly string[];
  /** Files that a command can change although they are read-only for it. */
  readonly shared?: readonly SharedFile[];
}

/** Moves what commands created under protected names, or for git to run, into Burin's own folder. */
export function takeBackMade(before: Before, ground: GuardGround): readonly TakenBack[] {
  const places = [...ground.survey.places.values()];
  const restored = [...restoreSettings(before.settings ?? [], ground), ...restoreShared(before, ground)];
  if (ground.isGoingOn !== true) removeStandIns(places, before, ground);
  const steps = places.flatMap((place) =>
    place.part === "git folder" ? cleanSteps(place, before, ground) : [],
  );
  const made = places.filter((place) => isMade(place, before));
  const judged = made.length === 0 ? [] : new Judging(before, ground).takeBack(made);
  return [...restored, ...steps, ...judged];
}

/** bubblewrap creates an empty stand-in for what is removed during its mount: moved like the rest, not reported. */
function removeStandIns(places: readonly Place[], before: Before, ground: GuardGround): void {
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

function isEmpty({ path, kind, part }: Place): boolean {
  if (part === "git folder") return lstatOf(join(path, "HEAD")) === null;
  return kind === "folder" ? entriesOf(path).length === 0 : lstatOf(path)?.size === 0;
}

/** A rebase that has stopped goes on with what it was told before, and with what git itself adds to that. */
function cleanSteps({ path: folder }: Place, { steps }: Before, ground: GuardGround): TakenBack[] {
  return findStepFaults(folder, steps).flatMap(({ path, why, rest }) => {
    const place = placeOf(path);
    const mode = lstatOf(path)?.mode;
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    if (taken === null) return [];
    if (taken.kept !== null && rest !== null && mode !== undefined)
      orElse(undefined, () => writeFileSync(path, rest, { flag: "wx", mode }));
    return [taken];
  });
}

function isMade(place: Place, before: Before): boolean {
  const known = before.places.get(place.key);
  const { writes = [] } = before;
  if (isWithinAny(place.path, writes)) return false;
  // The command could write in it, as some of its files are meant.
  if (place.kind === "folder" && writes.some((one) => isWithin(one, place.path)))
    return place.part === "name";
  if (known !== undefined && !isInNewFolder(place, before.since)) {
    // Everything but links was mounted read-only, so no command can have changed it.
    return known.kind === "link" && (place.kind !== "link" || place.target !== known.target);
  }
  if (before.until === undefined) return true;
  const changed = lstatOf(place.path)?.ctimeMs ?? 0;
  return changed >= before.since - TIME_STEP_MS && changed <= before.until;
}

/** An inode number may be used again. Whole milliseconds: what was made just before the first look is not new. */
function isInNewFolder({ path, part }: Place, since: number): boolean {
  const stats = lstatOf(part === "git folder" ? path : dirname(path));
  // Some systems do not know the birth time and report zero or the time of the last change.
  return stats !== null && Math.floor(stats.birthtimeMs) > since && stats.birthtimeMs < stats.ctimeMs;
}

class Judging {
  readonly #before: Before;
  readonly #ground: GuardGround;
  readonly #allowed: Allowed;
  readonly #taken: TakenBack[] = [];

  constructor(before: Before, ground: GuardGround) {
    this.#before = before;
    this.#ground = ground;
    this.#allowed = before.calls.read();
  }

  takeBack(made: readonly Place[]): readonly TakenBack[] {
    const isGoingOn = this.#ground.isGoingOn === true;
    const settled = made.filter(({ path }) => !this.#allowed.isAwaited(path, isGoingOn));
    const of = (part: Place["part"]) => settled.filter((place) => place.part === part);
    const folders = new Set(of("git folder").map(({ path }) => path));
    for (const place of of("git folder")) this.#judgeFolder(place);
    for (const place of of("git file")) {
      if (!folders.has(dirname(place.path)) || place.kind === "link")
        this.#take(place, programInGitFile(place));
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

  /** Of a folder, only what nobody allowed: the rest of it may be what the user wants. */
  #judgeName(place: Place): void {
    const files = place.kind === "folder" ? filesBelow(place.path) : [place.path];
    const foreign = files.filter((file) => !this.#isKnown(file));
    if (foreign.length === 0 && (files.length > 0 || this.#before.places.has(place.key))) return;
    const isAll = foreign.length === files.length;
    for (const one of isAll ? [place] : foreign.flatMap((file) => placeOf(file) ?? []))
      this.#take(one, whyProtected(place.path));
  }

  /** The user has allowed this content there, or a repository had it before the command. */
  #isKnown(file: string): boolean {
    const { writes = [], others, tips } = this.#before;
    if (isWithinAny(file, writes) || others?.has(file) === true) return true;
    return this.#isAllowed(file) || hadBefore(file, tips);
  }

  #isAllowed(file: string): boolean {
    const hash = this.#allowed.isEmpty ? null : hashOfFile(file);
    return hash !== null && this.#allowed.covers(file, hash);
  }

  #judgeFolder(place: Place): void {
    const reason = programInRepository(place.path);
    if (reason === null) return;
    if (isGitsAlone(place.path)) this.#take(place, reason);
    else this.#takeFormOf(place, reason);
  }

  /** Any folder can be made to look like a git folder; its other files may be the user's work. */
  #takeFormOf(place: Place, reason: string): void {
    const stats = lstatOf(place.path);
    const id = stats === null ? "" : idOf(stats);
    for (const name of ["HEAD", "hooks", "config", "config.worktree", "commondir"]) {
      const file = placeAt(join(place.path, name), id, "git file");
      if (file !== null) this.#take(file, reason);
    }
  }

  /** A git folder that does not exist yet is checked when it is created, if it will be seen there. */
  #judgeLink(place: Place): void {
    const folder = folderOfLink(place);
    if (folder === null || !(this.#hasGitFolder(folder) || this.#mayCome(folder)))
      this.#take(place, "it leads git elsewhere");
  }

  #hasGitFolder(folder: string): boolean {
    const { survey } = this.#ground;
    return [...survey.places.values()].some(({ part, path }) => part === "git folder" && path === folder);
  }

  /** It may also have been created since the last check, or be half made: git uses none without these. */
  #mayCome(folder: string): boolean {
    if (!isWithinAny(folder, this.#ground.roots)) return false;
    const has = (name: string) => lstatOf(join(folder, name)) !== null;
    if (!has("HEAD") || !(has("commondir") || (has("objects") && has("refs")))) return true;
    // The last check was just before it became one, and the next one will find it.
    return this.#ground.isGoingOn === true && programInRepository(folder) === null;
  }

  #take(place: Place, why: string | null): void {
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
    if (target !== undefined && taken.kept !== null) putLinkBack(place.path, target);
  }
}

function placeOf(file: string): Place | null {
  const folder = lstatOf(dirname(file));
  return folder === null ? null : placeAt(file, idOf(folder), "name");
}

function isUnsettled({ path }: Place): boolean {
  return Date.now() - (lstatOf(path)?.ctimeMs ?? 0) < UNSETTLED_MS;
}

function whyProtected(path: string): string {
  return protectedFile(path.split(sep).slice(-3).join("/")) ?? "a protected name";
}

/** Looked up when all is told: git writes the files of a checkout before it notes which commit they are of. */
export function markTracked(taken: readonly TakenBack[]): readonly TakenBack[] {
  return taken.map((one) => (isOfCommit(one) ? { ...one, isCommitted: true } : one));
}

function isOfCommit({ path, kept }: TakenBack): boolean {
  const workTree = gitTopOf(dirname(path));
  if (kept === null || workTree === null) return false;
  return isCommitted(path, { folder: join(workTree, ".git"), workTree }, kept);
}

/** A protected file with more than one name, and its content. */
interface SharedFile {
  /** The key of the protected place that it is, or is in. */
  readonly key: string;
  readonly path: readonly string[];
  readonly changed: number;
  readonly mode: number;
  readonly content: Buffer;
}

const MOST_BYTES = 1024 * 1024;
const MOST_FILES = 500;

/** A read-only mount covers one name of a file; another name may be writable. */
export function sharedFiles(places: Iterable<Place>): readonly SharedFile[] {
  const found: SharedFile[] = [];
  let looked = 0;
  const look = (top: Place, path: readonly string[]): void => {
    looked += 1;
    const file = join(top.path, ...path);
    const stats = looked > MOST_FILES ? null : lstatOf(file);
    if (stats === null) return;
    if (stats.isDirectory()) for (const { name } of entriesOf(file)) look(top, [...path, name]);
    if (!stats.isFile() || stats.nlink < 2) return;
    const content = bytesOf(file, MOST_BYTES);
    if (content !== null)
      found.push({ key: top.key, path, changed: stats.ctimeMs, mode: stats.mode, content });
  };
  for (const place of places) if (place.part !== "git folder") look(place, []);
  return found;
}

/** Restores their content where it was changed. The survey says where the protected things are by now. */
function restoreShared({ shared = [] }: Before, ground: GuardGround): readonly TakenBack[] {
  return shared.flatMap(({ key, path, changed, mode, content }) => {
    const top = ground.survey.places.get(key);
    if (top === undefined) return [];
    const file = join(top.path, ...path);
    const stats = lstatOf(file);
    if (stats === null || !stats.isFile() || stats.nlink < 2 || stats.ctimeMs === changed) return [];
    if (bytesOf(file, MOST_BYTES)?.equals(content) === true) return [];
    const folder = lstatOf(dirname(file));
    const place = folder === null ? null : placeAt(file, idOf(folder), top.part);
    const why = "it was changed under another of its names";
    const taken = place === null ? null : takeBack(place, { ...ground, why });
    if (taken === null) return [];
    // Another program may have made it again, or the disk is full; what was there is kept all the same.
    if (taken.kept !== null) orElse(undefined, () => writeFileSync(file, content, { flag: "wx", mode }));
    return [taken];
  });
}
