// A program that embeds the built core and fails in everything that the core calls or is given. Prints what each
// failure became, one JSON object a line; a failure that nobody hears ends the program, as it would any other.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession, createToolbox } from "./core.mjs";

const root = realpathSync(mkdtempSync(join(tmpdir(), "burin-throwing-")));
const environment = { ...process.env, BURIN_HOME: join(root, "home") };
const { signal } = new AbortController();

/** @param {string} what @param {unknown} value */
const tell = (what, value) => process.stdout.write(`${JSON.stringify({ what, value })}\n`);
process.on("warning", ({ message }) => tell("warning", message));

const boom = () => {
  throw new Error("boom");
};
const late = async () => boom();
/** @type {Record<string, any>} */
const circle = {};
circle.self = circle;

const whole = {
  name: "own",
  displayName: "Own",
  description: "Is somebody's own.",
  parameterSchema: { type: "object" },
  kind: "execute",
  validateToolParams: () => null,
  getDescription: () => "Works",
  shouldConfirmExecute: async () => ({ kind: "info", title: "Sure?", prompt: "x", urls: [], grants: [] }),
  execute: async () => ({ llmContent: "ok", returnDisplay: "ok" }),
};
const result = (/** @type {unknown} */ value) => ({ execute: async () => value });

/** @type {Record<string, object>} */
const tools = {
  whole: {},
  "validateToolParams throws": { validateToolParams: boom },
  "validateToolParams rejects": { validateToolParams: late },
  "validateToolParams gives garbage": { validateToolParams: () => 7 },
  "getDescription throws": { getDescription: boom },
  "getDescription rejects": { getDescription: late },
  "getDescription gives garbage": { getDescription: () => circle },
  "ruleSubjects throws": { ruleSubjects: boom },
  "ruleSubjects rejects": { ruleSubjects: late },
  "ruleSubjects gives garbage": { ruleSubjects: () => [null] },
  "shouldConfirmExecute throws": { shouldConfirmExecute: boom },
  "shouldConfirmExecute rejects": { shouldConfirmExecute: late },
  "shouldConfirmExecute gives garbage": { shouldConfirmExecute: async () => ({}) },
  "approvedByUser throws": { approvedByUser: boom },
  "approvedByUser rejects": { approvedByUser: late },
  "execute throws": { execute: boom },
  "execute rejects": { execute: late },
  "execute throws what cannot be put in words": { execute: () => Promise.reject(Object.create(null)) },
  "execute gives nothing": { execute: () => {} },
  "execute gives numbers": result({ llmContent: 7, returnDisplay: 7 }),
  "execute gives a circle": result({ llmContent: [circle], returnDisplay: circle }),
  "execute gives a bigint": result({ llmContent: "x", returnDisplay: { kind: "own", n: 1n } }),
  "execute gives null parts": result({ llmContent: [null], returnDisplay: "x" }),
  "execute gives an error that is none": result({ llmContent: "x", returnDisplay: "x", error: "boom" }),
};

for (const [what, part] of Object.entries(tools)) {
  const tool = { ...whole, ...part };
  const confirm = async () => ({ outcome: "once" });
  const toolbox = createToolbox({ root, environment, confirm, tools: [tool] });
  const { error, llmContent } = await toolbox.call("own", {});
  tell(what, error?.message ?? llmContent);
  await toolbox.close();
}

// Of a tool, what is read and not called.
for (const name of [
  "kind",
  "description",
  "parameterSchema",
  "plainName",
  "missing",
  "displayName",
  "name",
]) {
  let isOpen = false;
  const tool = Object.defineProperty({ ...whole }, name, {
    get: () => (isOpen ? boom() : Reflect.get(whole, name)),
  });
  const toolbox = createToolbox({ root, environment, approvalMode: "yolo", tools: [tool] });
  isOpen = true;
  const { error, llmContent } = await toolbox.call("own", {});
  tell(`${name} throws`, error?.message ?? llmContent);
  tell(`declarations while ${name} throws`, toolbox.registry.getFunctionDeclarations().length > 5);
  await toolbox.close();
}

