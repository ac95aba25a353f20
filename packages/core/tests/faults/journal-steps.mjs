// Two sessions and a user at work in one folder, in random steps: each undo touches only what is its own.
// node packages/core/tests/faults/journal-steps.mjs [steps] [seed]
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSession, undo } from "./core.mjs";

/** @typedef {"one" | "two" | "user"} Owner */
/** @typedef {{ status: string, error?: { message: string } }} Outcome */

/** The line of each shared file that belongs to one of the three; nobody touches the lines between them. */
const OWN_LINE = { one: 0, two: 4, user: 8 };
const FILES = ["a.txt", "b.txt", "c.txt"];
const FIRST = Array.from({ length: 9 }, (_, index) => `line ${index}`);

/** @param {number} seed */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What one of the three has in the folder, and what it had before each of its changes that are in effect. */
class Part {
  /** @param {Owner} owner */
  constructor(owner) {
    this.owner = owner;
    /** Its line in each shared file. @type {Map<string, string>} */
    this.lines = new Map(FILES.map((name) => [name, FIRST[OWN_LINE[owner]] ?? ""]));
    /** The files that only it makes. @type {Map<string, string>} */
    this.files = new Map();
    /** @type {{ lines: Map<string, string>, files: Map<string, string> }[]} */
    this.earlier = [];
  }

  note() {
    this.earlier.push({ lines: new Map(this.lines), files: new Map(this.files) });
  }

  /** Returns whether there was a change to take back. */
  goBack() {
    const earlier = this.earlier.pop();
    if (earlier === undefined) return false;
    Object.assign(this, earlier);
    return true;
  }
}

/** A session whose model makes the calls that it is told to make. */
class Worker extends Part {
  /** @type {{ name: string, args: object }[]} */
  #calls = [];
  #count = 0;
  #session;

  /**
   * @param {"one" | "two"} owner
   * @param {{ root: string, environment: object }} place
   */
  constructor(owner, { root, environment }) {
    super(owner);
    const next = () => this.#next();
    const model = {
      name: "steps",
      contextWindow: 10_000_000,
      async *stream() {
        const call = next();
        yield call === null ? { type: "text", text: "done" } : { type: "function_call", call };
        yield { type: "end", reason: "stop" };
      },
    };
    const settings = { sandbox: { mode: "off" } };
    this.#session = createSession({
      root,
      environment,
      settings,
      model,
      approvalMode: "yolo",
      record: true,
    });
  }

  #next() {
    const call = this.#calls.shift();
    this.#count += 1;
    return call === undefined ? null : { id: `${this.owner}_${this.#count}`, ...call };
  }

  get id() {
    return this.#session.id;
  }

  close() {
    return this.#session.close();
  }

  /** @param {readonly { name: string, args: object }[]} calls */
  async make(...calls) {
    this.#calls.push(...calls);
    /** @type {Outcome[]} */
    const ended = [];
    for await (const event of this.#session.run("go"))
      if (event.type === "tool_call" && ["success", "error", "cancelled"].includes(event.call.status))
        ended.push(event.call);
    for (const { status, error } of ended) assert.equal(status, "success", error?.message);
    assert.equal(ended.length, calls.length);
  }
}

class Room {
  /** @param {number} seed */
  constructor(seed) {
    this.top = realpathSync(mkdtempSync(join(tmpdir(), "burin-steps-")));
    this.root = join(this.top, "project");
    this.home = join(this.top, "home");
    mkdirSync(this.root);
    for (const name of FILES) this.write(name, FIRST);
    this.environment = { ...process.env, BURIN_HOME: this.home };
    this.workers = /** @type {const} */ (["one", "two"]).map((owner) => new Worker(owner, this));
    this.user = new Part("user");
    this.random = randomFrom(seed);
    this.step = 0;
  }

  /**
   * @param {string} name
   * @param {readonly string[]} lines
   */
  write(name, lines) {
    writeFileSync(join(this.root, name), `${lines.join("\n")}\n`);
  }

  /** @param {number} count */
  draw(count) {
    return Math.floor(this.random() * count);
  }

  /** A shared file, its line of this part, and what is written there now. @param {Part} part */
  change(part, name = FILES[this.draw(FILES.length)] ?? "") {
    const [before, after] = [part.lines.get(name) ?? "", `${part.owner} ${this.step}`];
    part.note();
    part.lines.set(name, after);
    return { name, before, after };
  }

