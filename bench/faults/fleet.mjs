// Workers of the fleet that are killed or paused at random moments, also while they start, with the database stopped and
// started in between and clocks that jump. Every task must have one result, and no effect may be missing or happen twice.
// KILLS=200 TASKS=300 for the whole.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  findDataFolder,
  listAnswers,
  openRoom,
  query,
  stopDatabase,
  waitUntil,
} from "../../packages/fleet/tests/fleet-room.mjs";

const KILLS = Number(process.env.KILLS ?? 10);
const TASKS = Number(process.env.TASKS ?? 15);
const STEPS = 9;
const WORKERS = 3;
const CONCURRENCY = 4;
/** A model thinks up to so long, and a worker lives up to so long. */
const MAX_THINKING_MS = 1000;
const MAX_LIFE_MS = 8000;
const PAUSE_MS = 5000;
const FULL_TASKS = 4;
const ENDED =
  "select count(*)::int as ended from dbos.workflow_status where status not in ('ENQUEUED', 'PENDING')";
/** Of a worker: its clock jumps back and forth by up to a day, at random moments. */
const JUMPING_CLOCK = `data:text/javascript,${encodeURIComponent(`
  const now = Date.now, RealDate = Date;
  let shift = 0;
  const jump = () => {
    shift = Math.round((Math.random() - 0.5) * 172800000);
    setTimeout(jump, Math.random() * 1000).unref();
  };
  jump();
  globalThis.Date = class extends RealDate {
    constructor(...given) { given.length === 0 ? super(now() + shift) : super(...given); }
    static now() { return now() + shift; }
  };
`)}`;

/** @typedef {{ name: string, args: any, text: string }} Answer */

/** What the model knows of a step by its answers so far: to do it, to look, to do the half that is missing, or nothing more. @param {Answer} answer */
function stateAfter({ args, text }) {
  const kind = /^: (\w+)/.exec(String(args.command ?? ": main"))?.[1];
  // Where there is room for the record and none for the effect, the call says so.
  if (/may have run|was cut off|no space/i.test(text)) return "look";
  if (/was not run/.test(text)) return kind === "main" ? "main" : "look";
  if (kind !== "look") return "done";
  const [ledger, file] = [/ledger=(\d)/, /file=(\d)/].map((pattern) => Number(pattern.exec(text)?.[1] ?? 0));
  if (ledger === 0 && file === 0) return "main";
  return file === 0 ? "half" : "done";
}

/**
 * Shell commands with an effect outside of the project and one in it, and files that a tool writes.
 * @param {string} ledger
 */
function modelFor(ledger) {
  /** @param {readonly any[]} messages */
  return (messages) => {
    const prompt = JSON.stringify(messages.filter(({ role }) => role === "user"));
    const task = /task-(\d+)/.exec(prompt)?.[1];
    const answers = listAnswers(messages);
    const place = answers.findLast(({ text }) => text.includes("Directory: "))?.text;
    const directory = /Directory: (.*)/.exec(place ?? "")?.[1];
    for (let step = 1; step <= STEPS; step += 1) {
      const own = answers.filter(
        ({ args }) => args.content === `${step}\n` || args.command?.includes(` step=${step};`),
      );
      const last = own.at(-1);
      const state = last === undefined ? "main" : stateAfter(last);
      if (state === "done") continue;
      const path = `${directory}/file-${step}.txt`;
      if (step % 3 === 0 && state === "main")
        return { calls: [{ name: "write_file", args: { file_path: path, content: `${step}\n` } }] };
      /** @type {Record<string, string>} */
      const commands = {
        main: `echo ${task}-${step} >> ${ledger} && echo ${step} >> steps.txt`,
        half: `echo ${step} >> steps.txt`,
        look:
          step % 3 === 0
            ? `test -e file-${step}.txt && echo file=1 ledger=1 || echo file=0`
            : `echo ledger=$(grep -c '^${task}-${step}$' ${ledger}) file=$(grep -c '^${step}$' steps.txt)`,
      };
      return {
        calls: [
          { name: "run_shell_command", args: { command: `: ${state} step=${step}; ${commands[state]}` } },
        ],
      };
    }
    return { text: `finished ${task}` };
  };
}

export async function run() {
  await killWorkers();
  await fillDisk("of a worker", onFullDisk);
  if (process.getuid?.() === 0) await fillDisk("of the database", onFullDatabase);
  else console.log("a full disk of the database is not tried: only root can make a small one");
}

