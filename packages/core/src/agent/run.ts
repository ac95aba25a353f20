import type { RunEnd, RunError, RunStatus } from "@burin/contract/agent-event";
import { getOrCreate } from "@burin/contract/async/once";
import { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { ToolKind } from "@burin/contract/tools";
import type { Reply } from "./reply.ts";

/** The state of the work on one prompt. */
export class Run {
  readonly signal: AbortSignal;
  readonly guard: LoopGuard | null;
  /** How many replies the current prompt has got. */
  turns = 0;
  /** The latest text of the model. */
  text = "";
  /** The text of the earlier, incomplete replies that the current one continues. */
  unfinished = "";
  /** How many replies in a row broke off. */
  broken = 0;
  /** How many answers the output limit cut off. */
  cuts = 0;
  /** true if the last answer was cut off and not continued. */
  isCut = false;
  /** true if the signal aborted because the time budget is used up. */
  isOutOfTime = false;
  /** The error of the last call that was not approved. */
  refused: RunError | null = null;

  constructor(signal: AbortSignal, guard: LoopGuard | null) {
    this.signal = signal;
    this.guard = guard;
  }
}

type Outcome = Pick<Run, "turns" | "text"> & Partial<Pick<Run, "isCut">>;

export function createRunEnd(status: "success", outcome: Outcome): RunEnd;
export function createRunEnd(status: RunStatus, outcome: Outcome, error: RunError): RunEnd;
export function createRunEnd(status: RunStatus, { turns, text, isCut }: Outcome, error?: RunError): RunEnd {
  const whole = { type: "done" as const, result: text, turns };
  const event = isCut ? { ...whole, cut: true as const } : whole;
  if (error === undefined) return { ...event, status: "success" };
  return { ...event, status, error: { type: error.type, message: error.message } };
}

/** Returns the end of the run if the reply failed or was cancelled; null if it is complete. */
export function findReplyFailure(run: Run, { end }: Reply): RunEnd | null {
  if (end.reason === "cancelled") return createInterruptedEnd(run);
  return end.reason === "error" ? createRunEnd("error", run, end.error) : null;
}

export function createInterruptedEnd(run: Outcome): RunEnd {
  return createRunEnd("cancelled", run, { type: "cancelled", message: "Interrupted." });
}

export function createBudgetEnd(run: Run, message: string): RunEnd {
  return createRunEnd("limit", run, { type: "budget", message });
}

/** Returns the end of the run after these answers; null if the model is asked again. */
export function decideEnd(answers: readonly AnsweredCall[], run: Run, maxTurns: number): RunEnd | null {
  const { turns, text, guard } = run;
  const plan = findUnapprovedPlan(answers);
  if (plan) return createRunEnd("refused", { turns, text: appendPlan(text, plan) }, plan.error);
  if (guard?.verdict) {
    // A call that is refused repeatedly ends the run as refused, because the user can change that.
    if (run.refused) return createRunEnd("refused", run, run.refused);
    return createRunEnd("limit", run, { type: "loop", message: guard.verdict });
  }
  if (turns < maxTurns) return null;
  const message = `Stopped after ${turns} turns, the limit; raise it with --max-turns.`;
  return createRunEnd("limit", run, { type: "max_turns", message });
}

/** Whether the run ended because of a failure or the user, and not with the model's last text. */
export function isCutOff({ status, error }: RunEnd): boolean {
  const isWhole = error?.type === "nothing_left" || error?.type === "schema_mismatch";
  return !isWhole && (status === "error" || status === "cancelled");
}

const REFUSALS = new Set(["needs_approval", "denied", "cancelled", "plan_declined", "undecided"]);

type Failure = Exclude<AnsweredCall, { readonly status: "success" }>;

function filterFailures(answers: readonly AnsweredCall[]): Failure[] {
  return answers.flatMap((answer) => (answer.status === "success" ? [] : answer));
}

/** Returns why a run with an unapproved call does not count as a success, even if the model continues. */
export function findRefusal(answers: readonly AnsweredCall[]): RunError | null {
  return filterFailures(answers).find(({ error }) => REFUSALS.has(error.type))?.error ?? null;
}

/** Returns a plan that was not approved. It ends the turn, because the model could only present it again. */
function findUnapprovedPlan(answers: readonly AnsweredCall[]): Failure | undefined {
  const isPlan = (one: Failure) => one.status === "error" && one.confirmation?.kind === "plan";
  return filterFailures(answers).find((one) => isPlan(one) || one.error.type === "plan_declined");
}

/** Adds the plan to the text if no user was there to see it, so that the plan is the result of the run. */
function appendPlan(text: string, answer: Failure): string {
  const question = answer.status === "error" ? answer.confirmation : undefined;
  if (question?.kind !== "plan") return text;
  return [text, question.plan].filter((piece) => piece !== "").join("\n\n");
}

/** The number of failures of the same call from which on the answer contains a correction. */
const CORRECTED_AT = 3;
/** The number of failures of the same call that ends the run. */
const ENDED_AT = 6;
/**
 * The number of successes of the same call, with the same answer and nothing else between, from which on it is
 * corrected.
 */
const POINTLESS_AT = 5;
const POINTLESS_END = 20;

interface RepeatedFailure {
  count: number;
  /** How many changes had been made when it last failed. */
  changes: number;
}

/** Detects a model that repeats itself. A build that fails between edits is work, not a loop. */
export class LoopGuard {
  readonly #kindOf: (tool: string) => ToolKind | undefined;
  readonly #failures = new Map<string, RepeatedFailure>();
  /** Successful edits and commands: repeating one changes nothing new. */
  readonly #changes = new Set<string>();
  #last = { call: "", answer: "", count: 0 };
  /** The calls of this reply: the model repeats itself only when it has seen their answers. */
  readonly #inReply = new Set<string>();
  /** Why the run must end; null when it may continue. */
  verdict: string | null = null;

  constructor(kindOf: (tool: string) => ToolKind | undefined) {
    this.#kindOf = kindOf;
  }

  beginReply(): void {
    this.#inReply.clear();
  }

  /** Returns the call as the model sees it: with a correction in its answer after too many repetitions. */
  correctRepetition(call: ToolCall): ToolCall {
    if (!isAnswered(call)) return call;
    const mark = hashText(`${call.name} ${JSON.stringify(call.args)}`);
    const step = this.#inReply.has(mark) ? 0 : 1;
    this.#inReply.add(mark);
    return call.status === "success"
      ? this.#noteSuccess(call, mark, step)
      : this.#noteFailure(call, mark, step);
  }

  #noteFailure(call: AnsweredCall, mark: string, step: number): ToolCall {
    this.#last.count = 0;
    const failure = getOrCreate(this.#failures, mark, () => ({ count: 0, changes: this.#changes.size }));
    if (failure.changes !== this.#changes.size) failure.count = 0;
    failure.changes = this.#changes.size;
    failure.count += step;
    if (failure.count >= ENDED_AT) {
      this.verdict = `The model made the same failing call of ${call.name} ${failure.count} times, corrections did not help.`;
    }
    if (failure.count < CORRECTED_AT) return call;
    const times = `This exact call of ${call.name} has now failed ${failure.count} times, and nothing was done in between that could change that.`;
    const advice = [
      "Repeating it cannot help. Do something else: look at the present state",
      "(read the file, list the folder), use other arguments or another tool,",
      "or say what is missing and end your turn.",
      ...(failure.count === ENDED_AT - 1 ? ["Once more, and the run is ended."] : []),
    ].join(" ");
    const error = call.status === "success" ? "" : call.error.message;
    return { ...call, llmContent: `${times} ${advice}\nThe error was: ${error}` };
  }

  #noteSuccess(call: AnsweredCall, mark: string, step: number): ToolCall {
    const kind = this.#kindOf(call.name);
    if (kind === "edit" || kind === "execute") this.#changes.add(mark);
    const answer = hashText(JSON.stringify(call.llmContent));
    const isSame = this.#last.call === mark && this.#last.answer === answer;
    this.#last = { call: mark, answer, count: isSame ? this.#last.count + step : 1 };
    const { count } = this.#last;
    if (count < POINTLESS_AT) return call;
    if (count >= POINTLESS_END) {
      this.verdict = `The model made the same call of ${call.name} ${count} times, with the same answer each time.`;
    }
    const note = [
      `This is the same call with the same answer for the ${count}th time in a row.`,
      "The answer above will not change: use it, do something else, or end your turn.",
    ].join(" ");
    return { ...call, llmContent: [call.llmContent, note].flat() };
  }
}

/** Calls and answers may be long; their hashes take no room. */
function hashText(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha1").update(text).digest("base64");
}
