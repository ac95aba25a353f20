import type { TextKey } from "../locales/en.ts";
import { ACTION_KEYS, type KeyAction } from "../state/key-bindings.ts";

/** What each action does that the user can bind to a key. */
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

/** The keys that cannot be bound, with what they do: first those that start a prompt, last those that edit it. */
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

/** All keys of the screen with their defaults, and the texts that describe them. */
export const KEY_LIST: readonly KeyRow[] = buildKeyList((action) => [ACTION_KEYS[action]]);

/** Lists all keys, with the ones that this user has for each action. */
export function buildKeyList(keysOf: (action: KeyAction) => readonly string[]): readonly KeyRow[] {
  const actions = Object.keys(ACTION_TEXTS) as KeyAction[];
  const bound = actions.flatMap((action): KeyRow[] => {
    const keys = keysOf(action).join(", ");
    return keys === "" ? [] : [[keys, ACTION_TEXTS[action]]];
  });
  return [...FIRST_KEYS, ...bound, ...EDIT_KEYS];
}
