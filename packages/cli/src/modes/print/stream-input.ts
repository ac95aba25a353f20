import { createInterface } from "node:readline";
import {
  type Confirm,
  type Confirmation,
  type Decision,
  decisionsFor,
  readDecision,
  type Session,
} from "@burin/core";
import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import { UsageError } from "../../terminal/exit-code.ts";
import { visible } from "../../terminal/output.ts";
import { readInputLine } from "./input-line.ts";
import type { Prompt, PromptInput } from "./prompt-input.ts";

/** A prompt that waits for its turn or, at the head of the line, has it. */
class InHand {
  readonly text: string;
  readonly #stop = new AbortController();
  #hasBegun = false;
  #early: string[] = [];

  constructor(text: string) {
    this.text = text;
  }

  prompt(session: Session): Prompt {
    const onBegun = (): void => {
      if (this.#hasBegun) return;
      this.#hasBegun = true;
      for (const words of this.#early) session.steer(words);
    };
    return { text: this.text, signal: this.#stop.signal, onBegun };
  }

  /** Words that come before the prompt has entered the history wait, so that they stand behind it. */
  steer(words: string, session: Session): void {
    if (this.#hasBegun) session.steer(words);
    else this.#early.push(words);
  }

  interrupt(): void {
    this.#stop.abort();
  }
}

interface OpenQuestion {
  readonly kind: Confirmation["kind"];
  /** null: nobody will. */
  readonly answer: (decision: Decision | null) => void;
}

/** Prompts on stdin, one JSON object a line, and what a program says while they are worked on. */
export class StreamInput implements PromptInput {
  readonly #options: CommonOptions;
  readonly #io: Io;
  readonly #line: InHand[];
  #lineNumber = 0;
  #hasEnded = false;
  #wake = (): void => {};
  #questions = 0;
  /** By its id; a server may ask while a call does. */
  readonly #open = new Map<string, OpenQuestion>();
  /** Something was said that could not be read. */
  hasFault = false;

  constructor(first: string, options: CommonOptions, io: Io) {
    this.#line = first.trim() === "" ? [] : [new InHand(first)];
    this.#options = options;
    this.#io = io;
  }

  async *prompts(session: Session): AsyncGenerator<Prompt> {
    this.#listen(session);
    let count = 0;
    try {
      for (let next = await this.#next(); next !== undefined; next = await this.#next()) {
        const prompt = next.prompt(session);
        count += 1;
        yield prompt;
        this.#line.shift();
        // What came too late for the run is said next; after an interruption it waits for a prompt.
        const late = prompt.signal?.aborted ? [] : session.takeWaiting();
        if (late.length > 0) this.#line.unshift(new InHand(late.join("\n\n")));
      }
    } finally {
      // When the run was parked or interrupted as a whole, the one at the head was the last.
      this.#tellLeft(this.#line.slice(1));
    }
    if (count === 0 && !this.hasFault && !this.#io.signal.aborted) {
      throw new UsageError('there was no prompt on stdin; write {"type":"user","text":"..."}, one a line.');
    }
  }

  /** undefined when there will be none. */
  async #next(): Promise<InHand | undefined> {
    while (this.#line.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#line[0];
  }

  #tellLeft(left: readonly InHand[]): void {
    if (left.length === 0) return;
    const message = `Not begun, because the run ended before: ${left.map(({ text }) => JSON.stringify(text)).join(", ")}`;
    if (this.#options.outputFormat === "stream-json") this.#tell({ type: "notice", message });
    else this.#io.output.note(`burin: ${visible(message)}`);
  }

  /** Asks the program; when stdin has ended nobody is there to answer. */
  readonly confirm: Confirm = (confirmation, signal) =>
    new Promise((resolve) => {
      if (this.#hasEnded) {
        resolve(null);
        return;
      }
      this.#questions += 1;
      const id = `q${this.#questions}`;
      this.#open.set(id, { kind: confirmation.kind, answer: resolve });
      signal.addEventListener("abort", () => this.#open.delete(id), { once: true });
      this.#tell({ type: "awaiting_approval", id, confirmation });
    });

  #listen(session: Session): void {
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    const end = (): void => {
      this.#hasEnded = true;
      for (const { answer } of this.#open.values()) answer(null);
      this.#open.clear();
      this.#wake();
    };
    lines.on("line", (line) => this.#heed(line, session));
    lines.on("close", end);
    process.stdin.on("error", (error) => {
      this.#complain(`stdin cannot be read: ${error.message}`);
      end();
    });
    this.#io.signal.addEventListener("abort", end, { once: true });
    if (this.#io.signal.aborted) end();
  }

  #heed(line: string, session: Session): void {
    this.#lineNumber += 1;
    const text = this.#lineNumber === 1 ? line.replace(/^\ufeff/, "") : line;
    if (text.trim() === "") return;
    const said = readInputLine(text);
    const [current] = this.#line;
    switch (said.type) {
      case "fault":
        this.#complain(said.message);
        break;
      case "interrupt":
        current?.interrupt();
        break;
      case "answer":
        this.#answer(said.id, said.decision);
        break;
      default:
        if (said.type === "steer" && current !== undefined) current.steer(said.text, session);
        else this.#line.push(new InHand(said.text));
        this.#wake();
    }
  }

  #answer(id: string, given: unknown): void {
    const question = this.#open.get(id);
    if (question === undefined) {
      // It may have been answered by an interruption in the same moment.
      this.#tellFault(`no question ${JSON.stringify(id)} is open.`);
      return;
    }
    const decision = readDecision(given, question.kind);
    if (decision === null) {
      this.#complain(`the decision must be one of ${decisionsFor(question.kind)}.`);
      return;
    }
    this.#open.delete(id);
    question.answer(decision);
  }

  #complain(message: string): void {
    this.hasFault = true;
    this.#tellFault(message);
  }

  #tellFault(why: string): void {
    const line = this.#lineNumber;
    const message = `line ${line} of stdin: ${why}`;
    const { output } = this.#io;
    if (this.#options.outputFormat === "stream-json") this.#tell({ type: "input_error", line, message });
    else if (this.#options.outputFormat === "json")
      this.#tell({ status: "error", result: "", error: { type: "input", line, message } });
    else output.note(`burin: ${visible(message)}`);
  }

  #tell(value: object): void {
    this.#io.output.out(`${JSON.stringify(value)}\n`);
  }
}
