import { visibleText } from "@burin/core/internal";

/** Matches joiners between emoji, and between letters of many scripts, where they hide nothing. */
const JOINED =
  /(?<=\p{Extended_Pictographic}\p{EMod}?\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{L}\p{M}])(?:\u200c|\u200d)(?=\p{L})/gu;

/** More characters than any of these patterns looks back. */
const LOOKS_BACK = 8;

/** Makes text from outside safe to show, but keeps the joiners of letters and emoji. `before` is already shown. */
export function escapeKeepingJoiners(text: string, before = ""): string {
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

/** Does the same for text that arrives in pieces, where a joiner may end one piece and join the start of the next. */
export function createPieceEscaper(): (piece: string) => string {
  let before = "";
  let held = "";
  return (piece) => {
    const all = held + piece;
    held = /(?<![\u200c\u200d])[\u200c\u200d]*$/.exec(all)?.[0] ?? "";
    const text = all.slice(0, all.length - held.length);
    const shown = escapeKeepingJoiners(text, before);
    before = (before + text).slice(-LOOKS_BACK);
    return shown;
  };
}
