// What a turn costs in the fleet beside the same turn in plain sessions, and what it takes in the database.
// npm run bench -- fleet [sessions] [workers] [more tasks that wait in the queue] [turns of a session]
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect, listAnswers, openRoom, waitUntil } from "../packages/fleet/tests/fleet-room.mjs";

const SIDE_BY_SIDE = 4;
/** Sessions of each worker until its code is compiled; they are counted apart. */
const FIRST = 8;
/** Of plain sessions behind the first ones, in each process: what they cost does not depend on how many there are. */
const MAX_PLAIN = 50;
const IDLE_MS = 5000;
const LOOK_MS = 250;
const PLAIN = fileURLToPath(new URL("fleet-plain.mjs", import.meta.url));
/** @typedef {Awaited<ReturnType<typeof connect>>} Database */
/** @typedef {import("../packages/fleet/tests/fleet-room.mjs").Room} Room */
/** Of the kernel's clock in /proc. */
const TICK_MS = 10;

/** Turns with a call, every fourth of them with an effect, and one that ends. @param {number} turns */
function replyIn(turns) {
  return (/** @type {readonly any[]} */ messages) => {
    const turn = listAnswers(messages).length + 1;
    if (turn === turns) return { text: "That is all." };
    const text = `Now I look at part ${turn} of the project, to see what the next change has to take into account.`;
    const call =
      turn % 4 === 0
        ? { name: "run_shell_command", args: { command: `echo ${turn} >> part.txt` } }
        : { name: "glob", args: { pattern: "*.txt" } };
    return { text, calls: [call] };
  };
}

/** @param {readonly string[]} args */
export async function run(args) {
  const [sessions = 100, workers = 1, waiting = 0, turns = 20] = args.map(Number);
  if (sessions <= FIRST * workers)
    throw new Error(
      `Give more than ${FIRST * workers} sessions: the first ${FIRST} of each worker are counted apart.`,
    );
  const room = await openRoom(replyIn(turns));
  try {
    const fleet = await openFleet(room, workers);
    const idle = await idleCost(fleet);
    const submitted = await submit(room, "bench", sessions + waiting);
    const worked = await work(fleet, room, { sessions, workers, waiting });
    for (const { child } of fleet.all) child.kill("SIGKILL");
    if (waiting === 0) await submit(room, "next", 1);
    const startMs = await nextStartMs(room, fleet.database);
    const sizes = await sizesOf(fleet.database);
    await fleet.database.end();
    const plain = await plainCost(room, { sessions, workers, turns });
    show({ sessions, workers, waiting, turns, fleet, idle, submitted, worked, startMs, sizes, plain });
  } finally {
    await room.close();
  }
}

/** @param {Room} room @param {number} workers */
async function openFleet(room, workers) {
  // The first one makes the tables.
  const all = [await room.commands.startWorker(SIDE_BY_SIDE)];
  await room.keepDatabase();
  while (all.length < workers) all.push(await room.commands.startWorker(SIDE_BY_SIDE));
  const pids = all.map(({ child }) => child.pid);
  const database = await connect(room.databaseUrl());
  return { all, pids, database, server: await serverOf(database), startedMs: cpuOfAll(pids) };
}

/** @typedef {Awaited<ReturnType<typeof openFleet>>} Fleet */

/** Of a second of all workers without tasks. @param {Fleet} fleet */
async function idleCost({ pids, database, server }) {
  const [cpuBefore, before] = [cpuOfAll(pids), await countersOf(database, server)];
  await pause(IDLE_MS);
  const after = await countersOf(database, server);
  const seconds = IDLE_MS / 1000;
  return {
    cpuMs: (cpuOfAll(pids) - cpuBefore) / seconds,
    databaseMs: (after.cpuMs - before.cpuMs) / seconds,
    commits: (after.commits - before.commits) / seconds,
  };
}

