import { say } from "../locales/say.ts";
import { TextBuffer } from "../state/text-buffer.ts";
import { formatText, type Line, wrapLine } from "../terminal/styled-line.ts";
import { type Choice, ChoiceList } from "./choice-list.ts";
import { applyEditKey } from "./edit-keys.ts";
import type { Panel } from "./panel.ts";
import { drawPrompt } from "./prompt-view.ts";

interface Desk {
  show(panel: Panel | null): void;
}

interface Choosing {
  readonly title: string;
  readonly choices?: readonly Choice[];
  readonly current?: string;
  /** Returns the choices for the typed words. By default these are the choices that contain the words. */
  readonly find?: (words: string) => readonly Choice[];
  /** Whether the typed words are a secret, which is not shown. */
  readonly hides?: (words: string) => boolean;
  readonly chosen: (value: string) => void;
  readonly none?: () => void;
  /** Called with the entry that the user has moved to. */
  readonly moved?: (value: string) => void;
  /** Returns details of the entry that the user has moved to, shown below the list. */
  readonly preview?: (value: string, width: number) => readonly Line[];
}

const MAX_ROWS = 20;
/** The minimum number of rows for a preview: in a lower window, the list gets all rows. */
const MIN_WITH_PREVIEW = 12;
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  "ctrl+p": -1,
  "ctrl+n": 1,
  "ctrl+r": 1,
  pageup: -8,
  pagedown: 8,
};

/** Shows a list instead of the prompt. Typing filters it. It closes when the user chooses an entry or cancels. */
export function openChoicePanel(desk: Desk, { title, choices = [], current, ...choosing }: Choosing): void {
  const {
    find = (typed: string) => filterChoices(choices, typed),
    chosen,
    none,
    moved,
    preview,
    hides,
  } = choosing;
  const words = new TextBuffer();
  let list = new ChoiceList(find(""), current);
  const closePanel = (then: () => void = () => {}): void => {
    desk.show(null);
    then();
  };
  desk.show({
    view: ({ width, height }) => {
      const input = drawPrompt(hides?.(words.content) ? drawDots(words) : words, width, 1);
      const hint = wrapLine([{ text: say("choice.keys"), style: "dim" }], width);
      const at = list.chosen?.value;
      const more = (at !== undefined && height >= MIN_WITH_PREVIEW && preview?.(at, width)) || [];
      const room = height - 1 - hint.length - more.length;
      const found = list.drawLines(width, Math.max(Math.min(MAX_ROWS, room), 1));
      const gap: Line[] = more.length === 0 && found.length < room - 1 ? [[]] : [];
      const nothing: Line[] = [[{ text: say("choice.none"), style: "dim" }]];
      const lines = [...input.lines, ...(found.length === 0 ? nothing : found), ...more, ...gap, ...hint];
      return { title: formatText(title), lines, caret: input.caret };
    },
    key: (key) => {
      const { name } = key;
      const { value } = list.chosen ?? {};
      const step = STEPS[name];
      const reportMove = (): void => {
        if (list.chosen !== undefined) moved?.(list.chosen.value);
      };
      if (step !== undefined) {
        list.move(step);
        reportMove();
      } else if (name === "escape") closePanel(none);
      else if (name === "enter" || name === "tab") value !== undefined && closePanel(() => chosen(value));
      else if (applyEditKey(words, key)) {
        list = new ChoiceList(find(words.content));
        reportMove();
      }
    },
  });
}

/** Draws a dot for each character of a secret, up to a few. */
function drawDots({ content }: TextBuffer): TextBuffer {
  const dots = new TextBuffer();
  dots.set("•".repeat(Math.min(content.length, 40)));
  return dots;
}

/** Returns the choices that contain the typed words, first those that have them in their names. */
export function filterChoices(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.toLowerCase().split(/\s+/);
  const containsWords = (text: string): boolean => wanted.every((word) => text.toLowerCase().includes(word));
  const isNamed = ({ value, label = value }: Choice): boolean => containsWords(label);
  const found = choices.filter(({ value, label = value, more = "" }) => containsWords(`${label} ${more}`));
  return [...found.filter(isNamed), ...found.filter((choice) => !isNamed(choice))];
}

interface InputOptions {
  readonly title: string;
  /** A hint that says what to enter, and why. */
  readonly hint: string;
  /** true if the input is a secret that is not shown. */
  readonly isSecret?: boolean;
  /** The text that the input has at first. */
  readonly text?: string;
  /** Called with the text, or with null if the user goes back. */
  readonly done: (text: string | null) => void;
}

/** Asks for a text instead of the prompt. */
export function createInputPanel({
  title,
  hint: words,
  isSecret,
  text: first = "",
  done,
}: InputOptions): Panel {
  const text = new TextBuffer();
  text.set(first);
  return {
    view: ({ width }) => {
      const { lines, caret } = drawPrompt(isSecret ? drawDots(text) : text, width, 3);
      const hint = wrapLine([{ text: words }], width);
      const keys = wrapLine([{ text: say("input.keys"), style: "dim" }], width);
      const place = { row: hint.length + caret.row, column: caret.column };
      return { title, lines: [...hint, ...lines, ...keys], caret: place };
    },
    key: (key) => {
      if (key.name === "escape") done(null);
      else if (key.name === "enter") done(text.content.trim());
      else if (key.name === "paste") text.insert(key.text.trim());
      else applyEditKey(text, key);
    },
  };
}
