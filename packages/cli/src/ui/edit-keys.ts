import type { TextBuffer } from "../state/text-buffer.ts";
import type { Key } from "../terminal/keys.ts";

type Edit = (buffer: TextBuffer) => void;

const ROWS: readonly (readonly [keys: readonly string[], edit: Edit])[] = [
  [["left", "ctrl+b"], (buffer) => buffer.move("left")],
  [["right", "ctrl+f"], (buffer) => buffer.move("right")],
  [["home", "ctrl+a"], (buffer) => buffer.move("lineStart")],
  [["end", "ctrl+e"], (buffer) => buffer.move("lineEnd")],
  [["ctrl+home"], (buffer) => buffer.move("start")],
  [["ctrl+end"], (buffer) => buffer.move("end")],
  [["alt+b", "alt+left", "ctrl+left"], (buffer) => buffer.move("wordLeft")],
  [["alt+f", "alt+right", "ctrl+right"], (buffer) => buffer.move("wordRight")],
  [["backspace", "shift+backspace", "ctrl+h"], (buffer) => buffer.erase("left")],
  [["delete", "ctrl+d"], (buffer) => buffer.erase("right")],
  [["ctrl+k"], (buffer) => buffer.kill("lineEnd")],
  [["ctrl+u"], (buffer) => buffer.kill("lineStart")],
  [["ctrl+w"], (buffer) => buffer.kill("blankLeft")],
  [["alt+backspace", "ctrl+backspace"], (buffer) => buffer.kill("wordLeft")],
  [["alt+d"], (buffer) => buffer.kill("wordRight")],
  [["ctrl+y"], (buffer) => buffer.yank()],
  [["alt+y"], (buffer) => buffer.yankBefore()],
  [["ctrl+_", "ctrl+-"], (buffer) => buffer.undo()],
  [["alt+_"], (buffer) => buffer.redo()],
  [["newline", "ctrl+j", "alt+ctrl+j", "alt+enter", "shift+enter"], (buffer) => buffer.insert("\n")],
  [["shift+space"], (buffer) => buffer.insert(" ")],
];
const EDITS = new Map(ROWS.flatMap(([keys, edit]) => keys.map((key) => [key, edit] as const)));

/** Applies a key to a text. Returns false if the key has no effect. */
export function applyEditKey(buffer: TextBuffer, { name, text }: Key): boolean {
  if (name === "text") {
    buffer.insert(text);
    return true;
  }
  if (name === "paste") {
    buffer.paste(text);
    return true;
  }
  const edit = EDITS.get(name);
  edit?.(buffer);
  return edit !== undefined;
}
