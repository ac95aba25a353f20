import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import type { Key } from "../terminal/keys.ts";
import { type Line, shownText, wrapLine } from "../terminal/styled-line.ts";
import { type Choice, ChoiceList } from "./choice-list.ts";
import { editKey } from "./edit-keys.ts";
import type { Panel, PanelSpace, PanelView } from "./panel.ts";
import { promptView } from "./prompt-view.ts";

interface Desk {
  show(panel: Panel | null): void;
}

interface Choosing {
  readonly title: string;
  readonly choices?: readonly Choice[];
  readonly current?: string;
  /** Returns the choices for the typed words; default: those that contain them. */
  readonly find?: (words: string) => readonly Choice[];
  readonly chosen: (value: string) => void;
  readonly none?: () => void;
}

const MOST_ROWS = 12;
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  "ctrl+p": -1,
  "ctrl+n": 1,
  "ctrl+r": 1,
  pageup: -8,
  pagedown: 8,
};

/** A list to choose from, filtered by typing. */
class ChoicePanel implements Panel {
  readonly #desk: Desk;
  readonly #choosing: Choosing;
  readonly #words = new TextBuffer();
  #list: ChoiceList;

  constructor(desk: Desk, choosing: Choosing) {
    this.#desk = desk;
    this.#choosing = choosing;
    this.#list = new ChoiceList(this.#find(), choosing.current);
  }

  view({ width, height }: PanelSpace): PanelView {
    const input = promptView(this.#words, width, 1);
    const hint = wrapLine([{ text: say("choice.keys"), style: "dim" }], width);
    const found = this.#list.lines(width, Math.max(Math.min(MOST_ROWS, height - 1 - hint.length), 1));
    const none: Line[] = [[{ text: say("choice.none"), style: "dim" }]];
    const lines = [...input.lines, ...(found.length === 0 ? none : found), ...hint];
    return { title: shownText(this.#choosing.title), lines, caret: input.caret };
  }

  key(key: Key): void {
    const { name } = key;
    const { chosen } = this.#list;
    const step = STEPS[name];
    if (step !== undefined) this.#list.move(step);
    else if (name === "escape") {
      this.#desk.show(null);
      this.#choosing.none?.();
    } else if (name === "enter" || name === "tab") {
      if (chosen === undefined) return;
      this.#desk.show(null);
      this.#choosing.chosen(chosen.value);
    } else if (editKey(this.#words, key)) this.#list = new ChoiceList(this.#find());
  }

  #find(): readonly Choice[] {
    const { choices = [], find } = this.#choosing;
    const words = this.#words.content;
    if (find !== undefined) return find(words);
    const wanted = words.toLowerCase().split(/\s+/);
    return choices.filter(({ label, more }) => {
      const text = `${label} ${more}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
  }
}

/** Shows a list in place of the prompt; it closes when the user chooses an entry or cancels. */
export function choose(desk: Desk, choosing: Choosing): void {
  desk.show(new ChoicePanel(desk, choosing));
}
