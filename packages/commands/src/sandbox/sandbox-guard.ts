import { type FSWatcher, watch } from "node:fs";
import { withFallback } from "@burin/contract/with-fallback";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import type { TakenBack } from "../processes/limited-program.ts";
import { findSettingsAccess, NO_ACCESS, type WritableSettings } from "./git-settings.ts";
import { listProgramSteps } from "./git-steps.ts";
import {
  findSharedFiles,
  type GuardContext,
  markTracked,
  type StateBefore,
  takeBackCreated,
} from "./judge-changes.ts";
import { KnownContent } from "./known-content.ts";
import { AllowedCalls } from "./permissions.ts";
import type { AllowedWrites } from "./sandbox-place.ts";
import { listFiles, type Survey, Surveyor } from "./sandbox-survey.ts";

/** Keeps one command from leaving something behind that runs code later. */
export interface Guard {
  /** What is protected in the roots when the command starts; null when it can write to none. */
  readonly before: (StateBefore & Survey) | null;
  /** Configuration files of git that it may write. */
  readonly opened: readonly string[];
  /** A hook of git that must not write them. */
  readonly hook: string | null;
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
  hook: null,
  look: async () => [],
  release: async () => [],
  releaseNow: () => {},
};

interface GuardOptions extends Omit<GuardContext, "survey"> {
  readonly temporary: string;
  /** Git folders outside the roots that belong to the project too. */
  readonly gitFolders?: readonly string[];
  /** Whether a hook can be kept from writing what git itself may write. */
  readonly canConfineHook?: () => Promise<boolean>;
}

/** Creates the function that starts the guard of each command in a session. */
export function createGuardFactory({
  temporary,
  gitFolders: outside = [],
  canConfineHook = async () => false,
  ...given
}: GuardOptions) {
  const kept = { ...given, roots: [...given.roots, ...outside] };
  const surveyor = new Surveyor({ ...given, temporary, gitFolders: outside });
  const known = new KnownContent();
  let looks: Promise<unknown> = Promise.resolve();
  let guards = 0;
  /** How many running commands may write in git folders, where read-only mounts cover single files. */
  let writers = 0;
  /** Runs checks one at a time; each begins when the last has finished. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = looks.then(work);
    looks = turn.catch(() => {});
    return turn;
  };
  const open = new Set<readonly WritableSettings[]>();
  const begin = async ({ writes = [], git, gitSettings }: AllowedWrites): Promise<Guard> => {
    // Must come before the survey: what is allowed later than this is then seen as allowed.
    const calls = new AllowedCalls(kept.home);
    const since = Date.now();
    const survey = await surveyor.surveyInSlices();
    const places = [...survey.places.values()];
    const gitFolders = places.flatMap(({ part, path }) => (part === "git folder" ? [path] : []));
    // While another command runs, git's renaming would remove that command's read-only mount.
    const isShut = gitSettings === undefined || writers > 0;
    const ground = { writes, canConfineHook, environment: kept.environment };
    const { files: own, hook } = isShut ? NO_ACCESS : await findSettingsAccess(places, gitSettings, ground);
    const isWriter = git !== "nowhere";
    const settings = [...own, ...[...open].flat()];
    const tips = known.begin(places, guards === 0);
    const steps = new Set(gitFolders.flatMap(listProgramSteps));
    const partly = places.filter(
      ({ kind, path }) => kind === "folder" && writes.some((one) => isWithin(one, path)),
    );
    const others = new Set(partly.flatMap(({ part, path }) => (part === "name" ? listFiles(path) : [])));
    const shared = findSharedFiles(places.filter(({ path }) => !isWithinAny(path, writes)));
    const state = { calls, tips, steps, shared, writes, others, settings };
    const before = { since, ...survey, ...state, gitFolders: outside };
    const opened = own.map(({ path }) => path);
    open.add(own);
    guards += 1;
    if (isWriter) writers += 1;
    const judge = (after: Survey, isGoingOn: boolean) => {
      const taken = takeBackCreated(before, { ...kept, survey: after, isGoingOn });
      if (isGoingOn) return taken;
      guards -= 1;
      if (isWriter) writers -= 1;
      open.delete(own);
      known.end(after.places.values());
      return taken;
    };
    const look = (isGoingOn: boolean) =>
      inTurn(async () => judge(await surveyor.surveyInSlices(before.named), isGoingOn));
    const lookNow = () => judge(surveyor.survey(before.named), false);
    const mark = (taken: readonly TakenBack[]) => markTracked(taken, kept.environment);
    const watched = watchCommand({ look, lookNow, mark }, [...given.roots, ...gitFolders]);
    return { before, opened, hook, ...watched };
  };
  return (command: AllowedWrites = {}) => inTurn(() => begin(command));
}

const FIRST_LOOK_MS = 250;
const MAX_PAUSE_MS = 2000;
const MIN_PAUSE_MS = 20;
/** Checks take at most 1/20 of the time. */
const MAX_LOOK_SHARE = 20;
const MAX_WATCHED = 50;

interface LookFunctions {
  look(isGoingOn: boolean): Promise<readonly TakenBack[]>;
  lookNow(): void;
  mark(taken: readonly TakenBack[]): readonly TakenBack[];
}

/** Checks repeatedly while a command runs, and sooner after a change in the most important folders. */
function watchCommand(
  { look, lookNow, mark }: LookFunctions,
  folders: readonly string[],
): Omit<Guard, "before" | "opened" | "hook"> {
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
      if (!isOver) timer = after(Math.max(MAX_PAUSE_MS, cost * MAX_LOOK_SHARE));
    }, milliseconds).unref();
  };
  const soon = () => {
    const wait = Math.max(MIN_PAUSE_MS, cost * MAX_LOOK_SHARE);
    if (isOver || dueAt === Number.POSITIVE_INFINITY || dueAt <= performance.now() + wait) return;
    clearTimeout(timer);
    timer = after(wait);
  };
  const watchFolders = () => {
    for (const folder of folders.slice(0, MAX_WATCHED)) {
      // Without a watcher, the periodic checks remain.
      const watcher = withFallback(null, () => watch(folder, { persistent: false }, soon));
      if (watcher !== null) watchers.push(watcher.on("error", () => {}));
    }
  };
  let timer = after(FIRST_LOOK_MS);
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    for (const watcher of watchers.splice(0)) watcher.close();
  };
  return {
    look: async () => mark(await lookOnce(true)),
    release: async () => {
      stop();
      return mark(await lookOnce(false));
    },
    releaseNow: () => {
      stop();
      lookNow();
    },
  };
}
