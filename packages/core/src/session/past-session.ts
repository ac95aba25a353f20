import type { AgentEvent } from "@burin/contract/agent-event";
import type { Decision, Question } from "@burin/contract/tools";
import type { SeenFile } from "@burin/files/workspace/node-workspace";
import { isCutOff } from "../agent/run.ts";
import { createLogState, readLog } from "./log/read-log.ts";
import { ParkedQuestions } from "./parked-questions.ts";
import { type ResolveKind, UnsettledCalls } from "./unsettled-calls.ts";

const IN_HISTORY = new Set<AgentEvent["type"]>(["text", "thought", "tool_call", "context"]);
const LOST_BEGINNING = "[The beginning of this conversation was lost.]";

/** The content of an ended session's log, for resuming the session. */
export class PastSession {
  readonly path: string;
  /** The calls at its end that have no answer. This and the fields below are complete once all events were read. */
  readonly calls = new UnsettledCalls();
  /** What the model knows about files from the answers in the log, in order. */
  readonly seen: SeenFile[] = [];
  /** true if the last run ended before the model had ended its turn. */
  isUnfinished = false;
  readonly #state = createLogState();
  /** Files that calls showed or wrote, if the log does not have the calls' answers yet. */
  #unanswered: SeenFile[] = [];
  readonly #hear: (event: AgentEvent) => void;

  /** `hear` is called with each event of the log when it is read. */
  constructor(path: string, hear: (event: AgentEvent) => void = () => {}) {
    this.path = path;
    this.#hear = hear;
  }

  /** Returns the questions of calls without an answer. `answer` belongs to the first of them. */
  buildParkedQuestions(answer: Decision | undefined): ParkedQuestions {
    return new ParkedQuestions(this.calls, answer);
  }

  get lastNumber(): number {
    return this.#state.lastNumber;
  }

  get isMidLine(): boolean {
    return !this.#state.endsLine;
  }

  get notices(): readonly string[] {
    const { lost, isTorn } = this.#state;
    const loss = `${lost} record(s) of this session cannot be read and are left out; ${this.path} is kept as it is.`;
    const tear = "The last record of this session was cut off while it was written, and is left out.";
    return [...(lost > 0 ? [loss] : []), ...(isTorn ? [tear] : [])];
  }

  /** Yields the events in order, as a consistent history: lost answers are replaced. Calls at the end stay open. */
  *listEvents(kindOf: ResolveKind): Generator<AgentEvent> {
    let hasBegun = false;
    for (const { event, seen } of readLog(this.path, this.#state)) {
      this.#hear(event);
      if (this.calls.provesAnswersLost(event)) yield* this.calls.createAnswers(kindOf, "all");
      if (!hasBegun && IN_HISTORY.has(event.type)) {
        hasBegun = true;
        if (findSpeaker(event) !== "user" && event.type !== "context")
          yield { type: "text", role: "user", text: LOST_BEGINNING };
      }
      this.calls.followEvent(event);
      this.isUnfinished =
        event.type === "done" ? isCutOff(event) : this.isUnfinished || findSpeaker(event) === "model";
      this.#followReads(event, seen);
      yield event;
    }
  }

  /** Notes what a call showed once its answer is in the log. If a crash lost the answer, the model has seen nothing. */
  #followReads(event: AgentEvent, seen: readonly SeenFile[] = []): void {
    if (event.type === "session") this.#unanswered = [];
    this.#unanswered.push(...seen);
    if (this.calls.hasBegun) return;
    this.seen.push(...this.#unanswered.splice(0));
  }
}

/** Returns the question on which a session was parked, or null if no question is open. */
export function findParkedQuestion(path: string): Question | null {
  const past = new PastSession(path);
  for (const _event of past.listEvents(() => undefined));
  return past.calls.question;
}

function findSpeaker(event: AgentEvent): "user" | "model" | null {
  if (event.type === "thought") return "model";
  return event.type === "text" ? event.role : null;
}
