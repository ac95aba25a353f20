// What a turn costs in the fleet beside the same turn in a plain session, and what it takes in the database.
// npm run bench -- fleet [sessions] [workers] [more tasks that wait in the queue]
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { answersIn, connect, openRoom, until } from "../packages/fleet/tests/fleet-room.mjs";

const TURNS = 20;
const SIDE_BY_SIDE = 4;
/** The cost of a plain turn does not depend on how many there are. */
const MOST_PLAIN = 100;
const PLAIN = fileURLToPath(new URL("fleet-plain.mjs", import.meta.url));
/** @typedef {Awaited<ReturnType<typeof connect>>} Database */
/** Of the kernel's clock in /proc. */
const TICK_MS = 10;

/** 19 turns with a call, every fourth of them with an effect, and one that ends. @param {readonly any[]} messages */
function reply(messages) {
  const turn = answersIn(messages).length + 1;
  if (turn === TURNS) return { text: "That is all." };
  const text = `Now I look at part ${turn} of the project, to see what the next change has to take into account.`;
  const call =
    turn % 4 === 0
      ? { name: "run_shell_command", args: { command: `echo ${turn} >> part.txt` } }
      : { name: "glob", args: { pattern: "*.txt" } };
  return { text, calls: [call] };
}

/** @param {readonly string[]} args */
export async function run([sessions = "40", workers = "1", waiting = "0"]) {
  const room = await openRoom(reply);
  try {
    // The first one makes the tables.
    const all = [await room.commands.startWorker(SIDE_BY_SIDE)];
    await room.keepDatabase();
    while (all.length < Number(workers)) all.push(await room.commands.startWorker(SIDE_BY_SIDE));
    const database = await connect(room.databaseUrl());
    const server = await serverOf(database);
    const count = Number(sessions) + Number(waiting);
    const file = await room.writeTasks(Array.from({ length: count }, (_, index) => ({ id: `t${index}` })));
    const started = performance.now();
    await room.fleet("run", file, "--run", "bench", "--no-follow");
    const submittedMs = performance.now() - started;
    const cpuBefore = cpuOfAll(all.map(({ child }) => child.pid));
    const before = await countersOf(database, server);
    let connections = 0;
    let ended = before.ended;
    const began = performance.now();
    while (ended < Number(sessions)) {
      await pause(500);
      const now = await countersOf(database, server);
      connections = Math.max(connections, now.connections);
      ended = now.ended;
    }
    const seconds = (performance.now() - began) / 1000;
    const after = await countersOf(database, server);
    const fleetMs = cpuOfAll(all.map(({ child }) => child.pid)) - cpuBefore;
    for (const { child } of all) child.kill("SIGKILL");
    const done = (after.ended - before.ended) * TURNS;
    const startMs = Number(waiting) > 0 ? await nextStartMs(room, database) : 0;
    const sizes = await sizesOf(database);
    await database.end();
    const plainMs = await plainCpuMs(room, Math.min(Number(sessions), MOST_PLAIN));
    const perTurn = (/** @type {number} */ amount, digits = 0) => (amount / done).toFixed(digits);
    // Some have ended while the others were submitted.
    const kept = (/** @type {number} */ amount, digits = 0) =>
      (amount / (after.ended * TURNS)).toFixed(digits);
    console.log(`${count} tasks submitted in ${(submittedMs / 1000).toFixed(1)} s`);
    console.log(
      `${after.ended - before.ended} sessions of ${TURNS} turns with ${workers} workers in ${seconds.toFixed(1)} s: ${(done / seconds).toFixed(0)} turns/s`,
    );
    console.log(
      `CPU of the workers for a turn: ${perTurn(fleetMs, 2)} ms; plain session ${plainMs.toFixed(2)} ms; overhead ${(fleetMs / done - plainMs).toFixed(2)} ms; of the database ${perTurn(after.cpuMs - before.cpuMs, 2)} ms`,
    );
    console.log(
      `database for a turn: ${kept(sizes.table)} bytes with indexes; the record itself ${kept(sizes.lines)}; ${(sizes.table / sizes.lines).toFixed(2)}x; WAL ${perTurn(after.wal - before.wal)} bytes; ${perTurn(after.commits - before.commits, 2)} transactions`,
    );
    console.log(`steps for a turn: ${kept(sizes.steps, 2)}; at most ${connections} connections`);
    if (startMs > 0)
      console.log(`a new worker with ${waiting} waiting: ${startMs.toFixed(0)} ms to its first task`);
  } finally {
    await room.close();
  }
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
 * @param {import("../packages/fleet/tests/fleet-room.mjs").Room} room
 * @param {Database} database
 */
async function nextStartMs(room, database) {
  const started = performance.now();
  const worker = await room.commands.startWorker(SIDE_BY_SIDE);
  const name = /worker (\S+):/.exec(worker.soFar.stderr)?.[1];
  const text = "select 1 from dbos.workflow_status where status = 'PENDING' and executor_id = $1 limit 1";
  await until(async () => (await database.query(text, [name])).rowCount);
  const milliseconds = performance.now() - started;
  worker.child.kill("SIGKILL");
  return milliseconds;
}

/** @param {number | undefined} pid */
function fieldsOf(pid) {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
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
 * Of a turn.
 * @param {import("../packages/fleet/tests/fleet-room.mjs").Room} room
 * @param {number} sessions
 */
async function plainCpuMs({ project, folder, commands }, sessions) {
  const args = [PLAIN, project, folder, String(sessions), String(SIDE_BY_SIDE)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: commands.env });
  return Number(stdout) / (sessions * TURNS);
}
