// A session of 30 calls in a process of its own, gone on with where an earlier one was killed: root, home.
// Prints a line when it begins, and at the end what is known of each step as JSON.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { createSession, resumeSession } from "./core.mjs";

export const STEPS = 30;
const [root = "", home = ""] = process.argv.slice(2);
const ledger = join(root, "ledger");

/** An effect that shows when it happens twice. */
const append = {
  name: "append",
  displayName: "Append",
  description: "Appends a line",
  kind: "execute",
  parameterSchema: { type: "object", properties: { step: { type: "number" } } },
  validateToolParams: () => null,
  getDescription: () => "append",
  shouldConfirmExecute: async () => false,
  /** @param {{ step: number }} params */
  execute: async ({ step }) => {
    appendFileSync(ledger, `${step}\n`);
    return { llmContent: `appended ${step}`, returnDisplay: "" };
  },
};

/** @typedef {{ role: string, parts: { functionCall?: any, functionResponse?: any }[] }} Message */

/**
 * What is known of each step; throws when a call is not answered exactly once and in its turn.
 * @param {readonly Message[]} history
 */
function stepsIn(history) {
  /** @type {Map<string, number>} */
  const open = new Map();
  /** @type {Record<number, string>} */
  const known = {};
  for (const { role, parts } of history) {
    if (role === "model" && open.size > 0) throw new Error("a call was left without an answer");
    for (const { functionCall, functionResponse } of parts) {
      if (functionCall) open.set(functionCall.id, functionCall.args.step ?? 0);
      if (functionResponse) known[stepOf(open, functionResponse.id)] = fateIn(functionResponse.response);
    }
  }
  return Object.fromEntries(Object.entries(known).filter(([step, fate]) => step !== "0" && fate !== "none"));
}

/**
 * @param {Map<string, number>} open
 * @param {string} id
 */
function stepOf(open, id) {
  const step = open.get(id);
  if (!open.delete(id) || step === undefined) throw new Error("an answer belongs to no call");
  return step;
}

/** @param {{ output?: string, error?: string }} response */
function fateIn({ output, error = "" }) {
  if (output !== undefined) return "done";
  if (error.includes("may have run")) return "maybe";
  if (/was not run|was cut off/.test(error)) return "none";
  throw new Error(error);
}

const model = {
  name: "steps",
  /** @param {{ history: readonly Message[] }} request */
  async *stream({ history }) {
    const known = stepsIn(history);
    const left = Array.from({ length: STEPS }, (_, index) => index + 1).filter((step) => !known[step]);
    yield { type: "text", text: `${left.length} left.` };
    let count = history.flatMap(({ parts }) => parts.filter((part) => part.functionCall)).length;
    for (const step of left.slice(0, 2)) {
      count += 1;
      yield { type: "function_call", call: { id: `call_${count}`, name: "append", args: { step } } };
    }
    if (left.length > 0) {
      const args = { path: root };
      yield { type: "function_call", call: { id: `call_${count + 1}`, name: "list_directory", args } };
    }
    yield { type: "end", reason: "stop" };
  },
};

const resume = existsSync(join(home, "sessions"))
  ? await resumeSession({ home, root }).catch((/** @type {Error & { code?: string }} */ error) => {
      if (error.code === "not_found") return undefined;
      throw error;
    })
  : undefined;
const session = createSession({
  root,
  environment: { BURIN_HOME: home },
  model,
  tools: [append],
  approvalMode: "yolo",
  record: true,
  ...(resume ? { resume } : {}),
});
let last;
process.stdout.write("begun\n");
if (resume) for await (const event of session.goOn()) last = event;
if (Object.keys(stepsIn(session.history)).length < STEPS) {
  for await (const event of session.run("go")) last = event;
}
await session.close();
process.stdout.write(JSON.stringify({ status: last?.status, known: stepsIn(session.history) }));
