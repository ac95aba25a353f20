import type { AgentEvent } from "@burin/contract/agent-event";
import { orAborted } from "../scheduler/interruption.ts";

const GIVEN_UP: AgentEvent = {
  type: "done",
  status: "cancelled",
  result: "",
  turns: 0,
  error: { type: "cancelled", message: "Interrupted while an earlier prompt was worked on." },
};

/** Lets a run of a session begin when those before it have ended: side by side they would mix the history. */
export class RunLine {
  #last: Promise<unknown> | null = null;
  /** Ends the run whose last event was read: its reader may never come back for the nothing behind it. */
  #finish: (() => Promise<unknown>) | null = null;

  /** The same for work that is no run. */
  async take<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#finish?.();
    const before = this.#last;
    const turn = before === null ? work() : orAborted(() => before, signal).then(work);
    const whole = Promise.allSettled([before, turn]);
    this.#last = whole;
    void whole.then(() => {
      if (this.#last === whole) this.#last = null;
    });
    return turn;
  }

  async *inTurn(run: () => AsyncGenerator<AgentEvent>, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    await this.#finish?.();
    const before = this.#last;
    let leave = (): void => {};
    const own = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const whole = before === null ? own : Promise.all([before, own]);
    this.#last = whole;
    const events = run();
    const end = (): void => {
      if (this.#last === whole) this.#last = null;
      if (this.#finish === finish) this.#finish = null;
      leave();
    };
    const finish = () => events.return(undefined).then(end);
    try {
      if (before !== null && (await isGivenUp(before, signal))) {
        yield GIVEN_UP;
        return;
      }
      for await (const event of events) {
        if (event.type === "done") this.#finish = finish;
        yield event;
      }
    } finally {
      end();
    }
  }
}

/** Whether the signal aborts before the work in front has ended. */
function isGivenUp(before: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return orAborted(() => before.then(() => false), signal).catch(() => true);
}
