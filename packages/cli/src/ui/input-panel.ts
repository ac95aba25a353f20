import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { wrapLine } from "../terminal/styled-line.ts";
import { editKey } from "./edit-keys.ts";
import type { Panel } from "./panel.ts";
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

export function inputPanel({ title, hint: words, isSecret, done }: InputNeeds): Panel {
  const text = new TextBuffer();
  return {
    view: ({ width }) => {
      const dots = new TextBuffer();
      dots.set("•".repeat(Math.min(text.text.length, 40)));
      const { lines, caret } = promptView(isSecret ? dots : text, width, 3);
      const hint = wrapLine([{ text: words }], width);
      const keys = wrapLine([{ text: say("input.keys"), style: "dim" }], width);
      const place = { row: hint.length + caret.row, column: caret.column };
      return { title, lines: [...hint, ...lines, ...keys], caret: place };
    },
    key: (key) => {
      if (key.name === "escape") done(null);
      else if (key.name === "enter") done(text.content.trim());
      else if (key.name === "paste") text.insert(key.text.trim());
      else editKey(text, key);
    },
  };
}
