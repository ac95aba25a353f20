import { type FSWatcher, watch, writeFileSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { protectedFile } from "@burin/shell-judge";
import { bytesOf, entriesOf, lstatOf } from "../disk/disk-looks.ts";
import { gitTopOf } from "../git/git-excludes.ts";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import { folderOfLink, isCommitted, programInGitFile, programInRepository } from "./judge-repository.ts";
import { idOf, type Place, placeAt } from "./sandbox-place.ts";
import { type Survey, Surveyor } from "./sandbox-survey.ts";
import { putLinkBack, type TakenBack, takeBack } from "./taken-back.ts";
import { beforeVouching, isVouchedFor, TIME_STEP_MS } from "./vouched-files.ts";

/** What keeps one command from leaving something behind that runs code later. */
export interface Guard {
  /** What is protected in the roots when the command starts; null when it can write to none. */
  readonly before: (Before & Survey) | null;
  /** Takes back what the command has created under protected names so far, and returns all that was taken back. */
  look(): readonly TakenBack[];
  /** The same for the last time; call it when nothing of the command is left. */
  release(): readonly TakenBack[];
}

export const UNGUARDED: Guard = { before: null, look: () => [], release: () => [] };

/** Returns what begins to guard one command of a session. */
export function guardian({
  temporary,
  ...kept
}: Omit<GuardGround, "surveyor"> & { readonly temporary: string }) {
  const ground = { ...kept, surveyor: new Surveyor(kept.roots, temporary) };
  return () => {
    const before = { since: Date.now(), ...ground.surveyor.look() };
    const shared = sharedFiles(before.places.values());
    const look = (isGoingOn: boolean) => takeBackMade(before, { ...ground, shared, isGoingOn });
    const gitFolders = [...before.places.values()].filter(({ part }) => part === "git folder");
    return { before, ...lookOften(look, [...ground.roots, ...gitFolders.map(({ path }) => path)]) };
  };
}

const FIRST_MS = 250;
const LONGEST_MS = 2000;
const SHORTEST_MS = 20;
/** Checks take at most this part of the time. */
const PART = 20;
const MOST_WATCHED = 50;

/** Checks again and again while a command runs, sooner when something happened in the most important folders. */
function lookOften(look: (isGoingOn: boolean) => readonly TakenBack[], folders: readonly string[]) {
  const taken: TakenBack[] = [];
  const watchers: FSWatcher[] = [];
  let [cost, dueAt] = [0, 0];
  const lookNow = (isGoingOn: boolean): readonly TakenBack[] => {
    const started = performance.now();
    taken.push(...look(isGoingOn));
    cost = performance.now() - started;
    return taken;
  };
  const after = (milliseconds: number): NodeJS.Timeout => {
    dueAt = performance.now() + milliseconds;
    return setTimeout(() => {
      if (watchers.length === 0) watchFolders();
      lookNow(true);
      timer = after(Math.max(LONGEST_MS, cost * PART));
    }, milliseconds).unref();
  };
  const soon = () => {
    const wait = Math.max(SHORTEST_MS, cost * PART);
    if (dueAt <= performance.now() + wait) return;
    clearTimeout(timer);
    timer = after(wait);
  };
  const watchFolders = () => {
    for (const folder of folders.slice(0, MOST_WATCHED)) {
      // Without it the periodic checks remain.
      const watcher = orElse(null, () => watch(folder, { persistent: false }, soon));
      if (watcher !== null) watchers.push(watcher.on("error", () => {}));
    }
  };
  let timer = after(FIRST_MS);
  const forget = beforeVouching(() => lookNow(true));
  const release = () => {
    clearTimeout(timer);
    forget();
    for (const watcher of watchers.splice(0)) watcher.close();
    return withCommits(lookNow(false));
  };
  return { look: () => withCommits(lookNow(true)), release };
}

/** Looked up when all is told: git writes the files of a checkout before it notes which commit they are of. */
function withCommits(taken: readonly TakenBack[]): readonly TakenBack[] {
  return taken.map((one) => (isOfCommit(one) ? { ...one, isCommitted: true } : one));
}

function isOfCommit({ path, kept }: TakenBack): boolean {
  const workTree = gitTopOf(dirname(path));
  if (kept === null || workTree === null) return false;
  return isCommitted(path, { folder: join(workTree, ".git"), workTree }, kept);
}

export interface GuardGround {
  readonly surveyor: Surveyor;
  readonly roots: readonly string[];
  /** What is taken back is kept in it. */
  readonly home: string;
  /** Files that a command can change although they are read-only for it. */
  readonly shared?: readonly SharedFile[];
  readonly isGoingOn?: boolean;
}

/** The state before the commands that are being checked. */
export interface Before extends Pick<Survey, "named" | "isWhole"> {
  readonly places: ReadonlyMap<string, Pick<Place, "kind" | "target"> & Partial<Pick<Place, "id" | "path">>>;
  /** Only changes after this time can come from the commands. */
  readonly since: number;
  readonly until?: number;
}

const CHECKOUT_MS = 10_000;

interface Repository {
  readonly folder: string;
  readonly workTree: string;
}

/** Moves what commands created under protected names, or for git to run, into Burin's own folder. */
export function takeBackMade(before: Before, ground: GuardGround): readonly TakenBack[] {
  const after = ground.surveyor.look(before.named);
  const restored = restoreShared(after, ground);
  if (ground.isGoingOn !== true) removeStandIns(after, before, ground);
  const made = [...after.places.values()].filter((place) => isMade(place, before));
  return made.length === 0 ? restored : [...restored, ...new Judging(after, before, ground).takeBack(made)];
}

/** bubblewrap creates an empty stand-in for what is removed during its mount: moved like the rest, not reported. */
function removeStandIns(after: Survey, before: Before, ground: GuardGround): void {
  const folders = new Set([...before.places.values()].map(({ path }) => path));
  for (const place of after.places.values()) {
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

function isMade(place: Place, before: Before): boolean {
  const known = before.places.get(place.key);
  if (known !== undefined && !isInNewFolder(place, before.since)) {
    // Everything but links was mounted read-only, so no command can have changed it.
    return known.kind === "link" && (place.kind !== "link" || place.target !== known.target);
  }
  const changed = lstatOf(place.path)?.ctimeMs ?? 0;
  if (isVouchedFor(place.path, before.since, changed)) return false;
  if (before.isWhole && before.until === undefined) return true;
  return changed >= before.since - TIME_STEP_MS && changed <= (before.until ?? Number.POSITIVE_INFINITY);
}

/** An inode number may be used again. Whole milliseconds: what was made just before the first look is not new. */
function isInNewFolder({ path, part }: Place, since: number): boolean {
  const stats = lstatOf(part === "git folder" ? path : dirname(path));
  // Some systems do not know the birth time and report zero or the time of the last change.
  return stats !== null && Math.floor(stats.birthtimeMs) > since && stats.birthtimeMs < stats.ctimeMs;
}

function hasGitFolder({ places }: Survey, folder: string): boolean {
  return [...places.values()].some(({ part, path }) => part === "git folder" && path === folder);
}

class Judging {
  readonly #after: Survey;
  readonly #before: Before;
  readonly #ground: GuardGround;
  readonly #taken: TakenBack[] = [];
  /** New repositories in which nothing names a program. */
  readonly #harmless: Repository[] = [];

  constructor(after: Survey, before: Before, ground: GuardGround) {
    this.#after = after;
    this.#before = before;
    this.#ground = ground;
  }

  takeBack(made: readonly Place[]): readonly TakenBack[] {
    const of = (part: Place["part"]) => made.filter((place) => place.part === part);
    const folders = new Set(of("git folder").map(({ path }) => path));
    for (const place of of("git folder")) this.#judgeFolder(place);
    for (const place of of("git file")) {
      if (!folders.has(dirname(place.path)) || place.kind === "link")
        this.#take(place, programInGitFile(place));
    }
    for (const place of of("git link")) this.#judgeLink(place);
    for (const place of of("way out")) this.#take(place, "it leads out of the project");
    for (const place of of("named")) this.#take(place, "git reads or runs files there");
    for (const place of of("name")) {
      const isBrought = this.#harmless.some(
        (one) => isCommitted(place.path, one) || this.#isComing(place, one),
      );
      const name = place.path.split(sep).slice(-3).join("/");
      if (!isBrought) this.#take(place, protectedFile(name) ?? "a protected name");
    }
    return this.#taken;
  }

  /** A checkout writes the files before it notes in the index what they are. */
  #isComing(place: Place, { workTree }: Repository): boolean {
    const age = Date.now() - (lstatOf(place.path)?.ctimeMs ?? 0);
    return this.#ground.isGoingOn === true && age < CHECKOUT_MS && isWithin(place.path, workTree);
  }

  #judgeFolder(place: Place): void {
    const reason = programInRepository(place.path);
    const isDotGit = basename(place.path).toLowerCase() === ".git";
    if (reason === null) {
      if (isDotGit) this.#harmless.push({ folder: place.path, workTree: dirname(place.path) });
    } else if (isDotGit || /\/(?:worktrees|modules)\//.test(place.path)) {
      this.#take(place, reason);
    } else {
      this.#takeFormOf(place, reason);
    }
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
    if (folder === null || !(hasGitFolder(this.#after, folder) || this.#mayCome(folder)))
      this.#take(place, "it leads git elsewhere");
    else this.#harmless.push({ folder, workTree: dirname(place.path) });
  }

  /** It may also have been created since the last check, or be half made: git uses none without these. */
  #mayCome(folder: string): boolean {
    const { roots, surveyor } = this.#ground;
    if (!isWithinAny(folder, roots)) return false;
    const has = (name: string) => lstatOf(join(folder, name)) !== null;
    if (!has("HEAD") || !(has("commondir") || (has("objects") && has("refs")))) return true;
    return hasGitFolder(surveyor.look(this.#before.named), folder) && programInRepository(folder) === null;
  }

  #take(place: Place, why: string | null): void {
    if (why === null || this.#taken.some(({ path }) => isWithin(place.path, path))) return;
    const taken = takeBack(place, { ...this.#ground, why });
    if (taken === null) return;
    this.#taken.push(taken);
    const target = this.#before.places.get(place.key)?.target;
    if (target !== undefined && taken.kept !== null) putLinkBack(place.path, target);
  }
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
function sharedFiles(places: Iterable<Place>): readonly SharedFile[] {
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

/** Restores their content where it was changed. `places` says where the protected things are by now. */
function restoreShared({ places }: Survey, ground: GuardGround): readonly TakenBack[] {
  return (ground.shared ?? []).flatMap(({ key, path, changed, mode, content }) => {
    const top = places.get(key);
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