/** @param {Room} room @param {string} run @param {number} count */
async function submit(room, run, count) {
  const file = await room.writeTasks(Array.from({ length: count }, (_, index) => ({ id: `t${index}` })));
  const started = performance.now();
  await room.fleet("run", file, "--run", run, "--no-follow");
  return { count, seconds: (performance.now() - started) / 1000 };
}

/**
 * From the first session behind the first ones of each worker to the last one, and what was before apart.
 * @param {Fleet} fleet
 * @param {Room} room
 * @param {{ sessions: number, workers: number, waiting: number }} amounts
 */
async function work({ pids, database, server, startedMs }, room, { sessions, workers, waiting }) {
  const look = async () => {
    await pause(LOOK_MS);
    // What the service has heard is not needed, and is much.
    /** @type {unknown[]} */ (room.server.requests).length = 0;
    return { at: performance.now(), fleetMs: cpuOfAll(pids), ...(await countersOf(database, server)) };
  };
  let before = await look();
  while (before.ended < FIRST * workers) before = await look();
  const firstSteps = await stepsIn(database);
  let now = before;
  let connections = 0;
  // Submitting many takes so long that more than the first ones may have ended.
  const most = Math.min(before.ended + sessions - FIRST * workers, sessions + waiting);
  while (now.ended < most) {
    now = await look();
    connections = Math.max(connections, now.connections);
  }
  const steps = await stepsIn(database);
  return { before, after: now, firstMs: before.fleetMs - startedMs, firstSteps, steps, connections };
}

/** @param {Database} database @returns {Promise<number>} */
async function stepsIn(database) {
  return (await database.query("select count(*)::int as steps from dbos.operation_outputs")).rows[0].steps;
}

/** @param {any} found */
function show({ sessions, workers, waiting, turns, fleet, idle, submitted, worked, startMs, sizes, plain }) {
  const { before, after, connections, firstMs } = worked;
  // Some of the first ones' time went into sessions that ended later.
  const turnsOf = (/** @type {number} */ steps) => (steps / worked.steps) * after.ended * turns;
  const firstTurns = turnsOf(worked.firstSteps);
  const done = turnsOf(worked.steps - worked.firstSteps);
  const seconds = (after.at - before.at) / 1000;
  const perTurn = (/** @type {number} */ amount, digits = 0) => (amount / done).toFixed(digits);
  const total = after.ended * turns;
  const kept = (/** @type {number} */ amount, digits = 0) => (amount / total).toFixed(digits);
  const fleetMs = (after.fleetMs - before.fleetMs) / done;
  // What a worker's first sessions take beyond what as many take later.
  const warmMs = (firstMs - fleetMs * firstTurns) / workers;
  const overhead = fleetMs - plain.turn;
  const withFirst = overhead + ((warmMs - plain.warm) * workers) / total;
  console.log(
    [
      `${submitted.count} tasks submitted in ${submitted.seconds.toFixed(1)} s; ${waiting} of them to wait`,
      `${sessions} sessions of ${turns} turns with ${workers} workers; ${before.ended} first ones, then ${after.ended - before.ended} in ${seconds.toFixed(1)} s: ${(done / seconds).toFixed(0)} turns/s`,
      `CPU of a turn: ${fleetMs.toFixed(2)} ms; of a plain session in ${workers} processes ${plain.turn.toFixed(2)} ms; overhead ${overhead.toFixed(2)} ms, with the first ones on both sides ${withFirst.toFixed(2)} ms`,
      `CPU of a worker: start ${(fleet.startedMs / workers).toFixed(0)} ms; until its code is compiled ${warmMs.toFixed(0)} ms (plain ${plain.warm.toFixed(0)} ms); idle ${(idle.cpuMs / workers).toFixed(1)} ms, ${(idle.databaseMs / workers).toFixed(1)} ms of the database and ${(idle.commits / workers).toFixed(1)} transactions a second`,
      `database for a turn: CPU ${perTurn(after.cpuMs - before.cpuMs, 2)} ms; ${kept(sizes.table)} bytes with indexes; the record itself ${kept(sizes.lines)}; ${(sizes.table / sizes.lines).toFixed(2)}x; WAL ${perTurn(after.wal - before.wal)} bytes; ${perTurn(after.commits - before.commits, 2)} transactions; ${kept(sizes.steps, 2)} steps; at most ${connections} connections`,
      `a new worker with ${waiting} waiting: ${startMs.toFixed(0)} ms to its first task`,
    ].join("\n"),
  );
}

