import { basename } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AgentEvent, PartListUnion, Session } from "@burin/core";
import { formatNumber, say } from "../../locales/say.ts";
import { formatText } from "../../terminal/styled-line.ts";
import { look } from "../../ui/look.ts";
import type { Desk } from "./desk.ts";
import type { Waiting } from "./view.ts";

/** After a run of this length the user may be away, so a bell signals its end. */
const LONG_MS = 10_000;

export class Work {
  readonly #desk: Desk;
  #abort: AbortController | null = null;
  #isCutOff = false;
  /** true if the service refused the key and the user can give another one. */
  #lacksKey = false;
  #since = 0;
  #before = 0;
  /** When the open question appeared. The time until its answer does not count as working time. */
  #askedAt: number | null = null;
  /** The user's latest prompt. */
  #task = "";
  /** Texts that go to the model before the next prompt. */
  readonly forModel: string[] = [];
  /** Resolves when all texts so far have been added to the running work. */
  #adding = Promise.resolve();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  get isWorking(): boolean {
    return this.#abort !== null;
  }

  /** true if the user has interrupted the work and it has not ended yet. */
  get isStopping(): boolean {
    return this.#abort?.signal.aborted ?? false;
  }

  /** The working time of all runs together. */
  get milliseconds(): number {
    return this.#before + (this.isWorking ? (this.#askedAt ?? performance.now()) - this.#since : 0);
  }

  /** Sets the window's title to what is going on, for a user who looks at another window. */
  retitle(): void {
    const { options, questions, terminal, transcript } = this.#desk;
    const isAsked = questions.open.length > 0;
    const task = formatText((transcript.name || this.#task).replace(/\s+/g, " ")).trim();
    const name = this.isWorking && task !== "" ? task : formatText(basename(options.root));
    const words = isAsked
      ? `? ${say("title.asks")}: ${name}`
      : `${this.isWorking && !look.isSpoken ? "● " : ""}burin: ${name}`;
    terminal.title = shortenTitle(words);
    terminal.progress = isAsked ? "paused" : this.isWorking ? "busy" : "none";
  }

  /** Sends a prompt and resolves at the end of its run. During a run, adds the text to the work instead. */
  async submit(text: string, isLast = false): Promise<void> {
    const { session } = this.#desk;
    if (session === null) return;
    const { signal } = this.#abort ?? {};
    if (signal === undefined) return this.#run([...this.forModel.splice(0), text].join("\n\n"));
    const added: Waiting = { text, isLast, sent: null };
    this.#desk.shown.waiting = [...this.#desk.shown.waiting, added];
    this.#desk.view.drawSoon();
    const noteFault = (error: unknown): void => this.#desk.noteFault(error);
    this.#adding = this.#adding.then(() => this.#add(added, session, signal)).catch(noteFault);
  }

  /** Keeps a command of the screen until the running work has ended. */
  runLater(command: string): void {
    const added: Waiting = { text: command, isLast: true, isCommand: true, sent: null };
    this.#desk.shown.waiting = [...this.#desk.shown.waiting, added];
    this.#desk.view.drawSoon();
  }

  /** Adds a text to the running work, after those before it, unless it was taken back in the meantime. */
  async #add(added: Waiting, session: Session, signal: AbortSignal): Promise<void> {
    const words = await this.#withFiles(added.text, signal);
    if (!this.#desk.shown.waiting.includes(added)) return;
    added.sent = formatWords(words);
    if (added.isLast) session.queue(words);
    else session.steer(words);
  }

  interrupt(): void {
    this.#abort?.abort();
  }

  /** Puts the texts that were not sent yet back into the prompt. */
  takeBack(): void {
    const { buffer } = this.#desk;
    const text = this.#clearWaiting();
    if (text !== "") buffer.set(buffer.isEmpty ? text : `${text}\n${buffer.text}`);
  }

  /** Removes the waiting texts and returns the chosen ones as typed, without the files that were added. */
  #clearWaiting(isReturned: (waiting: Waiting) => boolean = () => true): string {
    const unsent = [null, ...(this.#desk.session?.takeWaiting().map(formatWords) ?? [])];
    const texts = this.#desk.shown.waiting.filter((text) => unsent.includes(text.sent) && isReturned(text));
    this.#desk.shown.waiting = [];
    return texts.map(({ text }) => text).join("\n");
  }

  /** Notifies a user who may be looking elsewhere that something is waiting for them. */
  notifyUser(text: string): void {
    const { notify = "auto" } = this.#desk.settings?.ui ?? {};
    if (notify !== "off") this.#desk.terminal.notifyUser(text, notify === "auto");
  }

  /** Shows the past events of a resumed session. */
  showPast(past: readonly AgentEvent[]): void {
    const { transcript, view, session } = this.#desk;
    for (const event of past) transcript.applyEvent(event, performance.now());
    if (past.length > 0) transcript.leaveOpenCalls();
    this.#isCutOff = isOpenEnded(past) && session?.questions.length === 0;
    if (this.#isCutOff) this.#desk.note(say("resume.cutOff"));
    view.drawNow();
  }

  /** Whether the last run of a resumed session was cut off and can be continued. */
  get isCutOff(): boolean {
    return this.#isCutOff && !this.isWorking;
  }

  get lacksKey(): boolean {
    return this.#lacksKey && !this.isWorking;
  }

  /** Continues the run that was cut off. */
  goOn(): Promise<void> {
    return this.#runWork(async (session, signal) => {
      for await (const _event of session.goOn(signal)) {
        // The events arrive through `handleEvent`.
      }
    });
  }

  compact(wish: string): Promise<void> {
    return this.#runWork(async (session, signal) => {
      const { tokens, isSummarized } = await session.compact(signal, wish);
      if (!isSummarized && !signal.aborted)
        this.#desk.note(say("compact.kept", { count: formatNumber(tokens) }));
    });
  }

  #run(text: string): Promise<void> {
    this.#task = text;
    return this.#runWork(async (session, signal) => {
      for await (const _event of session.run(await this.#withFiles(text, signal), signal)) {
        // The events arrive through `handleEvent`, together with those outside a run.
      }
    });
  }

  async #runWork(work: (session: Session, signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const { session, transcript, view } = this.#desk;
    if (session === null) return;
    const abort = new AbortController();
    this.#abort = abort;
    this.#isCutOff = false;
    this.#lacksKey = false;
    this.#since = performance.now();
    this.retitle();
    if (look.isSpoken) transcript.note(say("spoken.begin"));
    view.drawSoon();
    try {
      await work(session, abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) this.#desk.noteFault(error);
    }
    await nextTurn();
    this.#resumeClock();
    const took = performance.now() - this.#since;
    this.#before += took;
    this.#abort = null;
    this.retitle();
    if (look.isSpoken && !abort.signal.aborted) transcript.note(say("spoken.end"));
    if (took > LONG_MS) this.notifyUser(say("spoken.end"));
    view.drawSoon();
    void this.#goOnWithWaiting(abort.signal.aborted).catch((error: unknown) => this.#desk.noteFault(error));
  }

  /** Handles the session's events, both during runs and between them. */
  handleEvent(event: AgentEvent): void {
    const { transcript, shown, view, questions } = this.#desk;
    if (questions.open.length > 0) this.#askedAt ??= performance.now();
    else this.#resumeClock();
    transcript.applyEvent(event, performance.now());
    if (event.type === "text" && event.role === "user") {
      const at = shown.waiting.findIndex(({ sent }) => sent === event.text);
      if (at !== -1) shown.waiting = shown.waiting.filter((_, index) => index !== at);
    }
    if (event.type === "done" && event.error?.type === "unauthorized") void this.#offerKey();
    if (event.type === "mode" && look.isSpoken) transcript.note(say("mode.now", { mode: event.mode }));
    view.drawLater();
  }

  async #offerKey(): Promise<void> {
    const { canPasteKey } = await import("./first-start.ts");
    this.#lacksKey = canPasteKey(this.#desk);
    if (this.#lacksKey) this.#desk.print(() => [[{ text: say("keys.paste"), style: "strong" }]]);
  }

  /** Resumes counting the working time, because no question is open any more. */
  #resumeClock(): void {
    if (this.#askedAt !== null) this.#since += performance.now() - this.#askedAt;
    this.#askedAt = null;
  }

  /**
   * Sends texts that came too late for the run, then runs the commands that waited for its end.
   * After an interruption, puts all of them back into the prompt.
   */
  async #goOnWithWaiting(isInterrupted: boolean): Promise<void> {
    const { shown } = this.#desk;
    if (shown.waiting.length === 0) return;
    if (isInterrupted) return this.takeBack();
    const commands = shown.waiting.filter(({ isCommand }) => isCommand);
    const text = this.#clearWaiting((waiting) => !commands.includes(waiting));
    shown.waiting = commands;
    if (text !== "") return void this.#run(text);
    const { runCommand } = await import("./slash-desk.ts");
    while (!this.isWorking && shown.panel === null) {
      const [next, ...others] = shown.waiting;
      if (next?.isCommand !== true) return;
      shown.waiting = others;
      await runCommand(this.#desk, next.text);
    }
    if (!this.isWorking) this.takeBack();
  }

  /** Adds the files that the text mentions and the images whose marks it contains. */
  async #withFiles(text: string, signal: AbortSignal): Promise<PartListUnion> {
    const { session, images } = this.#desk;
    let words: PartListUnion = text;
    if (session !== null && text.includes("@")) {
      const { expandMentions } = await import("../../commands/at-files.ts");
      const tell = (fault: string): void => this.#desk.note(fault);
      words = await expandMentions(text, { session, tell }, signal);
    }
    const shown = images.in(text).map((inlineData) => ({ inlineData }));
    return shown.length === 0 ? words : [words, shown].flat();
  }
}

/** Whether the last prompt has no end of a run after it. */
function isOpenEnded(past: readonly AgentEvent[]): boolean {
  const lastPrompt = past.findLastIndex((event) => event.type === "text" && event.role === "user");
  return lastPrompt > past.findLastIndex(({ type }) => type === "done");
}

const MAX_TITLE = 60;

function shortenTitle(words: string): string {
  const letters = [...words];
  return letters.length > MAX_TITLE ? `${letters.slice(0, MAX_TITLE - 1).join("")}…` : words;
}

function formatWords(words: PartListUnion): string {
  return [words].flat().find((part) => typeof part === "string") ?? "";
}
