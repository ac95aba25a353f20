import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import type { Key } from "../terminal/keys.ts";
import { type Line, wrapLine } from "../terminal/styled-line.ts";
import { editKey } from "./edit-keys.ts";
import { framed, type Panel, type PanelSpace, type PanelView } from "./panel.ts";
import { promptView } from "./prompt-view.ts";

export interface InputNeeds {
  readonly title: string;
  /** What to write, and why. */
  readonly hint: string;
  /** The input is not shown, because it is a secret. */
  readonly isSecret?: boolean;
  readonly done: (text: string) => void;
  readonly close: () => void;
}

export class InputPanel implements Panel {
  readonly #needs: InputNeeds;
  readonly #text = new TextBuffer();

  constructor(needs: InputNeeds) {
    this.#needs = needs;
  }

  view({ width }: PanelSpace): PanelView {
    const room = Math.max(width - 3, 8);
    const shown = new TextBuffer();
    shown.set(this.#needs.isSecret ? "•".repeat(Math.min(this.#text.text.length, 40)) : this.#text.text);
    if (!this.#needs.isSecret) shown.moveTo(this.#text.caret);
    const input = promptView(shown, room, 3);
    const hint: Line[] = wrapLine([{ text: this.#needs.hint }], room);
    const keys = wrapLine([{ text: say("input.keys"), style: "dim" }], room);
    const caret = { row: 1 + hint.length + input.caret.row, column: 2 + input.caret.column };
    return { lines: framed(this.#needs.title, [...hint, ...input.lines, ...keys], width), caret };
  }

  key(key: Key): void {
    if (key.name === "escape") this.#needs.close();
    else if (key.name === "enter") this.#needs.done(this.#text.content.trim());
    else if (key.name === "paste") this.#text.insert(key.text.trim());
    else editKey(this.#text, key);
  }
}