/** The process of the database server. @param {Database} database @returns {Promise<number>} */
async function serverOf(database) {
  const [{ pid }] = (await database.query("select pg_backend_pid() as pid")).rows;
  return Number(fieldsOf(pid)[1]);
}

/**
 * @param {Database} database
 * @param {number} server
 */
async function countersOf(database, server) {
  const text = `select (select count(*)::int from dbos.workflow_status where status = 'SUCCESS') as ended,
    (select count(*)::int from pg_stat_activity where client_addr is not null) as connections,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
    (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits`;
  const [{ ended, connections, wal, commits }] = (await database.query(text)).rows;
  const pids = readFileSync(`/proc/${server}/task/${server}/children`, "utf8").trim().split(" ").map(Number);
  // What has ended since is counted by the one that started it.
  const gone =
    fieldsOf(server)
      .slice(13, 15)
      .reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
  return { ended, connections, wal, commits, cpuMs: gone + cpuOfAll([server, ...pids]) };
}

/**
 * A worker that is started now has its first task after so long.
 * @param {Room} room
 * @param {Database} database
 */
async function nextStartMs(room, database) {
  const started = performance.now();
  const worker = await room.commands.startWorker(SIDE_BY_SIDE);
  const name = /worker (\S+):/.exec(worker.soFar.stderr)?.[1];
  const text = "select 1 from dbos.workflow_status where status = 'PENDING' and executor_id = $1 limit 1";
  await waitUntil(async () => (await database.query(text, [name])).rowCount);
  const milliseconds = performance.now() - started;
  worker.child.kill("SIGKILL");
  return milliseconds;
}

/** Nothing of a process that has ended meanwhile. @param {number | undefined} pid */
function fieldsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  } catch {
    return [];
  }
}

/** @param {readonly (number | undefined)[]} pids */
function cpuOfAll(pids) {
  const ticks = pids.flatMap((pid) => fieldsOf(pid).slice(11, 13).map(Number));
  return ticks.reduce((sum, count) => sum + count, 0) * TICK_MS;
}

/** @param {Database} database */
async function sizesOf(database) {
  await database.query("vacuum full dbos.operation_outputs");
  const text = `select pg_total_relation_size('dbos.operation_outputs')::float8 as table, count(*)::int as steps,
    sum(octet_length(output::json->>'lines'))::float8 as lines from dbos.operation_outputs`;
  return (await database.query(text)).rows[0];
}

/**
 * CPU of a turn in plain sessions, in as many processes at a time as there were workers.
 * @param {Room} room
 * @param {{ sessions: number, workers: number, turns: number }} amounts
 */
async function plainCost({ project, folder, commands }, { sessions, workers, turns }) {
  const later = Math.min(Math.ceil(sessions / workers) - FIRST, MAX_PLAIN);
  const processes = Array.from({ length: workers }, async (_, index) => {
    const home = `${folder}/plain-${index}`;
    const args = [PLAIN, project, home, String(FIRST), String(later), String(SIDE_BY_SIDE)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: commands.env });
    const [first = 0, all = 0] = stdout.split(" ").map(Number);
    return { first, rest: all - first };
  });
  const found = await Promise.all(processes);
  const sum = (/** @type {"first" | "rest"} */ key) => found.reduce((total, one) => total + one[key], 0);
  const turn = sum("rest") / (workers * later * turns);
  const warm = sum("first") / workers - turn * FIRST * turns;
  return { turn, warm };
}