async function killWorkers() {
  const started = performance.now();
  let ledger = "";
  const room = await openRoom(async (messages) => {
    await pause(Math.random() * MAX_THINKING_MS);
    return modelFor(ledger)(messages);
  });
  ledger = join(room.folder, "ledger");
  try {
    const tasks = Array.from({ length: TASKS }, (_, index) => ({
      id: `t${index}`,
      prompt: `task-${index}`,
      tries: 100,
    }));
    const file = await room.writeTasks(tasks);
    // It is killed with the others; until then it keeps the database from being ended.
    await room.commands.startWorker(CONCURRENCY);
    await room.keepDatabase();
    const { code, stderr } = await room.fleet("run", file, "--run", "faults", "--no-follow");
    assert.equal(code, 0, stderr);
    const faults = new Faults(room);
    await Promise.all(Array.from({ length: WORKERS }, () => faults.replaceWorkers()));
    const last = await room.commands.startWorker(CONCURRENCY);
    await waitUntil(async () => (await faults.left()) === 0);
    const maybe = await checkAll(room, ledger);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    const { killed, paused, stopped, leftAtEnd } = faults;
    console.log(
      `${TASKS} tasks, ${killed} workers killed, ${paused} paused until others had their tasks, database stopped ${stopped} times: ${TASKS} results, ${TASKS * STEPS} effects once each, ${maybe} calls may have run, ${leftAtEnd} tasks left after the last kill; ${seconds} s`,
    );
    last.child.kill("SIGINT");
    await last.end;
  } finally {
    await room.close();
  }
}

class Faults {
  killed = 0;
  paused = 0;
  stopped = 0;
  leftAtEnd = 0;
  #room;

  /** @param {import("../../packages/fleet/tests/fleet-room.mjs").Room} room */
  constructor(room) {
    this.#room = room;
  }

