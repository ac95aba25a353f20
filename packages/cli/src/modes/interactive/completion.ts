import type { Session } from "@burin/core";
import { listProjectFiles } from "@burin/core/internal";
import type { FileNames } from "../../state/file-names.ts";
import type { TextBuffer } from "../../state/text-buffer.ts";
import { type Choice, ChoiceList } from "../../ui/choice-list.ts";
import type { Desk } from "./desk.ts";

const MAX_FILES = 300_000;
/** The largest share of the time for reading file names, which is repeated because files come and go. */
const READING_PART = 0.05;

/** Finds and shows the completions for the word before the caret. */
export class Completion {
  readonly #desk: Desk;
  #files: FileNames | null = null;
  #isReading = false;
  /** Until this time the file names count as current. */
  #freshUntil = 0;
  #known: readonly Choice[] = [];
  /** The session whose commands are known; undefined before any are known. */
  #knownOf: Session | null | undefined;
  #from = 0;
  /** The word for which the user closed the completions. They are not offered again for it. */
  #closedFor = "";

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  get isOpen(): boolean {
    return this.#desk.shown.completions !== null;
  }

  /** Finds the completions for the current word. With `kept`, that choice stays selected. */
  update(kept?: string): void {
    const { buffer, shown } = this.#desk;
    const found = this.#find(buffer);
    const isClosed = found === null || found.word === this.#closedFor;
    if (found === null) this.#closedFor = "";
    if (isClosed || found.choices.length === 0) {
      shown.completions = null;
      return;
    }
    this.#from = found.from;
    shown.completions = new ChoiceList(found.choices, kept);
  }

  /** Replaces the word with the chosen completion. Returns false if there is none. */
  accept(): boolean {
    const { buffer, shown } = this.#desk;
    const chosen = shown.completions?.chosen;
    if (chosen === undefined) return false;
    // No space after a folder: a name in it may follow.
    buffer.replaceBeforeCaret(this.#from, chosen.value.endsWith("/") ? chosen.value : `${chosen.value} `);
    this.close();
    return true;
  }

  /** The part of the chosen completion that is missing from the word; null if it does not begin with the word. */
  get rest(): string | null {
    const { value = "" } = this.#desk.shown.completions?.chosen ?? {};
    return value.startsWith(this.#word) ? value.slice(this.#word.length) : null;
  }

  get #word(): string {
    const { buffer } = this.#desk;
    return buffer.text.slice(this.#from, buffer.caret);
  }

  close(): void {
    this.#desk.shown.completions = null;
    this.#closedFor = this.#word;
  }

  #find(buffer: TextBuffer): { word: string; from: number; choices: readonly Choice[] } | null {
    const before = buffer.text.slice(0, buffer.caret);
    const command = /^\/[^\s/]*$/.exec(before);
    if (command !== null) return { word: before, from: 0, choices: this.#listCommands(before.slice(1)) };
    const file = /(?:^|\s)@([^\s@"]*)$/.exec(before);
    if (file === null) return null;
    const word = file[1] ?? "";
    return { word: `@${word}`, from: before.length - word.length - 1, choices: this.#listFiles(word) };
  }

  #listCommands(word: string): readonly Choice[] {
    if (this.#knownOf !== this.#desk.session) void this.#readCommands();
    const begins = this.#known.filter(({ value }) => value.startsWith(`/${word}`));
    return begins.length > 0 ? begins : this.#known.filter(({ value }) => value.includes(word));
  }

  async #readCommands(): Promise<void> {
    const { session } = this.#desk;
    this.#knownOf = session;
    const { listScreenChoices } = await import("../../commands/screen-commands.ts");
    const { listDefinedChoices } = await import("./slash-desk.ts");
    this.#known = listScreenChoices();
    this.#updateAgain();
    this.#known = [...this.#known, ...(await listDefinedChoices(this.#desk))];
    this.#updateAgain();
  }

  #listFiles(word: string): readonly Choice[] {
    const found = this.#files?.find(word) ?? [];
    if (word === "" || found.length === 0) void this.#readFiles();
    return found.map((path) => ({ value: formatMention(path), label: path }));
  }

  async #readFiles(): Promise<void> {
    const began = performance.now();
    if (this.#isReading || began < this.#freshUntil) return;
    this.#isReading = true;
    try {
      const { FileNames, listFolders } = await import("../../state/file-names.ts");
      const paths = await listProjectFiles(this.#desk.options.root, MAX_FILES, new AbortController().signal);
      this.#files = new FileNames([...paths, ...listFolders(paths)]);
      this.#isReading = false;
    } catch (error) {
      // Do not try again: the error would be reported at each key.
      this.#desk.noteFault(error);
    }
    const ended = performance.now();
    this.#freshUntil = ended + (ended - began) / READING_PART;
    this.#updateAgain();
  }

  /** Updates the completions. If the user has moved to one, it stays selected. */
  #updateAgain(): void {
    const { completions } = this.#desk.shown;
    const chosen = completions?.chosen;
    this.update(chosen === completions?.choices[0] ? undefined : chosen?.value);
    this.#desk.view.drawSoon();
  }
}

/** Formats a path so that a prompt mentions all of it. */
function formatMention(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}
