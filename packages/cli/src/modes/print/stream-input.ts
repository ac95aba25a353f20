import type { Decision, Part, PartListUnion, Session } from "@burin/core";
import { describeError } from "@burin/core/internal";
import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import { UsageError } from "../../terminal/exit-code.ts";
import { formatNote } from "../../terminal/output.ts";
import { MAX_STDIN_BYTES } from "../../terminal/read-stdin.ts";
import { openStdinLines } from "../../terminal/stdin-lines.ts";
import type { Prompt, PromptInput } from "./prompt-input.ts";

/** The user's text, with any images or files. */
interface Words {
  readonly text: string;
  readonly files: readonly Part[];
}

/** One line from a program on stdin. */
type InputLine =
  | ({ readonly type: "user" | "steer" } & Words)
  | { readonly type: "interrupt" }
  | { readonly type: "answer"; readonly id: string; readonly decision: unknown }
  | { readonly type: "fault"; readonly message: string };

type Fields = Readonly<Record<string, unknown>>;

const SHAPES = [
  'write {"type":"user","text":"..."} (with "parts" for images and files),',
  '{"type":"steer","text":"..."}, {"type":"interrupt"} or {"type":"answer","id":"...","decision":{...}}',
].join(" ");

/** A prompt that waits for its turn; the one at the head of the queue is running. */
class CurrentPrompt {
  readonly words: Words;
  readonly #stop = new AbortController();
  #hasBegun = false;
  #early: Words[] = [];

  constructor(words: Words) {
    this.words = words;
  }

