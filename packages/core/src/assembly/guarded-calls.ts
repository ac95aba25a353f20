import { isDeepStrictEqual } from "node:util";
import { isAnswered, type ToolCall, toToolResult } from "@burin/contract/tool-call";
import type { Approval, Confirmation, Question, RunContext, Tool, ToolResult } from "@burin/contract/tools";
import type { CallIds } from "../scheduler/call-ids.ts";
import { wrapListener } from "../scheduler/checked-tool.ts";
import { readAnswer } from "../scheduler/decision.ts";
import { Scheduler, type SchedulerOptions } from "../scheduler/scheduler.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";

/** The flow of one toolbox or session, except for the registry in which calls are looked up. */
export interface GuardOptions extends Omit<SchedulerOptions, "registry"> {
  readonly callIds: CallIds;
}

/** The user's answer to the question of a call, given in advance. */
export interface GivenAnswer {
  readonly confirmation: Confirmation;
  readonly approval: Approval;
}

type Params = Record<string, unknown>;

export interface GuardedRun extends RunContext {
  readonly signal: AbortSignal;
  readonly given: GivenAnswer | null;
}

/** Runs the whole flow for exactly this tool, even if another tool is registered under its name later. */
export class GuardedCalls {
  readonly #name: string;
  readonly #needs: GuardOptions & SchedulerOptions;
  readonly #usual: Scheduler;

  constructor(tool: Tool, needs: GuardOptions) {
    const registry = new ToolRegistry();
    registry.registerTool(tool);
    this.#name = tool.name;
    this.#needs = { ...needs, registry };
    this.#usual = new Scheduler(this.#needs);
  }

  findQuestion(args: Params, signal: AbortSignal): Promise<Confirmation | false> {
    return this.#usual.question({ id: "", name: this.#name, args }, signal);
  }

  async run(args: Params, { signal, given, onUpdate, callId }: GuardedRun): Promise<ToolResult> {
    const { callIds, questions } = this.#needs;
    const scheduler =
      given === null
        ? this.#usual
        : new Scheduler({ ...this.#needs, questions: createGivenAnswerQueue(given, questions) });
    const call = { id: callId ?? callIds.createId(), name: this.#name, args };
    const onCall = wrapListener<ToolCall>((state) => {
      if (state.status === "executing" && state.display !== undefined) onUpdate?.(state.display);
    });
    const [answer] = await scheduler.run([call], { signal, onCall });
    if (answer === undefined || !isAnswered(answer)) throw new Error("The scheduler left a call unanswered.");
    return toToolResult(answer);
  }
}

/** Answers the question that the user was shown. If the question has changed since, it is asked as usual. */
function createGivenAnswerQueue(
  { confirmation, approval }: GivenAnswer,
  usual: SchedulerOptions["questions"],
): SchedulerOptions["questions"] {
  const createQuestionAnswerer = (callId: string) => async (question: Question, signal: AbortSignal) => {
    const answer = readAnswer(approval, question.confirmation);
    const isSame = isDeepStrictEqual(question.confirmation, confirmation);
    if (isSame && typeof answer !== "string") return answer.decision;
    const queue = await usual?.(callId);
    return queue === undefined ? null : queue.inTurn(() => queue.ask(question, signal), signal);
  };
  return async (callId) => ({ ask: createQuestionAnswerer(callId), inTurn: (work) => work(false) });
}
