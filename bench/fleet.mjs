// What a turn costs in the fleet beside the same turn in a plain session, and what it takes in the database.
// npm run bench -- fleet [sessions] [workers] [more tasks that wait in the queue]
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { answersIn, openRoom, query, until } from "../packages/fleet/tests/fleet-room.mjs";

const TURNS = 20;
const SIDE_BY_SIDE = 4;
const PLAIN = fileURLToPath(new URL("fleet-plain.mjs", import.meta.url));
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
  const turns = Number(sessions) * TURNS;
  try {
    // The first one makes the tables.
    const first = await room.commands.startWorker(SIDE_BY_SIDE);
    await room.keepDatabase();
    const all = [first];
    while (all.length < Number(workers)) all.push(await room.commands.startWorker(SIDE_BY_SIDE));
    const count = Number(sessions) + Number(waiting);
    const file = await room.writeTasks(Array.from({ length: count }, (_, index) => ({ id: `t${index}` })));
    const cpuBefore = all.map(({ child }) => cpuOf(child.pid));
    const started = performance.now();
    await room.fleet("run", file, "--run", "bench", "--no-follow");
    const submittedMs = performance.now() - started;
    const text = "select count(*)::int as ended from dbos.workflow_status where status = 'SUCCESS'";
    let ended = 0;
    await until(async () => {
      ended = (await query(room.databaseUrl(), text))[0].ended;
      return ended >= Number(sessions);
    });
    const seconds = (performance.now() - started) / 1000;
    const fleetMs = all.reduce(
      (sum, { child }, index) => sum + cpuOf(child.pid) - (cpuBefore[index] ?? 0),
      0,
    );
    const sizes = await sizesOf(room.databaseUrl());
    for (const { child } of all) child.kill("SIGKILL");
    const plainMs = await plainCpuMs(room, sessions);
    const done = ended * TURNS;
    console.log(`${count} tasks submitted in ${(submittedMs / 1000).toFixed(1)} s`);
    console.log(
      `${ended} sessions of ${TURNS} turns with ${workers} workers in ${seconds.toFixed(1)} s: ${(done / seconds).toFixed(0)} turns/s`,
    );
    console.log(
      `CPU of the worker for a turn: ${(fleetMs / done).toFixed(2)} ms; plain session ${(plainMs / turns).toFixed(2)} ms; overhead ${(fleetMs / done - plainMs / turns).toFixed(2)} ms`,
    );
    console.log(
      `database for a turn: ${(sizes.table / done).toFixed(0)} bytes with indexes; the record itself ${(sizes.lines / done).toFixed(0)}; ${(sizes.table / sizes.lines).toFixed(2)}x`,
    );
    console.log(`steps for a turn: ${(sizes.steps / done).toFixed(2)}`);
  } finally {
    await room.close();
  }
}

/** @param {number | undefined} pid */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** @param {string} url */
async function sizesOf(url) {
  await query(url, "vacuum full dbos.operation_outputs");
  const text = `select pg_total_relation_size('dbos.operation_outputs')::int as table, count(*)::int as steps,
    sum(octet_length(output::json->>'lines'))::int as lines from dbos.operation_outputs`;
  return (await query(url, text))[0];
}

/**
 * @param {import("../packages/fleet/tests/fleet-room.mjs").Room} room
 * @param {string} sessions
 */
async function plainCpuMs({ project, folder, commands }, sessions) {
  const args = [PLAIN, project, folder, sessions, String(SIDE_BY_SIDE)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: commands.env });
  return Number(stdout);
}
