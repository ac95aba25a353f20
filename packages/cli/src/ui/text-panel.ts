import { say } from "../locales/say.ts";
import type { Key } from "../terminal/keys.ts";
import type { Line } from "../terminal/styled-line.ts";
import { framed, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";

export interface TextNeeds {
  readonly title: string;
  readonly lines: (width: number) => readonly Line[];
  readonly close: () => void;
}

/** A long text to read, one page at a time, from its end. */
export class TextPanel implements Panel {
  readonly #needs: TextNeeds;
  readonly #scroll = new Scroll();

  constructor(needs: TextNeeds) {
    this.#needs = needs;
    this.#scroll.from = Number.MAX_SAFE_INTEGER;
  }

  view({ width, height }: PanelSpace): PanelView {
    const lines = this.#needs.lines(Math.max(width - 3, 8));
    const shown = this.#scroll.cut(lines, height - 3);
    const { from } = this.#scroll;
    const place = { from: from + 1, to: from + shown.length, all: lines.length };
    const hint = shown.length < lines.length ? `${say("question.scroll", place)} · ` : "";
    const foot: Line = [{ text: `${hint}${say("panel.close")}`, style: "dim" }];
    return { lines: framed(this.#needs.title, [...shown, foot], width) };
  }

  key({ name, text }: Key): void {
    const steps = { up: -1, down: 1, home: -Number.MAX_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER };
    if (this.#scroll.key(text === " " ? "pagedown" : name, steps)) return;
    if (name === "escape" || name === "ctrl+o" || name === "enter" || text === "q") this.#needs.close();
  }
}