  /** Compares what is there with what the three have. @param {string} what */
  assertAll(what) {
    const parts = [...this.workers, this.user];
    /** @type {Record<string, string>} */
    const wanted = {};
    for (const name of FILES) {
      const lines = [...FIRST];
      for (const { owner, lines: own } of parts) lines[OWN_LINE[owner]] = own.get(name) ?? "";
      wanted[name] = `${lines.join("\n")}\n`;
    }
    for (const { files } of parts) Object.assign(wanted, Object.fromEntries(files));
    const names = readdirSync(this.root).sort();
    const found = Object.fromEntries(
      names.map((name) => [name, readFileSync(join(this.root, name), "utf8")]),
    );
    assert.deepEqual(found, wanted, what);
  }

  async close() {
    await Promise.all(this.workers.map((worker) => worker.close()));
    rmSync(this.top, { recursive: true, force: true });
  }
}

/** @param {Room} room */
async function changeAsUser(room) {
  const { user, step } = room;
  if (room.draw(3) > 0) {
    const { name, after } = room.change(user);
    const lines = readFileSync(join(room.root, name), "utf8").trimEnd().split("\n");
    lines[OWN_LINE.user] = after;
    room.write(name, lines);
  } else {
    user.files.set(`user-${step}.txt`, "mine\n");
    room.write(`user-${step}.txt`, ["mine"]);
  }
}

/**
 * @param {Room} room
 * @param {Worker} worker
 * @param {string} [file]
 */
async function edit(room, worker, file) {
  const { name, before, after } = room.change(worker, file);
  await worker.make(
    { name: "read_file", args: { file_path: join(room.root, name) } },
    {
      name: "edit",
      args: { file_path: join(room.root, name), old_string: `${before}\n`, new_string: `${after}\n` },
    },
  );
}

/**
 * @param {Room} room
 * @param {Worker} worker
 * @param {{ file?: string, first?: string }} [how]
 */
async function runCommand(room, worker, { file, first = "" } = {}) {
  const { step } = room;
  const [own] = [...worker.files.keys()];
  const kind = room.draw(3);
  let command = "";
  if (kind === 0) {
    const { name, before, after } = room.change(worker, file);
    command = `sed -i 's/^${before}$/${after}/' ${name}`;
  } else if (kind === 1 && own !== undefined) {
    worker.note();
    worker.files.delete(own);
    command = `rm ${own}`;
  } else {
    worker.note();
    worker.files.set(`${worker.owner}-${step}.txt`, `${step}\n`);
    command = `echo ${step} > ${worker.owner}-${step}.txt`;
  }
  await worker.make({ name: "run_shell_command", args: { command: `${first}${command}` } });
}

/**
 * @param {Room} room
 * @param {Worker} worker
 */
async function takeBack({ home, root, environment }, worker) {
  const isThere = worker.goBack();
  const { files } = await undo({ home, root, environment, session: worker.id, count: 1 });
  assert.deepEqual(
    files.filter((/** @type {{ what: string }} */ { what }) => what === "refused"),
    [],
  );
  assert.equal(files.length > 0, isThere);
}

/** While a command of one runs, the other edits another file. @param {Room} room @param {Worker} worker */
async function workTogether(room, worker) {
  const other = /** @type {Worker} */ (room.workers.find((one) => one !== worker));
  const at = room.draw(FILES.length);
  const running = runCommand(room, worker, { file: FILES[at] ?? "", first: "sleep 0.05; " });
  await Promise.all([running, edit(room, other, FILES[(at + 1) % FILES.length])]);
}

const KINDS = /** @type {const} */ (["user", "undo", "edit", "command", "together"]);

/**
 * @param {number} steps
 * @param {number} [seed]
 */
export async function runSteps(steps, seed = Date.now() % 1e6) {
  const room = new Room(seed);
  const found = { user: 0, undo: 0, edit: 0, command: 0, together: 0 };
  const work = { user: changeAsUser, undo: takeBack, edit, command: runCommand, together: workTogether };
  try {
    for (room.step = 1; room.step <= steps; room.step += 1) {
      const kind = KINDS[room.draw(KINDS.length)] ?? "user";
      const worker = /** @type {Worker} */ (room.workers[room.draw(2)]);
      const what = `seed ${seed}, step ${room.step}, ${kind} of ${worker.owner}`;
      try {
        await work[kind](room, worker);
      } catch (error) {
        throw new Error(`${what}: ${error instanceof Error ? error.message : error}`);
      }
      room.assertAll(what);
      found[kind] += 1;
    }
    return { seed, ...found };
  } finally {
    await room.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [steps = 100, seed] = process.argv.slice(2).map(Number);
  process.stdout.write(`${JSON.stringify(await runSteps(steps, seed))}\n`);
}
