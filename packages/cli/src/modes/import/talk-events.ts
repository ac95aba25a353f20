import type { AnsweredCall, ToldSession } from "@burin/core";
import { ownCall } from "./foreign-tools.ts";
import type { Step, Talk } from "./found.ts";

type Told = ToldSession["events"] extends Iterable<infer One> ? One : never;
type Event = Told[1];

interface Origin {
  readonly id: string;
  readonly root: string;
  /** The agent and its id of the session, in words. */
  readonly from: string;
}

const MOST_SHOWN = 10_000;
const NO_ANSWER = "The answer to this call was not in the record that this session was taken from.";

/** The conversation as events of our own session. Every call gets an answer, so that the session can continue. */
export function* eventsOf({ model, steps }: Talk, { id, root, from }: Origin): Generator<Told> {
  let at = steps.map((step) => step.at).find(isTime) ?? new Date(0).toISOString();
  yield [at, { type: "session", sessionId: id, model, root }];
  yield [at, { type: "notice", message: `Imported from ${from}.` }];
  const open: Open = new Map();
  for (const [index, step] of steps.entries()) {
    if (isTime(step.at)) at = step.at;
    if (step.kind === "user") yield* unanswered(open, at);
    const event = eventOf(step, open, `imported_${index}`);
    if (event !== null) yield [at, event];
  }
  yield* unanswered(open, at);
  const last = steps.findLast(({ kind }) => kind === "model");
  yield [at, { type: "done", status: "success", result: last?.kind === "model" ? last.text : "", turns: 0 }];
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

type Asked = Pick<AnsweredCall, "callId" | "name" | "args" | "description">;
/** The calls that have no answer yet. */
type Open = Map<string, Asked>;

/** Foreign ids may repeat, and not every service accepts all of them. */
function eventOf(step: Step, open: Open, callId: string): Event | null {
  if (step.kind === "call") {
    const asked = askedIn(step, callId);
    open.set(step.id, asked);
    return { type: "tool_call", call: { ...asked, status: "validating" } };
  }
  if (step.kind === "answer") {
    const asked = open.get(step.id);
    open.delete(step.id);
    return asked === undefined ? null : { type: "tool_call", call: answered(asked, step) };
  }
  const { kind: role, text, media = [] } = step;
  return { type: "text", role, text, ...(media.length > 0 ? { media } : {}) };
}

function askedIn({ name, args }: Step & { readonly kind: "call" }, callId: string): Asked {
  const own = ownCall(name, args);
  const { command, absolute_path, file_path, pattern, path } = own.args;
  const subject = command ?? absolute_path ?? file_path ?? pattern ?? path;
  return { callId, ...own, description: typeof subject === "string" ? subject.slice(0, 200) : "" };
}

type Answer = Pick<Step & { readonly kind: "answer" }, "text" | "media" | "isError">;

function answered(asked: Asked, { text, media = [], isError }: Answer): AnsweredCall {
  const llmContent = media.length === 0 ? text : [text, ...media.map((inlineData) => ({ inlineData }))];
  const answer = { ...asked, llmContent, returnDisplay: text.slice(0, MOST_SHOWN) };
  return isError
    ? { ...answer, status: "error", error: { type: "tool_failed", message: text } }
    : { ...answer, status: "success" };
}

function* unanswered(open: Open, at: string): Generator<Told> {
  for (const asked of open.values())
    yield [at, { type: "tool_call", call: answered(asked, { text: NO_ANSWER, isError: true }) }];
  open.clear();
}
