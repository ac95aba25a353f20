import { type FSWatcher, watch } from "node:fs";
import { orElse } from "@burin/contract/or-else";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import type { TakenBack } from "../processes/limited-program.ts";
import { type OpenSettings, openSettings } from "./git-settings.ts";
import { runningSteps } from "./git-steps.ts";
import { type Before, type GuardGround, markTracked, sharedFiles, takeBackMade } from "./judge-changes.ts";
import { KnownContent } from "./known-content.ts";
import { AllowedCalls } from "./permissions.ts";
import type { AllowedWrites } from "./sandbox-place.ts";
import { filesBelow, type Survey, Surveyor } from "./sandbox-survey.ts";

/** What keeps one command from leaving something behind that runs code later. */
export interface Guard {
  /** What is protected in the roots when the command starts; null when it can write to none. */
  readonly before: (Before & Survey) | null;
  /** Configuration files of git that it may write. */
  readonly opened: readonly string[];
  /** Takes back what the command has created under protected names so far, and returns all that was taken back. */
  look(): Promise<readonly TakenBack[]>;
  /** The same for the last time; call it when nothing of the command is left. */
  release(): Promise<readonly TakenBack[]>;
  /** The same where nothing can wait any more, as at the exit of the process. */
  releaseNow(): void;
}

export const UNGUARDED: Guard = {
  before: null,
  opened: [],
  look: async () => [],
  release: async () => [],
  releaseNow: () => {},
};

interface Guarding extends Omit<GuardGround, "survey"> {
  readonly temporary: string;
  /** Git folders outside the roots that belong to the project too. */
  readonly gitFolders?: readonly string[];
}

/** Returns what begins to guard one command of a session. */
export function guardian({ temporary, gitFolders: outside = [], ...given }: Guarding) {
  const kept = { ...given, roots: [...given.roots, ...outside] };
  const surveyor = new Surveyor(given.roots, temporary, outside);
  const known = new KnownContent();
  let looks: Promise<unknown> = Promise.resolve();
  let guards = 0;
  /** Those whose commands can write in git folders, where their mounts keep single files read-only. */
  let writers = 0;
  /** One after the other: none begins before the last one is whole. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = looks.then(work);
    looks = turn.catch(() => {});
    return turn;
  };
  const open = new Set<readonly OpenSettings[]>();
  const begin = async ({ writes = [], git, gitSettings }: AllowedWrites): Promise<Guard> => {
    // Before the survey: what is allowed later than that is seen as allowed.
    const calls = new AllowedCalls(kept.home);
    const since = Date.now();
    const survey = await surveyor.lookInSlices();
    const places = [...survey.places.values()];
    const gitFolders = places.flatMap(({ part, path }) => (part === "git folder" ? [path] : []));
    // Where another command goes on, git's renaming would take its read-only mount away from it.
    const own = gitSettings === undefined || writers > 0 ? [] : openSettings(places, gitSettings);
    const isWriter = git !== "nowhere";
    const settings = [...own, ...[...open].flat()];
    const tips = known.begin(places, guards === 0);
    const steps = new Set(gitFolders.flatMap(runningSteps));
    const partly = places.filter(
      ({ kind, path }) => kind === "folder" && writes.some((one) => isWithin(one, path)),
    );
    const others = new Set(partly.flatMap(({ part, path }) => (part === "name" ? filesBelow(path) : [])));
    const shared = sharedFiles(places.filter(({ path }) => !isWithinAny(path, writes)));
    const before = {
      since,
      ...survey,
      calls,
      tips,
      steps,
      shared,
      writes,
      others,
      gitFolders: outside,
      settings,
    };
    const opened = own.map(({ path }) => path);
    open.add(own);
    guards += 1;
    if (isWriter) writers += 1;
    const judge = (after: Survey, isGoingOn: boolean) => {
      const taken = takeBackMade(before, { ...kept, survey: after, isGoingOn });
      if (isGoingOn) return taken;
      guards -= 1;
      if (isWriter) writers -= 1;
      open.delete(own);
      known.end(after.places.values());
      return taken;
    };
    const look = (isGoingOn: boolean) =>
      inTurn(async () => judge(await surveyor.lookInSlices(before.named), isGoingOn));
    const lookNow = () => judge(surveyor.look(before.named), false);
    return { before, opened, ...lookOften({ look, lookNow }, [...given.roots, ...gitFolders]) };
  };
  return (command: AllowedWrites = {}) => inTurn(() => begin(command));
}

const FIRST_MS = 250;
const LONGEST_MS = 2000;
const SHORTEST_MS = 20;
/** Checks take at most this part of the time. */
const PART = 20;
const MOST_WATCHED = 50;

interface Looks {
  look(isGoingOn: boolean): Promise<readonly TakenBack[]>;
  lookNow(): void;
}

/** Checks again and again while a command runs, sooner when something happened in the most important folders. */
function lookOften({ look, lookNow }: Looks, folders: readonly string[]): Omit<Guard, "before" | "opened"> {
  const taken: TakenBack[] = [];
  const watchers: FSWatcher[] = [];
  let [cost, dueAt] = [0, 0];
  let isOver = false;
  const lookOnce = async (isGoingOn: boolean): Promise<readonly TakenBack[]> => {
    const started = performance.now();
    taken.push(...(await look(isGoingOn)));
    cost = performance.now() - started;
    return taken;
  };
  const after = (milliseconds: number): NodeJS.Timeout => {
    dueAt = performance.now() + milliseconds;
    return setTimeout(async () => {
      if (watchers.length === 0) watchFolders();
      dueAt = Number.POSITIVE_INFINITY;
      await lookOnce(true).catch(() => {});
      if (!isOver) timer = after(Math.max(LONGEST_MS, cost * PART));
    }, milliseconds).unref();
  };
  const soon = () => {
    const wait = Math.max(SHORTEST_MS, cost * PART);
    if (isOver || dueAt === Number.POSITIVE_INFINITY || dueAt <= performance.now() + wait) return;
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
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    for (const watcher of watchers.splice(0)) watcher.close();
  };
  return {
    look: async () => markTracked(await lookOnce(true)),
    release: async () => {
      stop();
      return markTracked(await lookOnce(false));
    },
    releaseNow: () => {
      stop();
      lookNow();
    },
  };
}
