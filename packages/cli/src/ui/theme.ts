import type { Row } from "../terminal/screen.ts";
import type { Line, Style } from "../terminal/styled-line.ts";
import { lineWidth } from "../terminal/styled-line.ts";

export type ColorDepth = "none" | "16" | "256" | "full";

export const THEMES = ["auto", "dark", "light", "contrast", "colorblind"] as const;
export type ThemeName = (typeof THEMES)[number];

/** The code that turns a style on; the code that turns it off follows from it. */
export type Look = readonly [on: string, off: string];
export type Theme = Readonly<Partial<Record<Style, Look>>>;

const fore = (code: string): Look => [code, "39"];
const both = (front: string, back: string): Look => [`${front};${back}`, "39;49"];
const back = (code: string): Look => [code, "49"];
const bold: Look = ["1", "22"];

/** The user has chosen the sixteen colours, so they suit the background. */
const PLAIN: Theme = {
  strong: bold,
  emphasis: ["3", "23"],
  dim: ["2", "22"],
  heading: ["1;4", "22;24"],
  code: fore("36"),
  link: ["4", "24"],
  person: bold,
  good: fore("32"),
  bad: fore("31"),
  warning: fore("33"),
  accent: fore("36"),
  added: fore("32"),
  removed: fore("31"),
  addedWord: ["32;7", "39;27"],
  removedWord: ["31;7", "39;27"],
  comment: ["2", "22"],
  string: fore("32"),
  keyword: fore("35"),
  number: fore("33"),
  chosen: ["7", "27"],
};

/** Blue and orange, which are easy to tell apart. */
const COLORBLIND: Theme = {
  ...PLAIN,
  good: fore("34"),
  bad: fore("33"),
  added: fore("34"),
  removed: fore("33"),
  addedWord: ["34;7", "39;27"],
  removedWord: ["33;7", "39;27"],
  string: fore("34"),
};

const CONTRAST: Theme = {
  ...PLAIN,
  dim: ["0", "0"],
  comment: ["0", "0"],
  good: ["1;32", "22;39"],
  bad: ["1;31", "22;39"],
  warning: ["1;33", "22;39"],
  added: ["1;32", "22;39"],
  removed: ["1;31", "22;39"],
  addedWord: ["1;7", "22;27"],
  removedWord: ["1;7", "22;27"],
};

/** With more colours, changed words get a background of their own. */
const WORDS: Readonly<Record<string, Readonly<Record<"256" | "full", Theme>>>> = {
  dark: {
    "256": { addedWord: both("38;5;157", "48;5;22"), removedWord: both("38;5;217", "48;5;52") },
    full: {
      addedWord: both("38;2;190;250;190", "48;2;20;80;30"),
      removedWord: both("38;2;255;200;200", "48;2;110;25;30"),
    },
  },
  light: {
    "256": { addedWord: back("48;5;157"), removedWord: back("48;5;217") },
    full: { addedWord: back("48;2;170;235;170"), removedWord: back("48;2;255;190;190") },
  },
};

/** The colours that the environment asks for; NO_COLOR and FORCE_COLOR override what the terminal can do. */
export function colorDepth(environment: NodeJS.ProcessEnv): ColorDepth {
  const { NO_COLOR, FORCE_COLOR, COLORTERM = "", TERM = "" } = environment;
  if (NO_COLOR) return "none";
  const forced = { "0": "none", false: "none", "1": "16", true: "16", "2": "256", "3": "full" } as const;
  if (FORCE_COLOR !== undefined) return forced[FORCE_COLOR as keyof typeof forced] ?? "16";
  if (TERM === "dumb" || TERM === "") return "none";
  if (/truecolor|24bit/i.test(COLORTERM)) return "full";
  return TERM.includes("256") ? "256" : "16";
}

/** `auto` is light or dark, by the background that the terminal reported. */
export function themeNamed(name: ThemeName, depth: ColorDepth, isLight: boolean): Theme {
  if (depth === "none") return {};
  if (name === "colorblind") return COLORBLIND;
  if (name === "contrast") return CONTRAST;
  const ground = name === "auto" ? (isLight ? "light" : "dark") : name;
  return depth === "16" ? PLAIN : { ...PLAIN, ...WORDS[ground]?.[depth] };
}

/** Whether the colour that a terminal reported, `11;rgb:ffff/ffff/ffff`, is light. */
export function isLightBackground(report: string): boolean {
  const parts = /rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(report);
  if (parts === null) return false;
  const [red = 0, green = 0, blue = 0] = parts
    .slice(1)
    .map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.3 * red + 0.59 * green + 0.11 * blue > 0.5;
}

/** What drives a terminal or turns the order of a line around. */
const DRIVES = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** A line that fits, as bytes for the terminal; what was not made safe to show before is left out of it. */
export function paint(line: Line, theme: Theme): Row {
  let bytes = "";
  for (const { text: given, style } of line) {
    const text = given.replace(DRIVES, "");
    const look = style === undefined ? undefined : theme[style];
    bytes += look === undefined || text === "" ? text : `\u001b[${look[0]}m${text}\u001b[${look[1]}m`;
  }
  return { bytes, width: lineWidth(line) };
}
