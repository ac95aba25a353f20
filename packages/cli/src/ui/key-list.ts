import type { TextKey } from "../locales/en.ts";
import { ACTION_KEYS, type KeyAction } from "../state/key-bindings.ts";

/** What each key does that the user can bind. */
export const ACTION_TEXTS: Readonly<Record<KeyAction, TextKey>> = {
  palette: "key.palette",
  results: "key.calls",
  thoughts: "key.thoughts",
  search: "key.search",
  editor: "key.editor",
  background: "key.background",
  image: "key.image",
  beside: "key.beside",
  mode: "key.mode",
  redraw: "key.redraw",
  takeBack: "key.takeBack",
  stop: "key.stop",
};

/** The keys that always do the same, and what they do: first those that make a prompt, at last those that edit it. */
const FIRST_KEYS: readonly KeyRow[] = [
  ["@", "key.file"],
  ["/", "key.command"],
  ["!, !!", "key.shell"],
  ["#", "key.remember"],
  ["enter", "key.enter"],
  ["alt+enter, shift+enter, ctrl+j, \\\u00a0enter", "key.newline"],
  ["tab", "key.tab"],
  ["esc", "key.escape"],
  ["esc esc", "key.back"],
  ["ctrl+c", "key.interrupt"],
  ["ctrl+d", "key.quit"],
  ["up, down", "key.history"],
];
const EDIT_KEYS: readonly KeyRow[] = [
  ["ctrl+a, ctrl+e", "key.line"],
  ["alt+b, alt+f", "key.word"],
  ["ctrl+k, ctrl+u, ctrl+w, alt+d", "key.kill"],
  ["ctrl+y, alt+y", "key.yank"],
  ["ctrl+_, alt+_", "key.undo"],
];

type KeyRow = readonly [keys: string, text: TextKey];

/** Every key of the screen, and the text that says what it does. */
export const KEY_LIST: readonly KeyRow[] = buildKeyList((action) => [ACTION_KEYS[action]]);

/** The same with the keys that do it for this user. */
export function buildKeyList(keysOf: (action: KeyAction) => readonly string[]): readonly KeyRow[] {
  const actions = Object.keys(ACTION_TEXTS) as KeyAction[];
  const bound = actions.flatMap((action): KeyRow[] => {
    const keys = keysOf(action).join(", ");
    return keys === "" ? [] : [[keys, ACTION_TEXTS[action]]];
  });
  return [...FIRST_KEYS, ...bound, ...EDIT_KEYS];
}
