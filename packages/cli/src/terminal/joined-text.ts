import { visibleText } from "@burin/core/internal";

/** Characters that join emoji, and letters of many scripts, hide nothing in these places. */
const JOINED =
  /(?<=\p{Extended_Pictographic}\p{EMod}?\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{L}\p{M}])(?:\u200c|\u200d)(?=\p{L})/gu;

/** More than any of them looks back. */
const LOOKS_BACK = 8;

/** Text from outside, safe to show, with the characters that join its letters and emoji; `before` is already shown. */
export function insertJoiners(text: string, before = ""): string {
  if (!/[\u200c\u200d]/.test(text)) return visibleText(text);
  const all = before + text;
  let at = before.length;
  let shown = "";
  for (const { 0: joiner, index } of all.matchAll(JOINED)) {
    if (index < at) continue;
    shown += visibleText(all.slice(at, index)) + joiner;
    at = index + joiner.length;
  }
  return shown + visibleText(all.slice(at));
}

/** The same for a text that comes in pieces: what joins may end one, and what it joins begin the next. */
export function createPieceJoiner(): (piece: string) => string {
  let before = "";
  let held = "";
  return (piece) => {
    const all = held + piece;
    held = /(?<![\u200c\u200d])[\u200c\u200d]*$/.exec(all)?.[0] ?? "";
    const text = all.slice(0, all.length - held.length);
    const shown = insertJoiners(text, before);
    before = (before + text).slice(-LOOKS_BACK);
    return shown;
  };
}
