import { listModes } from "@burin/core/internal";
import { say } from "../../locales/say.ts";
import type { KeyAction } from "../../state/key-bindings.ts";
import { EXIT } from "../../terminal/exit-code.ts";
import { type Key, normalizeCommandKey } from "../../terminal/keys.ts";
import { openChoicePanel } from "../../ui/choice-panel.ts";
import { drawCallsInFull } from "../../ui/displays/call-lines.ts";
import { isSideBySide } from "../../ui/displays/file-diff.ts";
import { applyEditKey } from "../../ui/edit-keys.ts";
import { look } from "../../ui/look.ts";
import { drawMarkdown } from "../../ui/markdown.ts";
import { createTextPanel } from "../../ui/panel.ts";
import { findCaretInRow } from "../../ui/prompt-view.ts";
import type { Completion } from "./completion.ts";
import type { Desk } from "./desk.ts";
import type { Work } from "./work.ts";

const TWICE_MS = 2000;

interface PromptKeysOptions {
  readonly work: Work;
  readonly completion: Completion;
  /** Handles what the user submits: a prompt or a command. */
  readonly submit: (text: string, isLast: boolean) => void;
}

export class PromptKeys {
  readonly #desk: Desk;
  readonly #needs: PromptKeysOptions;
  readonly #bindings: Readonly<Record<string, () => void>>;
  readonly #actions: Readonly<Record<KeyAction, () => void>>;
  #last = { name: "", at: 0 };
  #isAgain = false;