// What a call is given.
/** @type {[string, any][]} */
const confirms = [
  ["confirm throws", boom],
  ["confirm rejects", late],
  ["confirm gives garbage", async () => 7],
  [
    "confirm gives a getter that throws",
    async () => ({
      get outcome() {
        return boom();
      },
    }),
  ],
];
for (const [what, confirm] of confirms) {
  const toolbox = createToolbox({ root, environment, confirm, tools: [whole] });
  tell(what, (await toolbox.call("own", {})).error?.message);
  await toolbox.close();
}
for (const onCall of [boom, late]) {
  const toolbox = createToolbox({ root, environment, approvalMode: "yolo", tools: [whole] });
  tell("onCall fails", (await toolbox.run("own", {}, { onCall })).status);
  await toolbox.close();
}
const updating = {
  ...whole,
  execute: async (/** @type {any} */ _params, /** @type {any} */ _signal, /** @type {any} */ onUpdate) => {
    for (const display of [undefined, 7n, circle, "fine"]) onUpdate(display);
    setTimeout(() => onUpdate("after the end"), 1);
    return { llmContent: "updated", returnDisplay: "updated" };
  },
};
const model = (/** @type {any} */ stream) => ({ name: "own", stream });
const call = (/** @type {any} */ args) => ({ type: "function_call", call: { id: "c1", name: "own", args } });
const stop = { type: "end", reason: "stop" };
const calling = () => {
  let asked = 0;
  return model(async function* () {
    asked += 1;
    if (asked === 1) yield call({});
    else yield { type: "text", text: "done" };
    yield stop;
  });
};

/** @param {object} options @param {(event: any, session: any) => void} [onEvent] */
async function runOf(options, onEvent = () => {}) {
  const session = createSession({ root, environment, approvalMode: "yolo", record: true, ...options });
  let end;
  try {
    for await (const event of session.run("go", signal)) {
      onEvent(event, session);
      if (event.type === "done") end = `${event.status}: ${event.error?.message ?? event.result}`;
    }
  } catch (error) {
    end = `thrown: ${error instanceof Error ? error.message : error}`;
  }
  await session.close();
  return end;
}

tell("a tool's updates are garbage", await runOf({ model: calling(), tools: [updating] }));
/** @type {[string, any][]} */
const streams = [
  ["stream throws", boom],
  ["stream gives nothing", () => undefined],
  ["stream throws at once", () => ({ [Symbol.asyncIterator]: () => ({ next: boom }) })],
  [
    "stream throws on its way",
    async function* () {
      yield { type: "text", text: "a" };
      boom();
    },
  ],
  [
    "stream ends without an end",
    async function* () {
      yield { type: "text", text: "a" };
    },
  ],
  [
    "stream gives null",
    async function* () {
      yield null;
    },
  ],
  [
    "stream gives a number as text",
    async function* () {
      yield { type: "text", text: 7 };
    },
  ],
  [
    "stream gives a call of garbage",
    async function* () {
      yield { type: "function_call", call: null };
    },
  ],
  [
    "stream gives a call with a circle",
    async function* () {
      yield call(circle);
    },
  ],
  [
    "stream gives usage of garbage",
    async function* () {
      yield { type: "usage", usage: { inputTokens: "many" } };
    },
  ],
  [
    "stream gives an end of garbage",
    async function* () {
      yield { type: "end", reason: "error" };
    },
  ],
  [
    "stream cannot be left",
    () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ value: stop }), return: late }) }),
  ],
];
for (const [what, stream] of streams) tell(what, await runOf({ model: model(stream) }));

tell(
  "the reader throws",
  await runOf({ model: calling(), tools: [whole] }, (event) => {
    if (event.type === "tool_call") boom();
  }),
);
const left = new AbortController();
left.signal.addEventListener("abort", () => {});
const deaf = model(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }));
const session = createSession({ root, environment, model: deaf });
setTimeout(() => left.abort(circle), 50);
for await (const event of session.run("go", left.signal))
  if (event.type === "done") tell("a deaf model", event.status);
await session.close();

// Names that resolve to what cannot be dialled, and servers and commands that fail.
const failing = createToolbox({
  root,
  environment,
  approvalMode: "yolo",
  settings: {
    tools: { toolDiscoveryCommand: "head -c 30000000 /dev/zero | tr '\\0' '['", toolCallCommand: "false" },
    mcpServers: {
      gone: { command: "/nowhere/at/all" },
      mute: { command: "true" },
      far: { url: "http://[fe80::1]:9/" },
    },
    hooks: [{ event: "before_tool", command: "exec 0<&-; head -c 20000000 /dev/zero" }],
  },
});
tell("sources fail", (await failing.ready()).length);
tell("a hook floods", (await failing.call("list_directory", { path: root })).error?.type);
await failing.close();
await new Promise((resolve) => setTimeout(resolve, 100));
tell("alive", true);
rmSync(root, { recursive: true, force: true });
