import type { AgentEvent } from "@burin/contract/agent-event";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { Tool } from "@burin/contract/tools";
import type { Agent } from "../agent/agent.ts";
import { isCutOff } from "../agent/outcome.ts";
import { modeNote } from "./mode-note.ts";
import type { Parking } from "./parking.ts";
import type { PastSession } from "./past-session.ts";
import type { Recording } from "./recording.ts";
import type { KindOf } from "./unsettled-calls.ts";
import { ProofOfWork } from "./work-proof.ts";

export interface SessionRunNeeds {
  readonly agent: Agent;
  /** The first event of all. */
  readonly announcement: AgentEvent;
  readonly recording: Recording;
  /** Its events are in the agent's history already. */
  readonly past: PastSession | null;
  readonly kindOf: KindOf;
  readonly parking: Parking;
  /** What every final answer has to fit. */
  readonly answerSchema: JsonSchema | undefined;
  readonly mode: () => ApprovalMode;
  /** A command that must pass before a run has ended well, and the tool that runs it. */
  readonly check: { readonly command: string; readonly shell: () => Tool | undefined } | null;
}

const NOTHING_LEFT: AgentEvent = {
  type: "done",
  status: "error",
  result: "",
  turns: 0,
  error: { type: "nothing_left", message: "There is nothing to go on with: the session waits for a prompt." },
};

const CUT_OFF: AgentEvent = {
  type: "context",
  text: "[The run ended here, before the reply was complete. Go on from there.]",
};

async function boundBy() {
  return (await import("./bound-answer.ts")).boundAnswer;
}

type Done = Extract<AgentEvent, { type: "done" }>;

/** Runs prompts with the agent, takes up what an earlier process has left, and has all of it written down. */
export class SessionRun {
  readonly #needs: SessionRunNeeds;
  #hasBegun = false;
  /** How the last run of this process ended. */
  #lastEnd: Done | null = null;

  constructor(needs: SessionRunNeeds) {
    this.#needs = needs;
  }

  /** Works on a prompt; null goes on where the session stopped, with the calls that had not begun. */
  async *run(prompt: string | null, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { recording, kindOf } = this.#needs;
    const work = new ProofOfWork(kindOf);
    for await (const event of await this.#demanded(prompt, signal)) {
      work.note(event);
      const proof = event.type === "done" ? work.told : null;
      const told = proof === null ? event : { ...event, proof };
      recording.note(told);
      if (told.type !== "done") yield told;
      else {
        this.#lastEnd = told;
        yield await this.#asRecorded(told);
      }
    }
  }

  /** The events of a run whose end is what was demanded of it: an answer of a form, a check that passes. */
  async #demanded(prompt: string | null, signal: AbortSignal): Promise<AsyncGenerator<AgentEvent>> {
    const { answerSchema: schema, check } = this.#needs;
    const plain = (text: string | null) => this.#parkable(text, signal);
    const boundAnswer = schema && (await boundBy());
    const ask = boundAnswer ? (text: string | null) => boundAnswer(schema, text, plain) : plain;
    if (check === null) return ask(prompt);
    const { checkedRun } = await import("./checked-run.ts");
    return checkedRun({ ...check, signal }, prompt, ask);
  }

  /** After a question that is kept, nothing is told but the end: what the calls became then is not kept. */
  async *#parkable(prompt: string | null, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { parking } = this.#needs;
    for await (const event of this.#events(prompt, AbortSignal.any([signal, parking.signal]))) {
      if (event.type === "done") yield parking.outcome(event) ?? event;
      else if (!parking.signal.aborted) yield event;
    }
  }

  async *#events(prompt: string | null, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const left = this.#hasBegun ? [] : (this.#needs.past?.calls.notBegun ?? []);
    if (!this.#hasBegun) yield* this.#begin(prompt === null);
    const { agent, past } = this.#needs;
    const isWaiting = left.length === 0 && agent.history.at(-1)?.role !== "user";
    if (prompt === null && isWaiting) {
      const isUnfinished = this.#lastEnd ? isCutOff(this.#lastEnd) : past?.isUnfinished;
      if (!isUnfinished) return yield NOTHING_LEFT;
      agent.enter(CUT_OFF);
      yield CUT_OFF;
    }
    const note = prompt === null ? null : modeNote(this.#needs.mode(), agent.history);
    if (note !== null) {
      agent.enter(note);
      yield note;
    }
    yield* agent.run(prompt ?? left, signal);
  }

  *#begin(isGoingOn: boolean): Generator<AgentEvent> {
    const { agent, announcement, past, kindOf } = this.#needs;
    this.#hasBegun = true;
    yield announcement;
    if (past === null) return;
    for (const message of past.notices) yield { type: "notice", message };
    for (const event of past.calls.answers(kindOf, isGoingOn ? "unusable" : "all")) {
      agent.enter(event);
      yield event;
    }
  }

  /** What ended well and is not in the record has not ended well: nobody could go on with it. */
  async #asRecorded(end: Done): Promise<Done> {
    try {
      await this.#needs.recording.written();
      return end;
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      const { code: type, message } = error;
      return end.status === "success" ? { ...end, status: "error", error: { type, message } } : end;
    }
  }
}