  /** How many tasks have not ended. @returns {Promise<number>} */
  async left() {
    const text =
      "select count(*)::int as left from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')";
    for (;;) {
      // The database may be away.
      const rows = await query(this.#room.databaseUrl(), text).catch(() => null);
      if (rows !== null) return rows[0].left;
      await pause(100);
    }
  }

  /** One worker after the other, each for a random while from its start on. */
  async replaceWorkers() {
    while (this.killed < KILLS && (await this.left()) > 0) {
      const worker = this.#room.commands.start(["worker", "--concurrency", String(CONCURRENCY)], {
        ...(Math.random() < 0.3 && { NODE_OPTIONS: `--import=${JUMPING_CLOCK}` }),
      });
      await pause(Math.random() * MAX_LIFE_MS);
      if (Math.random() < 0.1) await this.#pauseWorker(worker);
      worker.child.kill("SIGKILL");
      await worker.end;
      this.killed += 1;
      // Others kill, too, while the database is asked.
      const isTime = this.killed % 40 === 20;
      this.leftAtEnd = await this.left();
      if (isTime) {
        this.stopped += 1;
        await this.#room.restartDatabase(2000);
      }
    }
  }

  /** It sleeps, its connection is lost, others take its tasks, and it comes back. @param {ReturnType<import("../../packages/fleet/tests/fleet-room.mjs").Room["commands"]["start"]>} worker */
  async #pauseWorker({ child, soFar }) {
    const name = /worker (\S+):/.exec(soFar.stderr)?.[1];
    if (name === undefined) return;
    child.kill("SIGSTOP");
    const text = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
      and (classid::bigint << 32 | objid::bigint) = hashtextextended('${name}', 0)`;
    const ended = await query(this.#room.databaseUrl(), text).catch(() => []);
    await pause(PAUSE_MS);
    child.kill("SIGCONT");
    await pause(PAUSE_MS / 2);
    if (ended.length > 0) this.paused += 1;
  }
}

/** @typedef {import("../../packages/fleet/tests/fleet-room.mjs").Room} Room */
/** @typedef {(room: Room, work: (filler: string, isWaiting: () => boolean | Promise<boolean>) => Promise<void>) => Promise<void>} OnDisk */

/**
 * Tasks in the middle of which a disk is full until they all wait for it.
 * @param {string} whose
 * @param {OnDisk} onDisk
 */
async function fillDisk(whose, onDisk) {
  let ledger = "";
  let isFull = false;
  const room = await openRoom(async (messages) => {
    // Each task has done something when there is no more room.
    if (listAnswers(messages).length > 2) await waitUntil(() => isFull);
    return modelFor(ledger)(messages);
  });
  ledger = join(room.folder, "ledger");
  try {
    await onDisk(room, async (filler, isWaiting) => {
      const tasks = Array.from({ length: FULL_TASKS }, (_, index) => ({
        id: `t${index}`,
        prompt: `task-${index}`,
      }));
      const file = await room.writeTasks(tasks);
      await room.fleet("run", file, "--run", "faults", "--no-follow");
      await waitUntil(() => room.server.requests.length >= 4 * FULL_TASKS);
      await fill(filler);
      isFull = true;
      await waitUntil(isWaiting);
      // What they leave to each other is taken, too.
      for (let times = 0; times < PAUSE_MS / 100; times += 1) {
        await fill(filler);
        await pause(100);
      }
      const early = (await query(room.databaseUrl(), ENDED).catch(() => [{ ended: 0 }]))[0].ended;
      await rm(filler);
      for (const { id } of tasks) await waitUntil(() => room.hasEnded(`faults.${id}`));
      await checkAll(room, ledger, FULL_TASKS);
      console.log(
        `a full disk ${whose}: ${early} of ${FULL_TASKS} tasks ended while there was no room, all of them behind it; ${FULL_TASKS * STEPS} effects once each`,
      );
    });
  } finally {
    await room.close();
  }
}

/** @type {OnDisk} */
async function onFullDisk(room, work) {
  await room.commands.start(["status"]).end;
  const first = await room.commands.startWorker(1);
  await room.keepDatabase();
  first.child.kill("SIGINT");
  await first.end;
  const home = join(room.folder, "small");
  await mkdir(home);
  const script = `mount -t tmpfs -o size=4m tmpfs ${home} && echo '{"sandbox":{"mode":"off"}}' > ${home}/settings.json && exec "$0" "$@"`;
  const variables = { BURIN_HOME: home, BURIN_FLEET_DATABASE: room.databaseUrl() };
  const worker = await room.commands.startWorker(FULL_TASKS, variables, {
    starter: ["unshare", "-rm", "sh", "-c", script],
  });
  await work(`/proc/${worker.child.pid}/root${home}/filler`, () =>
    worker.soFar.stderr.includes("waits until there is room on the disk"),
  );
  worker.child.kill("SIGINT");
  await worker.end;
}

/** @type {OnDisk} */
async function onFullDatabase(room, work) {
  const folder = join(room.folder, "home/fleet/database");
  const data = findDataFolder(folder);
  await mkdir(data, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=90m", "tmpfs", data]);
  try {
    await room.commands.startWorker(FULL_TASKS);
    await room.keepDatabase();
    await work(join(data, "filler"), async () => {
      const log = readFileSync(join(data, "log"), "utf8");
      return /No space left on device/.test(log.slice(-10_000));
    });
  } finally {
    await room.commands.killAll();
    await stopDatabase(folder).catch(() => {});
    execFileSync("umount", ["-l", data]);
  }
}

/** @param {string} path */
async function fill(path) {
  const file = await open(path, "a");
  for (let bytes = 1024 * 1024; bytes >= 1; ) {
    await file.write(Buffer.alloc(bytes)).catch(() => {
      bytes = Math.floor(bytes / 2);
    });
  }
  await file.close();
}

/**
 * @param {Room} room
 * @param {string} ledger
 */
async function checkAll(room, ledger, tasks = TASKS) {
  assert.deepEqual(room.server.problems, [], "the model was sent a history that is not valid");
  const results = await room.commands.results("faults");
  assert.equal(results.length, tasks);
  const shellSteps = Array.from({ length: STEPS }, (_, index) => index + 1).filter((step) => step % 3 !== 0);
  for (const { id, ...end } of results) {
    const task = id.slice("faults.t".length);
    assert.equal(end.status, "success", `${id}: ${JSON.stringify(end)}`);
    assert.equal(end.result, `finished ${task}`);
    const [, lines = ""] = /\+\+\+ b\/steps\.txt\n@@.*@@\n((?:\+.*\n)+)/.exec(end.patch) ?? [];
    assert.equal(lines, shellSteps.map((step) => `+${step}\n`).join(""), `${id}: ${end.patch}`);
    for (const step of [3, 6, 9])
      assert.ok(end.patch.includes(`b/file-${step}.txt\n@@ -0,0 +1 @@\n+${step}\n`), `${id}: ${end.patch}`);
  }
  const done = readFileSync(ledger, "utf8").trimEnd().split("\n").sort();
  const meant = results
    .flatMap(({ id }) => shellSteps.map((step) => `${id.slice("faults.t".length)}-${step}`))
    .sort();
  assert.deepEqual(done, meant, "an effect is missing or happened twice");
  const text = "select count(*)::int as maybe from dbos.operation_outputs where output like '%may have run%'";
  return (await query(room.databaseUrl(), text))[0].maybe;
}
