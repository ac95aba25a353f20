import type { TextKey } from "../locales/en.ts";

/** Every key of the screen, and the text that says what it does. */
export const KEY_LIST: readonly (readonly [keys: string, text: TextKey])[] = [
  ["enter", "key.enter"],
  ["alt+enter, shift+enter, ctrl+j, \\ enter", "key.newline"],
  ["tab", "key.tab"],
  ["esc", "key.escape"],
  ["esc esc", "key.back"],
  ["ctrl+c", "key.interrupt"],
  ["ctrl+d", "key.quit"],
  ["ctrl+z", "key.stop"],
  ["shift+tab", "key.mode"],
  ["ctrl+o", "key.calls"],
  ["ctrl+r", "key.search"],
  ["up, down", "key.history"],
  ["alt+up", "key.takeBack"],
  ["ctrl+l", "key.redraw"],
  ["ctrl+a, ctrl+e", "key.line"],
  ["alt+b, alt+f", "key.word"],
  ["ctrl+k, ctrl+u, ctrl+w, alt+d", "key.kill"],
  ["ctrl+y, alt+y", "key.yank"],
  ["ctrl+_, alt+_", "key.undo"],
  ["@", "key.file"],
  ["/", "key.command"],
  ["!, !!", "key.shell"],
  ["#", "key.remember"],
];
