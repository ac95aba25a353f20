import { isDeepStrictEqual } from "node:util";
import { isAnswered, resultOf, type ToolCall } from "@burin/contract/tool-call";
import type { Approval, Confirmation, Question, RunContext, Tool, ToolResult } from "@burin/contract/tools";
import type { CallIds } from "../scheduler/call-ids.ts";
import { readAnswer } from "../scheduler/decision.ts";
import { Scheduler, type SchedulerNeeds } from "../scheduler/scheduler.ts";
import { soundListener } from "../scheduler/sound-tool.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";

/** The flow of one toolbox or session, for whichever registry it is to look in. */
export interface GuardNeeds extends Omit<SchedulerNeeds, "registry"> {
  readonly callIds: CallIds;
}

/** What a user has already answered to the question of a call. */
export interface Given {
  readonly confirmation: Confirmation;
  readonly approval: Approval;
}

type Params = Record<string, unknown>;

export interface GuardedRun extends RunContext {
  readonly signal: AbortSignal;
  readonly given: Given | null;
}

/** The whole flow, for exactly this tool, whatever is registered under its name by then. */
export class GuardedCalls {
  readonly #name: string;
  readonly #needs: GuardNeeds & SchedulerNeeds;
  readonly #usual: Scheduler;

  constructor(tool: Tool, needs: GuardNeeds) {
    const registry = new ToolRegistry();
    registry.registerTool(tool);
    this.#name = tool.name;
    this.#needs = { ...needs, registry };
    this.#usual = new Scheduler(this.#needs);
  }

  question(args: Params, signal: AbortSignal): Promise<Confirmation | false> {
    return this.#usual.question({ id: "", name: this.#name, args }, signal);
  }

  async run(args: Params, { signal, given, onUpdate, callId }: GuardedRun): Promise<ToolResult> {
    const { callIds, questions } = this.#needs;
    const scheduler =
      given === null
        ? this.#usual
        : new Scheduler({ ...this.#needs, questions: answering(given, questions) });
    const call = { id: callId ?? callIds.next(), name: this.#name, args };
    const onCall = soundListener<ToolCall>((state) => {
      if (state.status === "executing" && state.display !== undefined) onUpdate?.(state.display);
    });
    const [answer] = await scheduler.run([call], { signal, onCall });
    if (answer === undefined || !isAnswered(answer)) throw new Error("The scheduler left a call unanswered.");
    return resultOf(answer);
  }
}

/** Answers the question that the user was shown; one that has changed since is asked as usual. */
function answering(
  { confirmation, approval }: Given,
  usual: SchedulerNeeds["questions"],
): SchedulerNeeds["questions"] {
  const asking = (callId: string) => async (question: Question, signal: AbortSignal) => {
    const answer = readAnswer(approval, question.confirmation);
    const isSame = isDeepStrictEqual(question.confirmation, confirmation);
    if (isSame && typeof answer !== "string") return answer.decision;
    const queue = await usual?.(callId);
    return queue === undefined ? null : queue.inTurn(() => queue.ask(question, signal), signal);
  };
  return async (callId) => ({ ask: asking(callId), inTurn: (work) => work(false) });
}
