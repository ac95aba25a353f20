// Workers of the fleet that are killed or paused at random moments, with the database stopped and started in between.
// Every task must have one result, and no effect may be missing or happen twice. KILLS=200 TASKS=300 for the whole.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { answersIn, openRoom, query, until } from "../../packages/fleet/tests/fleet-room.mjs";

const KILLS = Number(process.env.KILLS ?? 10);
const TASKS = Number(process.env.TASKS ?? 15);
const STEPS = 6;
const WORKERS = 3;
const CONCURRENCY = 4;

/** @typedef {{ name: string, args: any, text: string }} Answer */

/** What the model knows of a step by its answers so far: to do it, to look, to do the half that is missing, or nothing more. @param {Answer} answer */
function stateAfter({ args, text }) {
  const kind = /^: (\w+)/.exec(String(args.command ?? ": main"))?.[1];
  if (/may have run|was cut off/.test(text)) return "look";
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
    const answers = answersIn(messages);
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
  const started = performance.now();
  let ledger = "";
  const room = await openRoom((messages) => modelFor(ledger)(messages));
  ledger = join(room.folder, "ledger");
  const counts = { killed: 0, paused: 0, stopped: 0 };
  try {
    const tasks = Array.from({ length: TASKS }, (_, index) => ({
      id: `t${index}`,
      prompt: `task-${index}`,
      tries: 100,
    }));
    const file = await room.writeTasks(tasks);
    const workers = [await room.commands.startWorker(CONCURRENCY)];
    await room.keepDatabase();
    const { code, stderr } = await room.fleet("run", file, "--run", "faults", "--no-follow");
    assert.equal(code, 0, stderr);
    while (workers.length < WORKERS) workers.push(await room.commands.startWorker(CONCURRENCY));
    const left = async () => {
      const text =
        "select count(*)::int as left from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')";
      return (await query(room.databaseUrl(), text))[0].left;
    };
    while (counts.killed < KILLS && (await left()) > 0) {
      await pause(200 + Math.random() * 1500);
      const at = Math.floor(Math.random() * WORKERS);
      const victim = workers[at];
      if (victim === undefined) break;
      if (counts.killed % 40 === 20 && counts.stopped * 40 < counts.killed) {
        await room.restartDatabase(2000);
        counts.stopped += 1;
      } else if (Math.random() < 0.1) {
        victim.child.kill("SIGSTOP");
        await pause(3000);
        victim.child.kill("SIGCONT");
        counts.paused += 1;
      } else {
        victim.child.kill("SIGKILL");
        counts.killed += 1;
        workers[at] = await room.commands.startWorker(CONCURRENCY);
      }
    }
    await until(async () => (await left()) === 0);
    const maybe = await checkAll(room, ledger);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(
      `${TASKS} tasks, ${counts.killed} workers killed, ${counts.paused} paused, database stopped ${counts.stopped} times: ${TASKS} results, ${TASKS * STEPS} effects once each, ${maybe} calls may have run; ${seconds} s`,
    );
  } finally {
    await room.close();
  }
}

/**
 * @param {import("../../packages/fleet/tests/fleet-room.mjs").Room} room
 * @param {string} ledger
 */
async function checkAll(room, ledger) {
  assert.deepEqual(room.server.problems, [], "the model was sent a history that is not valid");
  const results = await room.commands.results("faults");
  assert.equal(results.length, TASKS);
  const shellSteps = Array.from({ length: STEPS }, (_, index) => index + 1).filter((step) => step % 3 !== 0);
  for (const { id, ...end } of results) {
    const task = id.slice("faults.t".length);
    assert.equal(end.status, "success", `${id}: ${JSON.stringify(end)}`);
    assert.equal(end.result, `finished ${task}`);
    const [, lines = ""] = /\+\+\+ b\/steps\.txt\n@@.*@@\n((?:\+.*\n)+)/.exec(end.patch) ?? [];
    assert.equal(lines, shellSteps.map((step) => `+${step}\n`).join(""), `${id}: ${end.patch}`);
    for (const step of [3, 6])
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
