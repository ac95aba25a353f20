/** Built from numbers, so that this file has no control character. */
const ESC = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);

const character = (code: number) => `\\u${code.toString(16).padStart(4, "0")}`;
const range = (from: number, to: number) => `${character(from)}-${character(to)}`;

/** Control sequences (colors, cursor), strings for the terminal (titles, links), and the short escapes. */
const ESCAPES = new RegExp(
  [
    `(?:${ESC}\\[|${character(0x9b)})[0-?]*[ -/]*[@-~]`,
    `(?:${ESC}[\\]PX^_]|[${[0x90, 0x98, 0x9d, 0x9e, 0x9f].map(character).join("")}])[^${BELL}${ESC}${character(0x9c)}]*(?:${BELL}|${ESC}\\\\|${character(0x9c)}|$)`,
    `${ESC}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);

const OTHER_CONTROLS = new RegExp(
  `[${range(0, 0x07)}${range(0x0b, 0x0c)}${range(0x0e, 0x1f)}${range(0x7f, 0x9f)}]`,
  "g",
);

/** The cursor goes to the first column. */
const TO_START = new RegExp(`${ESC}\\[[01]?G`, "g");
/** The rest of the line is erased, or all of it. */
const ERASES = new RegExp(`${ESC}\\[([02]?)K`, "g");
/** Stands for an erasing in a line. */
const ERASED = "\0";

/** What a terminal would show at the end: overwritten lines as they were last, no colors, no erased text. */
export function terminalText(text: string): string {
  const moved = text
    .replaceAll(ERASED, "")
    .replace(TO_START, "\r")
    .replace(ERASES, (_all, what: string) => (what === "2" ? `\r${ERASED}` : ERASED));
  const plain = moved.replace(ESCAPES, "").replace(/(?<!\r)\r+\n/g, "\n");
  const lines = plain.includes("\r") ? plain.split("\n").map(lastWritten).join("\n") : plain;
  return withoutTakenBack(lines).replace(OTHER_CONTROLS, "");
}

function lastWritten(line: string): string {
  if (!line.includes("\r")) return line;
  let shown = "";
  // From the last part, which hides what was written before it in the same columns.
  for (const part of line.split("\r").reverse()) {
    const written = part.replaceAll(ERASED, "");
    if (written.length > shown.length) shown += written.slice(shown.length);
    // Before that, nothing of the line was left.
    if (written !== part) break;
  }
  return shown;
}

function withoutTakenBack(text: string): string {
  if (!text.includes("\b")) return text;
  const kept: string[] = [];
  for (const character of text) {
    if (character !== "\b") kept.push(character);
    else if (kept.at(-1) !== "\n") kept.pop();
  }
  return kept.join("");
}
