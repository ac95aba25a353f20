import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import type { Key } from "../terminal/keys.ts";
import { wrapLine } from "../terminal/styled-line.ts";
import { editKey } from "./edit-keys.ts";
import type { Panel, PanelSpace, PanelView } from "./panel.ts";
import { promptView } from "./prompt-view.ts";

interface InputNeeds {
  readonly title: string;
  /** What to write, and why. */
  readonly hint: string;
  /** The input is not shown, because it is a secret. */
  readonly isSecret?: boolean;
  /** null: the user goes back. */
  readonly done: (text: string | null) => void;
}

export class InputPanel implements Panel {
  readonly #needs: InputNeeds;
  readonly #text = new TextBuffer();

  constructor(needs: InputNeeds) {
    this.#needs = needs;
  }

  view({ width }: PanelSpace): PanelView {
    const { title, hint: words, isSecret } = this.#needs;
    const dots = new TextBuffer();
    dots.set("•".repeat(Math.min(this.#text.text.length, 40)));
    const { lines, caret } = promptView(isSecret ? dots : this.#text, width, 3);
    const hint = wrapLine([{ text: words }], width);
    const keys = wrapLine([{ text: say("input.keys"), style: "dim" }], width);
    return {
      title,
      lines: [...hint, ...lines, ...keys],
      caret: { row: hint.length + caret.row, column: caret.column },
    };
  }

  key(key: Key): void {
    if (key.name === "escape") this.#needs.done(null);
    else if (key.name === "enter") this.#needs.done(this.#text.content.trim());
    else if (key.name === "paste") this.#text.insert(key.text.trim());
    else editKey(this.#text, key);
  }
}
