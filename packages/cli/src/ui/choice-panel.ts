import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { type Line, shownText, wrapLine } from "../terminal/styled-line.ts";
import { type Choice, ChoiceList } from "./choice-list.ts";
import { editKey } from "./edit-keys.ts";
import type { Panel } from "./panel.ts";
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

/** Shows a list in place of the prompt, filtered by typing; it closes when the user chooses an entry or cancels. */
export function choose(desk: Desk, { title, choices = [], current, ...choosing }: Choosing): void {
  const { find = (typed: string) => containing(choices, typed), chosen, none } = choosing;
  const words = new TextBuffer();
  let list = new ChoiceList(find(""), current);
  const close = (then: () => void = () => {}): void => {
    desk.show(null);
    then();
  };
  desk.show({
    view: ({ width, height }) => {
      const input = promptView(words, width, 1);
      const hint = wrapLine([{ text: say("choice.keys"), style: "dim" }], width);
      const found = list.lines(width, Math.max(Math.min(MOST_ROWS, height - 1 - hint.length), 1));
      const nothing: Line[] = [[{ text: say("choice.none"), style: "dim" }]];
      const lines = [...input.lines, ...(found.length === 0 ? nothing : found), ...hint];
      return { title: shownText(title), lines, caret: input.caret };
    },
    key: (key) => {
      const { name } = key;
      const { value } = list.chosen ?? {};
      const step = STEPS[name];
      if (step !== undefined) list.move(step);
      else if (name === "escape") close(none);
      else if (name === "enter" || name === "tab") value !== undefined && close(() => chosen(value));
      else if (editKey(words, key)) list = new ChoiceList(find(words.content));
    },
  });
}

function containing(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.toLowerCase().split(/\s+/);
  return choices.filter(({ value, label = value, more = "" }) => {
    const text = `${label} ${more}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
