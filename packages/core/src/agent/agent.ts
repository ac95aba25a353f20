import type { FunctionCall } from "../messages/function-call.ts";
import type { Message } from "../messages/message.ts";
import type { ChatModel, ModelEvent } from "../models/chat-model.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { AnsweredCall } from "../scheduler/tool-call.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { AgentEvent, RunError, RunStatus } from "./agent-event.ts";
import { EventQueue } from "./event-queue.ts";
import { History } from "./history.ts";

export interface AgentNeeds {
  readonly model: ChatModel;
  readonly registry: ToolRegistry;
  readonly scheduler: Scheduler;
  readonly systemPrompt: string;
  /** Most replies of the model to one prompt. */
  readonly maxTurns: number;
  /** What happened before, of a session that is taken up again. */
  readonly past?: Iterable<AgentEvent>;
  /** Hears each event of the history when it happens, before anybody reads it. */
  readonly onEvent?: (event: AgentEvent) => void;
}

interface Reply {
  readonly text: string;
  readonly calls: readonly FunctionCall[];
  readonly end: Extract<ModelEvent, { type: "end" }>;
}

/** The loop: prompt, reply, calls, answers, until a reply asks for no tool. */
export class Agent {
  readonly #needs: AgentNeeds;
  readonly #history = new History();
  /** The calls of a run that its reader left; their answers still come and belong to the history. */
  #unfinished: Promise<unknown> = Promise.resolve();

  constructor(needs: AgentNeeds) {
    this.#needs = needs;
    for (const event of needs.past ?? []) this.#history.apply(event);
  }

  get history(): readonly Message[] {
    return this.#history.messages;
  }

  /** Takes an event into the history that the loop itself did not make. */
  enter(event: AgentEvent): void {
    this.#noted(event);
  }

  /**
   * Works on a prompt; or goes on from the history's end, with those calls of its last reply that have no
   * answer yet. Ends with one `done` event. A reader that stops early stops the work.
   */
  async *run(input: string | readonly FunctionCall[], signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const work = new AbortController();
    const stop = (): void => work.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      await this.#unfinished;
      yield* this.#turns(input, work.signal);
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  }

  async *#turns(input: string | readonly FunctionCall[], signal: AbortSignal): AsyncGenerator<AgentEvent> {
    let refused = yield* this.#begin(input, signal);
    for (let turns = 1; ; turns += 1) {
      const reply = yield* this.#reply(signal);
      if (signal.aborted || reply.end.reason === "cancelled") {
        yield done("cancelled", { turns, reply, error: { type: "cancelled", message: "Interrupted." } });
        return;
      }
      if (reply.end.reason === "error") {
        yield done("error", { turns, reply, error: reply.end.error });
        return;
      }
      if (reply.calls.length === 0) {
        if (reply.end.reason === "length") yield notice("The answer was cut by the model's output limit.");
        yield refused ? done("refused", { turns, reply, error: refused }) : done("success", { turns, reply });
        return;
      }
      const answers = yield* this.#runCalls(reply.calls, signal);
      refused = refusalIn(answers) ?? refused;
      const ending = signal.aborted ? null : this.#endingAfter(answers, { turns, reply });
      if (ending !== null) {
        yield ending;
        return;
      }
    }
  }

  async *#begin(
    input: string | readonly FunctionCall[],
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, RunError | null> {
    if (typeof input !== "string") return refusalIn(yield* this.#runCalls(input, signal));
    yield this.#noted({ type: "text", role: "user", text: input });
    return null;
  }

  #endingAfter(answers: readonly AnsweredCall[], { turns, reply }: Outcome): AgentEvent | null {
    const plan = unapprovedPlan(answers);
    if (plan !== null) return done("refused", { turns, reply: withPlan(reply, plan), error: plan.error });
    if (turns < this.#needs.maxTurns) return null;
    const message = `Stopped after ${turns} turns, the limit; raise it with --max-turns.`;
    return done("limit", { turns, reply, error: { type: "max_turns", message } });
  }

  async *#reply(signal: AbortSignal): AsyncGenerator<AgentEvent, Reply> {
    const request = {
      system: this.#needs.systemPrompt,
      history: this.#history.messages,
      tools: this.#needs.registry.getFunctionDeclarations(),
    };
    let text = "";
    const calls: FunctionCall[] = [];
    for await (const event of this.#needs.model.stream(request, signal)) {
      switch (event.type) {
        case "text":
          text += event.text;
          yield this.#noted({ type: "text", role: "model", text: event.text });
          break;
        case "function_call":
          calls.push(event.call);
          break;
        case "end":
          return { text, calls, end: event };
        default:
          yield this.#noted(event);
      }
    }
    const error = { type: "bad_reply", message: "The model's reply ended without an end." };
    return { text, calls, end: { type: "end", reason: "error", error } };
  }

  async *#runCalls(
    calls: readonly FunctionCall[],
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, AnsweredCall[]> {
    const queue = new EventQueue<AgentEvent>();
    const work = this.#needs.scheduler.run(calls, signal, (call) => {
      queue.push(this.#noted({ type: "tool_call", call }));
    });
    this.#unfinished = work;
    return yield* queue.during(work);
  }

  /** Enters the history when it happens, not when somebody reads it. */
  #noted(event: AgentEvent): AgentEvent {
    this.#history.apply(event);
    this.#needs.onEvent?.(event);
    return event;
  }
}

interface Outcome {
  readonly turns: number;
  readonly reply: Reply;
  readonly error?: RunError;
}

function done(status: RunStatus, { turns, reply, error }: Outcome): AgentEvent {
  const event = { type: "done" as const, status, result: reply.text, turns };
  return error === undefined ? event : { ...event, error: { type: error.type, message: error.message } };
}

function notice(message: string): AgentEvent {
  return { type: "notice", message };
}

const REFUSALS = new Set(["needs_approval", "denied", "cancelled", "plan_declined"]);

/** Why a run in which a call could not be approved does not count as done, even when the model goes on. */
function refusalIn(answers: readonly AnsweredCall[]): RunError | null {
  for (const answer of answers) {
    if (answer.status === "success") continue;
    if (REFUSALS.has(answer.error.type)) return answer.error;
  }
  return null;
}

type Unapproved = Exclude<AnsweredCall, { readonly status: "success" }>;

/** A plan that nobody has approved ends the turn: the model could only show it again. */
function unapprovedPlan(answers: readonly AnsweredCall[]): Unapproved | null {
  for (const answer of answers) {
    if (answer.status === "success") continue;
    const nobodyAsked = answer.status === "error" && answer.confirmation?.kind === "plan";
    if (nobodyAsked || answer.error.type === "plan_declined") return answer;
  }
  return null;
}

/** Where nobody was there to see the plan, it is the result of the run. */
function withPlan(reply: Reply, answer: Unapproved): Reply {
  const question = answer.status === "error" ? answer.confirmation : undefined;
  if (question?.kind !== "plan") return reply;
  return { ...reply, text: [reply.text, question.plan].filter((text) => text !== "").join("\n\n") };
}
