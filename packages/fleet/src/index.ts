import { buildHelperPath, findNearNames } from "@burin/core/internal";
import { findDatabaseFolder, hasDatabase, isRunning, openDatabase } from "./database.ts";
import { type Fleet, FleetError, type FleetOptions, type FleetRequest } from "./ground.ts";
import { LONE_MARK, receiveFromStarter, runLoneWorker, runWorker } from "./open-worker.ts";
import { servePage } from "./page-server.ts";
import { removeFleetData } from "./remove.ts";
import { isFullDisk } from "./retry-queries.ts";
import { followRun, readRunToSubmit } from "./run.ts";
import { readStanding } from "./standing.ts";
import type { Store } from "./store.ts";
import { TaskError } from "./task.ts";
import {
  answerTask,
  cancelNamedTasks,
  NO_RUNS,
  retryTasks,
  showKeptStatus,
  showLogs,
  showQuestions,
  showRunResults,
  showStatus,
  wrapWithOpenStore,
} from "./task-commands.ts";

export { FleetError, type FleetOptions, type FleetRequest, TaskError };

/** Runs a command; resolves to whether all tasks ended well. Throws FleetError or TaskError for invalid requests. */
type RunWork = (fleet: Fleet) => Promise<boolean>;

/** Reads a command's arguments, so that mistakes in them are reported before a database is started. */
type ReadCommand = (request: FleetRequest, ground: FleetOptions) => RunWork | Promise<RunWork>;

const ANY_COUNT = Number.POSITIVE_INFINITY;
/** The commands. Those marked "looks" are in `task-commands.ts`; before the first run they have nothing to do. */
const COMMANDS: Readonly<Record<string, readonly [maxWords: number, read: ReadCommand, looks?: "looks"]>> = {
  run: [1, readRunToSubmit],
  worker: [0, () => runWorker],
  status: [1, () => wrapWithOpenStore(showStatus), "looks"],
  results: [1, () => wrapWithOpenStore(showRunResults), "looks"],
  logs: [1, () => wrapWithOpenStore(showLogs), "looks"],
  cancel: [ANY_COUNT, () => wrapWithOpenStore(cancelNamedTasks), "looks"],
  retry: [ANY_COUNT, () => runThenFollow(retryTasks), "looks"],
  questions: [1, () => wrapWithOpenStore(showQuestions), "looks"],
  answer: [ANY_COUNT, () => runThenFollow(answerTask), "looks"],
  serve: [0, () => servePage],
};

/** Runs a command that returns runs. With `--follow`, then works on these runs. */
function runThenFollow(command: (fleet: Fleet, store: Store) => Promise<readonly string[]>): RunWork {
  return async (fleet) => {
    let runs: readonly string[] = [];
    await wrapWithOpenStore(async (...given) => {
      runs = await command(...given);
    })(fleet);
    if (!fleet.request.follow) return true;
    const ends: boolean[] = [];
    for (const run of runs) ends.push(await followRun(fleet, run));
    return ends.every(Boolean);
  };
}

/** Runs one command of `burin fleet`. Resolves to whether all went well. */
export async function runFleet(request: FleetRequest, ground: FleetOptions): Promise<boolean> {
  // Extend PATH for the database, git and workers. They run programs of this machine, never of the folder in which
  // Burin was started.
  process.env.PATH = buildHelperPath(process.env.PATH);
  if (process.env[LONE_MARK] !== undefined) return runStartedLoneWorker(request, ground);
  const [name = "", ...words] = request.words;
  if (name === "remove") return removeFleetData({ ...request, words }, ground);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new FleetError(formatUnknownCommand(name));
  const [maxWords, read, looks] = command;
  if (words.length > maxWords) throw new FleetError(`burin fleet ${name} does not take "${words[maxWords]}"`);
  const own = { ...request, words };
  const work = await read(own, ground);
  if (looks && request.database === undefined && !hasDatabase(ground.home)) throw new FleetError(NO_RUNS);
  if (name === "status" && request.database === undefined && !(await isRunning(ground.home))) {
    showKeptStatus(own, ground, readStanding(findDatabaseFolder(ground.home)));
    return true;
  }
  const database = await openDatabase(request.database, ground.home);
  if (name === "run" || name === "worker") ground.note(`using ${database.name}`);
  try {
    return await work({ url: database.url, request: own, ground });
  } catch (error) {
    if (ground.signal.aborted) return false;
    throw isFullDisk(error)
      ? new FleetError(`there is no room on a disk: ${(error as Error).message}`)
      : error;
  } finally {
    await database.close();
  }
}

function formatUnknownCommand(name: string): string {
  const names = [...Object.keys(COMMANDS), "remove"];
  if (name === "") return `say what to do: burin fleet ${names.join(", ")}; see burin help fleet`;
  const [near] = findNearNames(name, names);
  const hint = near === undefined ? `there are ${names.join(", ")}` : `did you mean burin fleet ${near}?`;
  return `there is no burin fleet ${name}; ${hint}`;
}

async function runStartedLoneWorker(request: FleetRequest, ground: FleetOptions): Promise<boolean> {
  delete process.env[LONE_MARK];
  const { url, isLeft } = await receiveFromStarter();
  const signal = AbortSignal.any([ground.signal, isLeft]);
  return runLoneWorker({ url, request, ground: { ...ground, signal } });
}
