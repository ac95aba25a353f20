import { join } from "node:path";
import type { Session, ToolResult } from "@burin/core";
import {
  changeSettings,
  describeError,
  readRepositoryState,
  resolveBurinHome,
  type Settings,
} from "@burin/core/internal";
import { detectLanguage, parseLanguage, say, useTexts } from "../../locales/say.ts";
import type { CommonOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import { KeyBindings, readOwnKeys } from "../../state/key-bindings.ts";
import { PromptHistory } from "../../state/prompt-history.ts";
import { Questions } from "../../state/questions.ts";
import { collectKnownFacts, countListedFiles, listSuggestions } from "../../state/start-facts.ts";
import type { TextBuffer } from "../../state/text-buffer.ts";
import type { Transcript } from "../../state/transcript.ts";
import type { VimKeys } from "../../state/vim-keys.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-code.ts";
import type { Key } from "../../terminal/keys.ts";
import type { RawTerminal } from "../../terminal/raw-terminal.ts";
import type { Line } from "../../terminal/styled-line.ts";
import { look } from "../../ui/look.ts";
import type { Panel } from "../../ui/panel.ts";
import type { Status } from "../../ui/status-line.ts";
import { THEMES } from "../../ui/theme.ts";
import { Completion } from "./completion.ts";
import type { Desk } from "./desk.ts";
import type { Front } from "./front.ts";
import { Images } from "./images.ts";
import { OwnCalls } from "./own-calls.ts";
import { PromptKeys } from "./prompt-keys.ts";
import { QuestionDesk } from "./question-desk.ts";
import { SessionHost } from "./session-host.ts";
import { StatusFacts } from "./status-facts.ts";
import type { Shown, View } from "./view.ts";
import { Work } from "./work.ts";

declare const BURIN_VERSION: string;

const MESSAGE_MS = 2000;

/** The app's screen: it receives keys and events, changes the state and has the changes drawn. */
export class App implements Desk {
  readonly transcript: Transcript;
  readonly buffer: TextBuffer;
  readonly images = new Images();
  vim: VimKeys | null = null;
  keys = new KeyBindings();
  readonly history = new PromptHistory(resolveBurinHome(process.env));
  readonly questions = new Questions({
    answer: (id, decision) => this.session?.answer(id, decision),
    onChange: () => this.#asking.update(),
  });
  readonly host: SessionHost;
  readonly view: View;
  readonly work = new Work(this);
  readonly shown: Shown;
  readonly terminal: RawTerminal;
  readonly #own = new OwnCalls(this, this.work);
  readonly #asking = new QuestionDesk(this, this.work);
  readonly #keys: PromptKeys;
  readonly #facts = new StatusFacts(this);
  readonly #front: Front;
  /** Messages to show below the start card; null once the card is shown. */
  #early: string[] | null = [];
  #isWelcomed = false;
  #message = "";
  #messageTimer: NodeJS.Timeout | undefined;
  #opening: Promise<void> = Promise.resolve();
  #leave: (code: ExitCode) => void = () => {};
  readonly #left = new Promise<ExitCode>((resolve) => {
    this.#leave = resolve;
  });

  constructor(front: Front, options: CommonOptions) {
    const { shown, terminal, view } = front;
    this.#front = front;
    this.shown = shown;
    this.transcript = shown.transcript;
    this.buffer = shown.buffer;
    this.terminal = terminal;
    this.view = view;
    this.host = new SessionHost({
      options,
      hear: (event) => {
        this.questions.followEvent(event);
        this.work.handleEvent(event);
        this.#facts.noteEvent(event);
      },
      closed: () => this.questions.clear(),
      tell: (notice) => void (this.#early?.push(notice) ?? this.note(notice)),
    });
    const submit = (text: string, isLast: boolean): void => void this.#handleText(text, isLast);
    this.#keys = new PromptKeys(this, { work: this.work, completion: new Completion(this), submit });
    shown.status = () => this.#buildStatus();
    shown.running = () => this.#own.commands;
    front.handTo({ hear: (keys) => this.#handleKeys(keys), end: () => this.leave(EXIT.interrupted) });
  }

  async run(first: string, { signal }: Io): Promise<ExitCode> {
    signal.addEventListener("abort", () => this.leave(EXIT.interrupted), { once: true });
    if (signal.aborted) this.leave(EXIT.interrupted);
    try {
      this.#opening = this.#open(first);
      return await Promise.race([this.#left, this.#opening.then(() => this.#left)]);
    } finally {
      clearTimeout(this.#messageTimer);
      this.#facts.close();
      await this.#close();
    }
  }

  get isDemo(): boolean {
    return this.host.isDemo;
  }

  get options(): CommonOptions {
    return this.host.options;
  }

  get session(): Session | null {
    return this.host.session;
  }

  get settings(): Settings | null {
    return this.host.settings;
  }

  get isWorking(): boolean {
    return this.work.isWorking || this.#own.isRunning;
  }

  interrupt(): void {
    if (this.#own.isRunning) this.#own.interrupt();
    else this.work.interrupt();
  }

  leave(code: ExitCode = EXIT.done): void {
    this.#leave(code);
  }

  showMessage(message: string): void {
    if (look.isSpoken && message !== "") this.transcript.note(message);
    this.#message = message;
    clearTimeout(this.#messageTimer);
    if (message !== "") this.#messageTimer = setTimeout(() => this.showMessage(""), MESSAGE_MS);
    this.view.drawSoon();
  }

  note(text: string, isBad = false): void {
    this.transcript.note(text, isBad);
    this.view.drawSoon();
  }

  noteFault(error: unknown): void {
    this.note(describeError(error), true);
  }

  print(draw: (width: number) => readonly Line[]): void {
    this.transcript.print(draw);
    this.view.drawSoon();
  }

  show(panel: Panel | null): void {
    this.shown.panel = panel;
    this.view.drawSoon();
  }

  async changeSession(session: CommonOptions["session"]): Promise<void> {
    const past = await this.host.changeSession(session);
    this.transcript.beginSession(this.host.modelName ?? "");
    this.work.showPast(past);
    this.view.drawSoon();
  }

  useModel(name: string): void {
    try {
      this.host.useModel(name);
    } catch (error) {
      this.noteFault(error);
    }
  }

  useEffort(effort: string): void {
    this.host.useEffort(effort);
  }

  setUp(first = ""): void {
    this.#opening = this.#open(first);
    this.#opening.catch((error: unknown) => this.noteFault(error));
  }

  async addService(): Promise<void> {
    const { FirstStart } = await import("./first-start.ts");
    await new FirstStart(this, false).run().catch((error: unknown) => this.noteFault(error));
  }

  async showDemo(): Promise<void> {
    await (await import("./first-start.ts")).showDemo(this);
  }

  async runForOutput(name: Parameters<Desk["runForOutput"]>[0], words: readonly string[]): Promise<string> {
    const { runForOutput } = await import("./output-of.ts");
    const { approvalMode } = this.session ?? this.options;
    return runForOutput(name, words, { ...this.options, approvalMode });
  }

  callOwn(name: string, args: Record<string, unknown>): Promise<ToolResult | null> {
    return this.#own.call(name, args).finally(() => {
      this.#facts.refresh();
      this.view.drawSoon();
    });
  }

  copy(text: string): void {
    this.terminal.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  clearScreen(): void {
    this.view.clearRows();
    this.terminal.write("\u001b[H\u001b[2J");
    this.view.redraw();
  }

  async useLanguage(name: string): Promise<void> {
    await useTexts(parseLanguage(name));
    this.view.drawSoon();
  }

  async applySettings([section]: readonly string[]): Promise<void> {
    const { ui } = (await this.host.readSettings(() => {})).settings;
    if (section !== "ui") return;
    await useTexts(ui.language ?? detectLanguage(process.env));
    await this.#useLook(ui);
    this.#facts.refresh();
  }

  async storeSetting(path: readonly string[], value: unknown): Promise<void> {
    const file = join(resolveBurinHome(process.env), "settings.json");
    try {
      await changeSettings(file, path, value);
    } catch (error) {
      this.note(say("export.failed", { file, why: describeError(error) }), true);
    }
  }

  async #open(first: string): Promise<void> {
    await this.host.close();
    this.transcript.sessionId = "";
    const { ui } = (await this.host.readSettings()).settings;
    if (ui.language !== undefined) await this.useLanguage(ui.language);
    await this.#useLook(ui);
    await this.#fillCard();
    if (first.trim() === "/demo") return this.showDemo();
    if (this.host.modelName === null) {
      if (!this.#isWelcomed) this.note(say("first.welcome"));
      this.#isWelcomed = true;
      const { FirstStart, askMode } = await import("./first-start.ts");
      const outcome = await new FirstStart(this, true).run();
      if (outcome === "demo") await this.showDemo();
      else if (outcome === "none") this.buffer.set(first);
      if (outcome !== "ready") return;
      await askMode(this);
      await this.host.readSettings();
    }
    const past = await this.host.open();
    this.transcript.beginSession(this.host.modelName ?? "");
    // A screen reader gets no card and no status line, so print what they would show.
    if (look.isSpoken) this.note(say("start.folder", { folder: this.options.root }));
    if (look.isSpoken)
      this.note(`${this.#buildStatus().model} · ${say(`mode.short.${this.#buildStatus().mode}`)}`);
    void this.#addSuggestions();
    this.#facts.refresh();
    this.work.retitle();
    this.view.drawSoon();
    this.work.showPast(past);
    const isChoice = this.options.session.kind === "choose";
    if (isChoice && first !== "") this.buffer.set(first);
    const taken = isChoice ? "/resume" : first;
    if (taken !== "") await this.#handleText(taken, false);
  }

  /** Fills in the start card, then prints the messages that waited for it. */
  async #fillCard(): Promise<void> {
    const early = this.#early;
    this.#early = null;
    this.#front.facts ??= look.isSpoken ? null : { version: BURIN_VERSION, ...collectKnownFacts(this.host) };
    this.view.drawSoon();
    for (const notice of early ?? []) this.note(notice);
  }

  /** Adds to the card what only git knows, which comes later, and the suggested prompts. */
  async #addSuggestions(): Promise<void> {
    const asked = { root: this.options.root, environment: process.env };
    const { branch, changes: lines } = await readRepositoryState(asked, new AbortController().signal);
    const { facts } = this.#front;
    if (!facts || !this.transcript.isAtStart) return;
    const changes = countListedFiles(lines);
    this.#front.facts = {
      ...facts,
      branch: branch ?? undefined,
      changes,
      suggestions: listSuggestions({ ...facts, changes }),
    };
    this.view.drawSoon();
  }

  async #useLook(ui: Settings["ui"]): Promise<void> {
    look.isSpoken = ui.screenReader === true;
    look.isSideBySide = ui.sideBySide ?? null;
    const isVim = ui.vim === true;
    this.vim = isVim ? new (await import("../../state/vim-keys.ts")).VimKeys() : null;
    const { bindings, faults } = await readOwnKeys(async () =>
      (await import("../../commands/screen-commands.ts")).SCREEN_COMMANDS.map(({ name }) => name),
    );
    this.keys = bindings;
    for (const fault of faults) this.note(fault, true);
    this.view.theme = THEMES.find((theme) => theme === ui.theme) ?? "auto";
    for (const fault of this.view.useColors(ui.colors ?? {}))
      this.note(say("theme.unknown", { fault }), true);
    this.terminal.ask();
  }

  async #close(): Promise<void> {
    this.work.interrupt();
    this.#own.interrupt();
    this.shown.panel = null;
    this.view.close();
    this.terminal.close();
    const isRecorded = this.options.session.kind !== "unrecorded";
    await this.host.close();
    const { sessionId } = this.transcript;
    if (sessionId !== "" && isRecorded) {
      process.stdout.write(`${say("end.session", { id: sessionId })}\n`);
    }
  }

  /** Handles submitted text: a command of the screen, a custom command, or a prompt. */
  async #handleText(text: string, isLast: boolean): Promise<void> {
    // Accept the words for leaving that shells and other agents use.
    const said = /^(?:exit|quit)$/.test(text) ? "/quit" : (this.#front.findSuggestion(text) ?? text);
    const slash = said.startsWith("/") ? await import("./slash-desk.ts") : null;
    if (!(await slash?.runCommand(this, said))) {
      // A prompt that is sent before the session is open waits until it is.
      if (this.session === null) await this.#opening;
      if (!(await slash?.runMistyped(this, said))) this.#submitPrompt(said, isLast);
    }
    this.view.drawSoon();
  }

  #submitPrompt(text: string, isLast: boolean): void {
    if (this.session === null) this.setUp(text);
    else if (this.#own.takeText(text)) return;
    else void this.work.submit(text, isLast);
  }

  #handleKeys(keys: readonly Key[]): void {
    for (const key of keys) {
      if (key.name === "background") this.view.background = key.text;
      else if (key.name === "focus" || key.name === "blur") this.terminal.hasFocus = key.name === "focus";
      else if (key.name === "device") this.terminal.device = key.text;
      else if (key.name === "cursor") this.view.handleWidthAnswer(key.text);
      else if (key.name === "cell") this.view.cell = key.text;
      else if (key.name === "terminal") void this.view.learnTerminal(key.text);
      else this.#handleKey(key);
    }
    this.view.drawSoon();
  }

  #handleKey(key: Key): void {
    if (this.#message !== "" && key.name !== "ctrl+c" && key.name !== "escape") this.showMessage("");
    const { panel } = this.shown;
    const use = this.keys.findUse(key.name);
    if (use === "beside" || use === "stop") return void this.#keys.runBinding(key.name);
    if (panel !== null && key.name !== "ctrl+c") {
      if (panel.acceptsKey?.(key) !== false) return void panel.key(key);
      // A user may still be typing when a question appears; what they type goes into the prompt.
      if (!["text", "paste", "backspace"].includes(key.name)) return;
    }
    this.#keys.pressKey(key);
  }

  #describeState(): string {
    if (this.work.isStopping) return say("status.interrupting");
    return this.vim?.isNormal ? say("status.normal") : "";
  }

  #buildStatus(): Status {
    return { ...this.#facts.buildStatus(), message: this.#message || this.#describeState() };
  }
}
