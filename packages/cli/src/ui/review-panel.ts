import { say } from "../locales/say.ts";
import { commandKey, type Key } from "../terminal/keys.ts";
import { type Line, shownText } from "../terminal/styled-line.ts";
import { diffLines } from "./displays/file-diff.ts";
import { keyHints, type Panel, type PanelSpace, type PanelView, Scroll } from "./panel.ts";

/** One place in a file that a call changed. */
export interface Change {
  readonly file: string;
  /** What the call was meant to do. */
  readonly call: string;
  /** The lines of a unified diff. */
  readonly hunk: string;
  isTakenBack: boolean;
}

interface ReviewNeeds {
  readonly changes: readonly Change[];
  /** Undoes these, latest first; the panel is then drawn again. */
  readonly takeBack: (changes: readonly Change[]) => void;
  readonly close: () => void;
}

/** The changes of a session, one place in a file after the other. */
export class ReviewPanel implements Panel {
  readonly #needs: ReviewNeeds;
  #at = 0;
  readonly #scroll = new Scroll();

  constructor(needs: ReviewNeeds) {
    this.#needs = needs;
  }

  view({ width, height }: PanelSpace): PanelView {
    const { changes } = this.#needs;
    const change = changes[this.#at];
    if (change === undefined) return { title: say("changes.none"), lines: [] };
    const count = { at: this.#at + 1, all: changes.length };
    const state = change.isTakenBack ? `  ${say("changes.takenBack")}` : "";
    const head: Line = [
      { text: shownText(change.file), style: "strong" },
      { text: `  ${say("changes.place", count)}${state}`, style: "dim" },
    ];
    const what: Line = [{ text: shownText(change.call), style: "dim" }];
    const keys = keyHints(say("changes.keys"), width);
    const shown = this.#scroll.cut(diffLines(change.hunk, width), height - 2 - keys.length);
    return { title: say("changes.title"), lines: [head, what, ...shown, ...keys] };
  }

  key({ name, text }: Key): void {
    const { changes, takeBack, close } = this.#needs;
    const change = changes[this.#at];
    const steps: Record<string, number> = { up: -1, down: 1, left: -1, right: 1 };
    const step = steps[name];
    const command = commandKey({ name, text });
    if (step !== undefined) {
      this.#at = Math.max(0, Math.min(this.#at + step, changes.length - 1));
      this.#scroll.from = 0;
    } else if (this.#scroll.key(name)) return;
    else if (name === "escape" || command === "q") close();
    else if (command === "t" && change !== undefined) takeBack([change]);
    else if (command === "f") takeBack(changes.filter(({ file }) => file === change?.file));
    else if (command === "a") takeBack(changes);
  }
}
