import type { ColorDepth, Look, Theme } from "./theme.ts";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const EFFECTS: Readonly<Record<string, Look>> = {
  bold: ["1", "22"],
  dim: ["2", "22"],
  italic: ["3", "23"],
  underline: ["4", "24"],
  reverse: ["7", "27"],
};
/** The six levels of each component in terminals with 256 colours. */
const STEPS = [0, 95, 135, 175, 215, 255];

/** The theme with the user's own styles, such as `bold #88c0d0 on black`, and those that are not valid. */
export function withColors(
  theme: Theme,
  colors: Readonly<Record<string, string>>,
  depth: ColorDepth,
): { theme: Theme; faults: string[] } {
  const own: Record<string, Look> = {};
  const faults: string[] = [];
  for (const [style, words] of Object.entries(colors)) {
    const look = Object.hasOwn(theme, style) ? lookOf(words, depth) : null;
    if (look === null) faults.push(`ui.colors.${style}: ${words}`);
    else own[style] = look;
  }
  return { theme: depth === "none" ? theme : { ...theme, ...own }, faults: depth === "none" ? [] : faults };
}

function lookOf(words: string, depth: ColorDepth): Look | null {
  const on: string[] = [];
  const off: string[] = [];
  let isBack = false;
  for (const word of words.trim().toLowerCase().split(/\s+/)) {
    const effect = EFFECTS[word];
    const color = colorOf(word, depth, isBack);
    if (word === "on") isBack = true;
    else if (effect !== undefined) {
      on.push(effect[0]);
      off.push(effect[1]);
    } else if (color !== null) {
      on.push(color);
      off.push(isBack ? "49" : "39");
      isBack = false;
    } else return null;
  }
  return on.length === 0 ? null : [on.join(";"), off.join(";")];
}

/** The code of a colour, or of the nearest one that the terminal has. */
function colorOf(word: string, depth: ColorDepth, isBack: boolean): string | null {
  const shift = isBack ? 10 : 0;
  const [, bright, name = ""] = /^(bright)?(\w+)$/.exec(word) ?? [];
  const index = NAMES.indexOf(name);
  if (index !== -1) return String((bright === undefined ? 30 : 90) + index + shift);
  if (word === "gray" || word === "grey") return String(90 + shift);
  const hex = /^#([\da-f]{6}|[\da-f]{3})$/.exec(word)?.[1];
  if (hex === undefined) return null;
  const pair = hex.length / 3;
  const parts = [0, 1, 2].map((at) =>
    Number.parseInt(hex.slice(at * pair, (at + 1) * pair).repeat(pair === 1 ? 2 : 1), 16),
  );
  if (depth === "full") return `${38 + shift};2;${parts.join(";")}`;
  const [red = 0, green = 0, blue = 0] = parts.map(stepOf);
  if (depth === "256") return `${38 + shift};5;${16 + 36 * red + 6 * green + blue}`;
  return String(30 + shift + (red > 2 ? 1 : 0) + (green > 2 ? 2 : 0) + (blue > 2 ? 4 : 0));
}

function stepOf(part: number): number {
  const away = STEPS.map((step) => Math.abs(step - part));
  return away.indexOf(Math.min(...away));
}
