import { say } from "../locales/say.ts";
import type { Key } from "../terminal/keys.ts";
import type { Line } from "../terminal/styled-line.ts";
import { framed, type Panel, type PanelSpace, type PanelView, scrolled } from "./panel.ts";

export interface TextNeeds {
  readonly title: string;
  readonly lines: (width: number) => readonly Line[];
  readonly close: () => void;
  /** Where to start; default: at the end. */
  readonly isFromTop?: boolean;
}

/** A long text to read, one page at a time. */
export class TextPanel implements Panel {
  readonly #needs: TextNeeds;
  #from: number;
  #page = 10;

  constructor(needs: TextNeeds) {
    this.#needs = needs;
    this.#from = needs.isFromTop ? 0 : Number.MAX_SAFE_INTEGER;
  }

  view({ width, height }: PanelSpace): PanelView {
    const lines = this.#needs.lines(Math.max(width - 3, 8));
    this.#page = Math.max(height - 3, 2);
    const { shown, from } = scrolled(lines, this.#from, this.#page);
    this.#from = from;
    const place = { from: from + 1, to: from + shown.length, all: lines.length };
    const hint = shown.length < lines.length ? `${say("question.scroll", place)} · ` : "";
    const foot: Line = [{ text: `${hint}${say("panel.close")}`, style: "dim" }];
    return { lines: framed(this.#needs.title, [...shown, foot], width) };
  }

  key({ name, text }: Key): boolean {
    const steps: Record<string, number> = {
      up: -1,
      down: 1,
      pageup: -this.#page,
      pagedown: this.#page,
      home: -Number.MAX_SAFE_INTEGER,
      end: Number.MAX_SAFE_INTEGER,
    };
    const step = steps[name] ?? (text === " " ? this.#page : undefined);
    if (step !== undefined) this.#from = Math.max(Math.min(this.#from + step, Number.MAX_SAFE_INTEGER), 0);
    else if (name === "escape" || name === "ctrl+o" || name === "enter" || text === "q") this.#needs.close();
    else return false;
    return true;
  }
}
