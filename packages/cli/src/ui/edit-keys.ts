import type { TextBuffer } from "../state/text-buffer.ts";
import type { Key } from "../terminal/keys.ts";

type Edit = (buffer: TextBuffer) => void;

const EDITS: Readonly<Record<string, Edit>> = {
  left: (buffer) => buffer.move("left"),
  right: (buffer) => buffer.move("right"),
  home: (buffer) => buffer.move("lineStart"),
  end: (buffer) => buffer.move("lineEnd"),
  "ctrl+home": (buffer) => buffer.move("start"),
  "ctrl+end": (buffer) => buffer.move("end"),
  "ctrl+a": (buffer) => buffer.move("lineStart"),
  "ctrl+e": (buffer) => buffer.move("lineEnd"),
  "ctrl+b": (buffer) => buffer.move("left"),
  "ctrl+f": (buffer) => buffer.move("right"),
  "alt+b": (buffer) => buffer.move("wordLeft"),
  "alt+f": (buffer) => buffer.move("wordRight"),
  "alt+left": (buffer) => buffer.move("wordLeft"),
  "alt+right": (buffer) => buffer.move("wordRight"),
  "ctrl+left": (buffer) => buffer.move("wordLeft"),
  "ctrl+right": (buffer) => buffer.move("wordRight"),
  backspace: (buffer) => buffer.erase("left"),
  "shift+backspace": (buffer) => buffer.erase("left"),
  delete: (buffer) => buffer.erase("right"),
  "ctrl+h": (buffer) => buffer.erase("left"),
  "ctrl+d": (buffer) => buffer.erase("right"),
  "ctrl+k": (buffer) => buffer.kill("lineEnd"),
  "ctrl+u": (buffer) => buffer.kill("lineStart"),
  "ctrl+w": (buffer) => buffer.kill("blankLeft"),
  "alt+backspace": (buffer) => buffer.kill("wordLeft"),
  "ctrl+backspace": (buffer) => buffer.kill("wordLeft"),
  "alt+d": (buffer) => buffer.kill("wordRight"),
  "ctrl+y": (buffer) => buffer.yank(),
  "alt+y": (buffer) => buffer.yankBefore(),
  "ctrl+_": (buffer) => buffer.undo(),
  "ctrl+-": (buffer) => buffer.undo(),
  "alt+_": (buffer) => buffer.redo(),
  newline: (buffer) => buffer.insert("\n"),
  "ctrl+j": (buffer) => buffer.insert("\n"),
  "alt+enter": (buffer) => buffer.insert("\n"),
  "shift+enter": (buffer) => buffer.insert("\n"),
  "shift+space": (buffer) => buffer.insert(" "),
};

/** Applies a key to a text; false when it has no effect. */
export function editKey(buffer: TextBuffer, { name, text }: Key): boolean {
  if (name === "text") {
    buffer.insert(text);
    return true;
  }
  if (name === "paste") {
    buffer.paste(text);
    return true;
  }
  const edit = EDITS[name];
  edit?.(buffer);
  return edit !== undefined;
}