  constructor(desk: Desk, needs: PromptKeysOptions) {
    this.#desk = desk;
    this.#needs = needs;
    const { terminal, view, buffer } = desk;
    this.#bindings = {
      enter: () => this.#submitText(false),
      tab: () => this.#completeOrSubmit(),
      up: () => this.#upOrDown(-1),
      down: () => this.#upOrDown(1),
      "ctrl+n": () => this.#upOrDown(1),
      escape: () => this.#escape(),
      "ctrl+c": () => this.#interrupt(),
      "ctrl+d": () => (buffer.isEmpty ? desk.leave(EXIT.done) : buffer.erase("right")),
    };
    this.#actions = {
      palette: () => this.#openPalette(),
      results: () => this.#showCalls(),
      thoughts: () => this.#showThoughts(),
      search: () => this.#searchHistory(),
      editor: () => void this.#editOutside(),
      background: () => void this.#toBackground(),
      image: () => void this.#pasteImage(),
      beside: () => this.#besideOrBelow(),
      mode: () => this.#nextMode(),
      redraw: () => {
        view.clearRows();
        view.redraw();
      },
      takeBack: () => needs.work.takeBack(),
      stop: () => {
        view.clearRows();
        terminal.suspendProgram();
      },
    };
  }

  /** Runs what a key is bound to, by the user or by default. Returns false if it is bound to nothing. */
  runBinding(key: string): boolean {
    const use = this.#desk.keys.findUse(key);
    if (use === undefined) return false;
    if (use?.startsWith("/")) void this.#runCommand(use);
    else if (use !== null) this.#actions[use as KeyAction]();
    return true;
  }

  pressKey(pressed: Key): void {
    const { vim, buffer } = this.#desk;
    const isWriting = vim === null || this.#needs.completion.isOpen;
    const key = isWriting ? pressed : vim.press(buffer, pressed);
    if (key === null) return;
    const now = performance.now();
    this.#isAgain = this.#last.name === key.name && now - this.#last.at < TWICE_MS;
    this.#last = { name: this.#isAgain ? "" : key.name, at: now };
    if (normalizeCommandKey(key) === "?" && buffer.isEmpty) return void this.#runCommand("/keys");
    const before = buffer.text;
    const bound = this.#bindings[key.name];
    if (this.runBinding(key.name)) this.#desk.view.drawSoon();
    else if (bound !== undefined) bound();
    else if (key.name === "paste") this.#paste(key);
    else applyEditKey(buffer, key);
    if (buffer.text !== before || key.name === "left" || key.name === "right")
      this.#needs.completion.update();
  }

  async #runCommand(text: string): Promise<void> {
    await (await import("./slash-desk.ts")).runByKey(this.#desk, text);
  }

  #submitText(isLast: boolean): void {
    const { buffer, history } = this.#desk;
    const { completion } = this.#needs;
    if (completion.isOpen && completion.rest !== "") {
      // A completion that only contains the typed letters may not be what the user meant, so it is not run at once.
      const isMeant = buffer.text.startsWith("/") && completion.rest !== null;
      if (completion.accept() && !isMeant) return;
    }
    completion.close();
    if (buffer.text.slice(0, buffer.caret).endsWith("\\")) {
      buffer.erase("left");
      buffer.insert("\n");
      return;
    }
    const text = buffer.content;
    if (text.trim() === "") {
      if (this.#needs.work.isCutOff) void this.#needs.work.goOn();
      else if (this.#needs.work.lacksKey) void this.#pasteKey();
      return;
    }
    history.add(text.trimEnd());
    buffer.clear();
    this.#needs.submit(text.trimEnd(), isLast);
  }

  async #pasteKey(): Promise<void> {
    const { replaceRefusedKey } = await import("./first-start.ts");
    await replaceRefusedKey(this.#desk).catch((error: unknown) => this.#desk.noteFault(error));
  }

  #completeOrSubmit(): void {
    if (this.#needs.completion.accept()) return;
    if (this.#needs.work.isWorking) this.#submitText(true);
  }

  #upOrDown(by: -1 | 1): void {
    const { buffer, history, view, shown } = this.#desk;
    if (shown.completions !== null) return void shown.completions.move(by);
    const place = findCaretInRow(buffer, view.width, by);
    if (place !== null) return void buffer.moveTo(place);
    const prompt = history.step(by, buffer.text);
    if (prompt !== null) buffer.set(prompt);
    this.#needs.completion.close();
  }

  #escape(): void {
    const { completion } = this.#needs;
    const { buffer, isWorking } = this.#desk;
    if (completion.isOpen) completion.close();
    else if (isWorking) this.#desk.interrupt();
    else if (!this.#isAgain) this.#desk.showMessage(say(buffer.isEmpty ? "status.back" : "status.empty"));
    else {
      this.#desk.showMessage("");
      if (buffer.isEmpty) void this.#runCommand("/back");
      else this.#putAside();
    }
  }

  #putAside(): void {
    const { buffer, history } = this.#desk;
    history.putAside(buffer.content);
    buffer.clear();
  }

  /** Interrupts the work or clears the prompt. Only a second ctrl+c ends the program. */
  #interrupt(): void {
    const { shown, questions, isWorking } = this.#desk;
    if (this.#isAgain) return void this.#desk.leave(EXIT.done);
    if (isWorking) this.#desk.interrupt();
    else this.#putAside();
    if (questions.open.length === 0) shown.panel = null;
    this.#desk.showMessage(say("status.quit"));
  }

  /** Moves the running commands, for which calls wait, to the background. */
  async #toBackground(): Promise<void> {
    const { session, buffer, isWorking } = this.#desk;
    if (session === null || !isWorking) buffer.move("left");
    else {
      const waiting = (await session.commands.list()).filter(({ state }) => state === "foreground");
      for (const { id } of waiting) await session.commands.toBackground(id);
      if (waiting.length > 0) this.#desk.note(say("tasks.moved"));
    }
  }

  /** Inserts pasted text. Replaces paths of images, such as files dropped on the window, by marks for the images. */
  #paste(key: Key): void {
    const { buffer, images, options } = this.#desk;
    const marks = images.markPaths(key.text, options.root);
    if (marks !== null) buffer.insert(`${marks} `);
    // Some terminals paste nothing when the clipboard contains an image.
    else if (key.text === "") void this.#pasteImage();
    else applyEditKey(buffer, key);
  }

  async #pasteImage(): Promise<void> {
    const { buffer, images, view } = this.#desk;
    const mark = await images.markClipboard();
    if (mark === null) this.#desk.showMessage(say("image.none"));
    else buffer.insert(`${mark} `);
    view.drawSoon();
  }

  async #editOutside(): Promise<void> {
    const { buffer } = this.#desk;
    const { editInEditor } = await import("./edit-outside.ts");
    const text = await editInEditor(this.#desk, buffer.content, "prompt.md");
    if (text !== null) buffer.set(text.trimEnd());
    this.#desk.view.drawSoon();
  }

  #showCalls(): void {
    const { transcript } = this.#desk;
    const running = transcript.items.flatMap((item) => (item.kind === "call" ? [item.call] : []));
    const lines = (width: number) => drawCallsInFull([...transcript.calls, ...running], width);
    this.#desk.show(
      createTextPanel({ title: say("calls.title"), lines, close: () => this.#desk.show(null) }),
    );
  }

  /** Shows the model's thoughts, the latest last. */
  #showThoughts(): void {
    const { transcript } = this.#desk;
    const open = transcript.items.flatMap((item) =>
      item.kind === "thought" && !item.isWhole ? [item.text] : [],
    );
    const texts = [...transcript.thoughts, ...open];
    const lines = (width: number) =>
      texts.length === 0
        ? [[{ text: say("thoughts.none"), style: "dim" as const }]]
        : texts.flatMap((text) => [...drawMarkdown(text, width, false), []]);
    this.#desk.show(
      createTextPanel({ title: say("thoughts.title"), lines, close: () => this.#desk.show(null) }),
    );
  }

  #openPalette(): void {
    // In an open list, this key moves up, as in shells.
    if (this.#needs.completion.isOpen) return void this.#desk.shown.completions?.move(-1);
    const runAction = (action: KeyAction): void => this.#actions[action]();
    void import("./palette.ts").then(({ showPalette }) => showPalette(this.#desk, runAction));
  }

  #besideOrBelow(): void {
    look.isSideBySide = !isSideBySide(this.#desk.view.width - 2);
    this.#desk.showMessage(say(look.isSideBySide ? "beside.on" : "beside.off"));
  }

  #searchHistory(): void {
    const { history, buffer } = this.#desk;
    const find = (words: string) => history.search(words).map((value) => ({ value }));
    openChoicePanel(this.#desk, { title: say("search.title"), find, chosen: (prompt) => buffer.set(prompt) });
  }

  #nextMode(): void {
    const { session, settings } = this.#desk;
    if (session === null) return;
    // Skip yolo: a single key must never switch to running everything without asking.
    const modes = listModes(settings?.managed).filter((mode) => mode !== "yolo");
    const { approvalMode } = session;
    const at = approvalMode === "yolo" ? -1 : modes.indexOf(approvalMode);
    const next = modes[(at + 1) % modes.length];
    if (next !== undefined) session.approvalMode = next;
  }
}
