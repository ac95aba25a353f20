import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import type { Key } from "../terminal/keys.ts";
import { type Line, shownText, wrapLine } from "../terminal/styled-line.ts";
import { type Choice, ChoiceList } from "./choice-list.ts";
import { editKey } from "./edit-keys.ts";
import { framed, type Panel, type PanelSpace, type PanelView } from "./panel.ts";
import { promptView } from "./prompt-view.ts";

interface ChoiceNeeds {
  readonly title: string;
  /** Returns the choices for the typed words. */
  readonly find: (words: string) => readonly Choice[];
  readonly current?: string;
  /** Called while the list is still open. */
  readonly choose: (choice: Choice) => void;
  readonly close: () => void;
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
  readonly #needs: ChoiceNeeds;
  readonly #words = new TextBuffer();
  #list: ChoiceList;

  constructor(needs: ChoiceNeeds) {
    this.#needs = needs;
    this.#list = new ChoiceList(needs.find(""), needs.current);
  }

  view({ width, height }: PanelSpace): PanelView {
    const room = Math.max(width - 3, 8);
    const input = promptView(this.#words, room, 1);
    const hint = wrapLine([{ text: say("choice.keys"), style: "dim" }], room);
    const found = this.#list.lines(room, Math.max(Math.min(MOST_ROWS, height - 3 - hint.length), 1));
    const none: Line[] = [[{ text: say("choice.none"), style: "dim" }]];
    const rows = [...input.lines, ...(found.length === 0 ? none : found), ...hint];
    const caret = { row: 1 + input.caret.row, column: 2 + input.caret.column };
    return { lines: framed(shownText(this.#needs.title), rows, width), caret };
  }

  key(key: Key): void {
    const { name } = key;
    const step = STEPS[name];
    if (step !== undefined) this.#list.move(step);
    else if (name === "escape") this.#needs.close();
    else if (name === "enter" || name === "tab") {
      const { chosen } = this.#list;
      if (chosen !== undefined) this.#needs.choose(chosen);
    } else if (editKey(this.#words, key)) this.#list = new ChoiceList(this.#needs.find(this.#words.content));
  }
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

/** Shows a list in place of the prompt; it closes when the user chooses an entry or cancels. */
export function choose(desk: { show(panel: Panel | null): void }, choosing: Choosing): void {
  const { title, choices = [], current, chosen, none } = choosing;
  const panel = new ChoicePanel({
    title,
    ...(current === undefined ? {} : { current }),
    find: choosing.find ?? ((words) => matching(choices, words)),
    choose: ({ value }) => {
      desk.show(null);
      chosen(value);
    },
    close: () => {
      desk.show(null);
      none?.();
    },
  });
  desk.show(panel);
}

/** The choices whose label or words contain everything that was typed. */
function matching(choices: readonly Choice[], words: string): readonly Choice[] {
  const wanted = words.toLowerCase().split(/\s+/);
  return choices.filter(({ label, more }) => {
    const text = `${label} ${more}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