  prompt(session: Session): Prompt {
    const steerEarlyPrompts = (): void => {
      if (this.#hasBegun) return;
      this.#hasBegun = true;
      for (const words of this.#early) session.steer(toParts(words));
    };
    return { ...this.words, signal: this.#stop.signal, onBegun: steerEarlyPrompts };
  }

  /** Adds text to a running prompt. Holds it back until the prompt is in the history, so that it follows it. */
  steer(words: Words, session: Session): void {
    if (this.#hasBegun) session.steer(toParts(words));
    else this.#early.push(words);
  }

  interrupt(): void {
    this.#stop.abort();
  }
}

function toParts({ text, files }: Words): PartListUnion {
  if (files.length === 0) return text;
  return text === "" ? [...files] : [text, ...files];
}

function joinPrompts(said: readonly PartListUnion[]): Words {
  const parts = said.flat();
  const texts = parts.flatMap((part) => (typeof part === "string" ? part : (part.text ?? [])));
  const files = parts.filter((part) => typeof part !== "string" && part.inlineData !== undefined);
  return { text: texts.join("\n\n"), files: files as Part[] };
}

/** Reads prompts from stdin, one JSON object per line, and messages that arrive while a prompt runs. */
export class StreamInput implements PromptInput {
  readonly #options: CommonOptions;
  readonly #io: Io;
  readonly #line: CurrentPrompt[];
  #lineNumber = 0;
  #hasEnded = false;
  #wake = (): void => {};
  /** Whether a line could not be read. */
  hasFault = false;

  constructor(first: string, options: CommonOptions, io: Io) {
    this.#line = first.trim() === "" ? [] : [new CurrentPrompt({ text: first, files: [] })];
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
        // Send texts that came too late for the run as the next prompt. After an interruption they wait for the next
        // prompt.
        const late = prompt.signal?.aborted ? [] : session.takeWaiting();
        if (late.length > 0) this.#line.unshift(new CurrentPrompt(joinPrompts(late)));
      }
    } finally {
      // If the whole run was parked or interrupted, the prompt at the head was still run; the others were not.
      this.#reportUnstartedPrompts(this.#line.slice(1), session);
    }
    if (count === 0 && !this.hasFault && !this.#io.signal.aborted)
      throw new UsageError('there was no prompt on stdin; write {"type":"user","text":"..."}, one a line.');
  }

  /** Resolves to the next prompt, or to undefined when there will be no more. */
  async #next(): Promise<CurrentPrompt | undefined> {
    while (this.#line.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#line[0];
  }

  #reportUnstartedPrompts(left: readonly CurrentPrompt[], session: Session): void {
    if (left.length === 0) return;
    const message = `Not begun, because the run ended before: ${left.map(({ words }) => JSON.stringify(words.text)).join(", ")}`;
    session.note({ type: "notice", message });
    if (this.#options.outputFormat !== "stream-json") this.#io.output.note(formatNote(message));
  }

  /** Reports questions. Once stdin has ended, answers them with null, because nobody can answer any more. */
  async #reportQuestions(session: Session): Promise<void> {
    const isTold = this.#options.outputFormat === "stream-json";
    for await (const { event } of session.events()) {
      if (event.type !== "question") continue;
      if (!isTold) this.#printEvent(event);
      if (this.#hasEnded) session.answer(event.id, null);
    }
  }

  #listen(session: Session): void {
    if (this.#options.asksOnStdin) void this.#reportQuestions(session);
    const lines = openStdinLines();
    const endInput = (): void => {
      this.#hasEnded = true;
      for (const { id } of session.questions) session.answer(id, null);
      this.#wake();
    };
    lines.on("line", (line) => this.#handleLine(line, session));
    lines.on("close", endInput);
    process.stdin.on("error", (error) => {
      this.#reportInputFault(`stdin cannot be read: ${error.message}`, session);
      endInput();
    });
    this.#io.signal.addEventListener("abort", endInput, { once: true });
    if (this.#io.signal.aborted) endInput();
  }

  #handleLine(line: string, session: Session): void {
    this.#lineNumber += 1;
    const text = this.#lineNumber === 1 ? line.replace(/^\ufeff/, "") : line;
    if (text.trim() === "") return;
    if (Buffer.byteLength(text) >= MAX_STDIN_BYTES) {
      this.#reportInputFault(`it is longer than ${MAX_STDIN_BYTES} bytes, so it was left out`, session);
      return;
    }
    const said = readInputLine(text);
    const [current] = this.#line;
    if (said.type === "fault") this.#reportInputFault(said.message, session);
    else if (said.type === "interrupt") current?.interrupt();
    else if (said.type === "answer") this.#answer(said, session);
    else {
      if (said.type === "steer" && current !== undefined) current.steer(said, session);
      else this.#line.push(new CurrentPrompt(said));
      this.#wake();
    }
  }

  #answer({ id, decision }: Extract<InputLine, { type: "answer" }>, session: Session): void {
    const isOpen = session.questions.some((question) => question.id === id);
    const fault = session.answer(id, decision as Decision);
    if (fault === null) return;
    // Report it as the answer's fault only if the question was open: an interruption may have answered it at the same
    // moment.
    if (isOpen) this.#reportInputFault(fault, session);
    else this.#printInputFault(fault, session);
  }

  #reportInputFault(message: string, session: Session): void {
    this.hasFault = true;
    this.#printInputFault(message, session);
  }

  #printInputFault(why: string, session: Session): void {
    const line = this.#lineNumber;
    const message = `line ${line} of stdin: ${why}`;
    session.note({ type: "input_error", line, message });
    if (this.#options.outputFormat === "json")
      this.#printEvent({ status: "error", result: "", error: { type: "input", line, message } });
    if (this.#options.outputFormat === "text") this.#io.output.note(formatNote(message));
  }

  #printEvent(value: object): void {
    this.#io.output.out(`${JSON.stringify(value)}\n`);
  }
}

function readInputLine(line: string): InputLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return createFault(`it is not valid JSON (${describeError(error)})`);
  }
  if (!isRecord(value)) return createFault("it is not an object");
  const { type, id, decision } = value;
  switch (type) {
    case "user":
    case "steer": {
      const words = readWords(value);
      return typeof words === "string" ? createFault(words) : { type, ...words };
    }
    case "interrupt":
      return { type };
    case "answer":
      return typeof id === "string" ? { type, id, decision } : createFault('it has no "id"');
    default:
      return createFault(type === undefined ? 'it has no "type"' : `its type is ${JSON.stringify(type)}`);
  }
}

/** Returns the text and files, or a message about what is wrong with them. */
function readWords({ text = "", parts = [] }: Fields): Words | string {
  if (typeof text !== "string") return '"text" must be a string';
  if (!Array.isArray(parts) || !parts.every(isPart))
    return '"parts" must be a list of {"text":"..."} and {"inlineData":{"mimeType":"...","data":"<base64>"}}';
  const said = [text, ...parts.flatMap((part) => part.text ?? [])].filter((words) => words.trim() !== "");
  const files = parts.filter((part) => part.inlineData !== undefined);
  if (said.length + files.length === 0) return 'it has no "text" and no "parts"';
  return { text: said.join("\n\n"), files };
}

function isPart(part: unknown): part is Part {
  if (!isRecord(part)) return false;
  const { text, inlineData } = part;
  if (inlineData === undefined) return typeof text === "string";
  if (text !== undefined || !isRecord(inlineData)) return false;
  const { mimeType, data } = inlineData;
  return typeof mimeType === "string" && typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function createFault(why: string): InputLine {
  return { type: "fault", message: `${why}; ${SHAPES}.` };
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
