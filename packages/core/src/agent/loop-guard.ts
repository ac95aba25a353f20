import { onceFor } from "@burin/contract/async/once";
import { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
import type { ToolKind } from "@burin/contract/tools";

/** From this failure of the same call on, the answer contains a correction. */
const CORRECTED_AT = 3;
/** This failure ends the run. */
const ENDED_AT = 6;
/** The same for a call that succeeds with the same answer each time and nothing else between. */
const POINTLESS_AT = 5;
const POINTLESS_END = 20;

interface Failure {
  count: number;
  /** How many changes had been made when it last failed. */
  changes: number;
}

/** Detects a model that repeats itself. A build that fails between edits is work, not a loop. */
export class LoopGuard {
  readonly #kindOf: (tool: string) => ToolKind | undefined;
  readonly #failures = new Map<string, Failure>();
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
  seen(call: ToolCall): ToolCall {
    if (!isAnswered(call)) return call;
    const mark = hashOf(`${call.name} ${JSON.stringify(call.args)}`);
    const step = this.#inReply.has(mark) ? 0 : 1;
    this.#inReply.add(mark);
    return call.status === "success" ? this.#succeeded(call, mark, step) : this.#failed(call, mark, step);
  }

  #failed(call: AnsweredCall, mark: string, step: number): ToolCall {
    this.#last.count = 0;
    const failure = onceFor(this.#failures, mark, () => ({ count: 0, changes: this.#changes.size }));
    if (failure.changes !== this.#changes.size) failure.count = 0;
    failure.changes = this.#changes.size;
    failure.count += step;
    if (failure.count >= ENDED_AT) {
      this.verdict = `The model made the same failing call of ${call.name} ${failure.count} times, corrections did not help.`;
    }
    if (failure.count < CORRECTED_AT) return call;
    const times = `This exact call of ${call.name} has now failed ${failure.count} times, and nothing was done in between that could change that.`;
    const advice = `Repeating it cannot help. Do something else: look at the present state (read the file, list the folder), use other arguments or another tool, or say what is missing and end your turn.${failure.count === ENDED_AT - 1 ? " Once more, and the run is ended." : ""}`;
    const error = call.status === "success" ? "" : call.error.message;
    return { ...call, llmContent: `${times} ${advice}\nThe error was: ${error}` };
  }

  #succeeded(call: AnsweredCall, mark: string, step: number): ToolCall {
    const kind = this.#kindOf(call.name);
    if (kind === "edit" || kind === "execute") this.#changes.add(mark);
    const answer = hashOf(JSON.stringify(call.llmContent));
    const isSame = this.#last.call === mark && this.#last.answer === answer;
    this.#last = { call: mark, answer, count: isSame ? this.#last.count + step : 1 };
    const { count } = this.#last;
    if (count < POINTLESS_AT) return call;
    if (count >= POINTLESS_END) {
      this.verdict = `The model made the same call of ${call.name} ${count} times, with the same answer each time.`;
    }
    const note = `This is the same call with the same answer for the ${count}th time in a row. The answer above will not change: use it, do something else, or end your turn.`;
    return { ...call, llmContent: [call.llmContent, note].flat() };
  }
}

/** Calls and answers may be long; their hashes take no room. */
function hashOf(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha1").update(text).digest("base64");
}
