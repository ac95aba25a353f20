import { projectFiles } from "@burin/core";
import { SCREEN_COMMANDS } from "../../commands/screen-commands.ts";
import { describe } from "../../commands/show-session.ts";
import { FileNames } from "../../state/file-names.ts";
import type { TextBuffer } from "../../state/text-buffer.ts";
import { type Choice, ChoiceList } from "../../ui/choice-list.ts";
import type { Desk } from "./desk.ts";

const MOST_FILES = 300_000;

/** What could be meant by the word before the caret, and where that word begins. */
export class Completion {
  readonly #desk: Desk;
  #files: FileNames | null = null;
  #isReading = false;
  /** Commands that files or MCP servers define. */
  #more: readonly Choice[] | null = null;
  #from = 0;
  /** What was last closed is not offered again for the same word. */
  #closedFor = "";

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  get isOpen(): boolean {
    return this.#desk.shown.completions !== null;
  }

  /** Looks at the text anew. */
  update(): void {
    const { buffer, shown } = this.#desk;
    const found = this.#find(buffer);
    const isClosed = found === null || found.word === this.#closedFor;
    if (found === null) this.#closedFor = "";
    if (isClosed || found.choices.length === 0) {
      shown.completions = null;
      return;
    }
    this.#from = found.from;
    shown.completions = new ChoiceList(found.choices);
  }

  /** Puts the chosen one in the place of the word; false when there is none. */
  accept(): boolean {
    const { buffer, shown } = this.#desk;
    const chosen = shown.completions?.chosen;
    if (chosen === undefined) return false;
    buffer.replaceFrom(this.#from, `${chosen.value} `);
    this.close();
    return true;
  }

  /** Whether what is written is already all of what is chosen. */
  get isWhole(): boolean {
    const { buffer, shown } = this.#desk;
    return shown.completions?.chosen?.value === buffer.text.slice(this.#from, buffer.caret);
  }

  close(): void {
    const { buffer, shown } = this.#desk;
    shown.completions = null;
    this.#closedFor = buffer.text.slice(this.#from, buffer.caret);
  }

  #find(buffer: TextBuffer): { word: string; from: number; choices: readonly Choice[] } | null {
    const before = buffer.text.slice(0, buffer.caret);
    const command = /^\/[^\s/]*$/.exec(before);
    if (command !== null) return { word: before, from: 0, choices: this.#commands(before.slice(1)) };
    const file = /(?:^|\s)@([^\s@"]*)$/.exec(before);
    if (file === null) return null;
    const word = file[1] ?? "";
    return { word: `@${word}`, from: before.length - word.length - 1, choices: this.#named(word) };
  }

  #commands(word: string): readonly Choice[] {
    const own = SCREEN_COMMANDS.map(({ name, words }) => ({
      value: `/${name}`,
      label: `/${name}${words === undefined ? "" : ` ${words}`}`,
      more: describe(name),
    }));
    if (this.#more === null) void this.#readCommands();
    const all = [...own, ...(this.#more ?? [])];
    const begins = all.filter(({ value }) => value.startsWith(`/${word}`));
    return begins.length > 0 ? begins : all.filter(({ value }) => value.includes(word));
  }

  async #readCommands(): Promise<void> {
    this.#more = [];
    const { session } = this.#desk;
    if (session === null) return;
    const [custom, prompts] = await Promise.all([session.customCommands(), session.mcp.prompts()]);
    this.#more = [
      ...custom.map(({ name, description }) => ({ value: `/${name}`, label: `/${name}`, more: description })),
      ...prompts.map(({ server, name, description }) => ({
        value: `/${server}:${name}`,
        label: `/${server}:${name}`,
        more: description,
      })),
    ];
    this.#again();
  }

  #named(word: string): readonly Choice[] {
    if (this.#files === null) void this.#readFiles();
    return (this.#files?.find(word) ?? []).map((path) => ({ value: mention(path), label: path, more: "" }));
  }

  async #readFiles(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const signal = new AbortController().signal;
      this.#files = new FileNames(await projectFiles(this.#desk.options.root, MOST_FILES, signal));
    } catch (error) {
      this.#desk.note(error instanceof Error ? error.message : String(error), true);
    }
    this.#again();
  }

  #again(): void {
    this.update();
    this.#desk.view.soon();
  }
}

/** As a prompt has to name a path so that all of it is meant. */
function mention(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}
