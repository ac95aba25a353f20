import type { Row } from "../terminal/screen.ts";
import { type Back, type Line, LOOKS, measureLine, type Style } from "../terminal/styled-line.ts";

export type ColorDepth = "none" | "16" | "256" | "full";

export const THEMES = ["auto", "dark", "light", "contrast", "colorblind"] as const;
export type ThemeName = (typeof THEMES)[number];

/** The codes that turn each style on. One code turns all of them off. */
export type Theme = Readonly<Partial<Record<Style, string | null>>>;
/** How each theme differs from the looks in sixteen colours, in the format of the settings. */
const OWN: Readonly<
  Record<Exclude<ThemeName, "auto">, Readonly<Partial<Record<Style, string | readonly string[]>>>>
> = {
  // With more than sixteen colours, changed words get their own background.
  dark: {
    addedWord: ["#befabe", "on", "#14501e"],
    removedWord: ["#ffc8c8", "on", "#6e191e"],
    addedLine: ["on", "#142a1a"],
    removedLine: ["on", "#331a1d"],
    addedPart: ["on", "#1f5c30"],
    removedPart: ["on", "#7a2a31"],
  },
  light: {
    addedWord: ["on", "#aaebaa"],
    removedWord: ["on", "#ffbebe"],
    addedLine: ["on", "#e3f9e5"],
    removedLine: ["on", "#ffebe9"],
    addedPart: ["on", "#a6e9b0"],
    removedPart: ["on", "#ffbcb8"],
  },
  contrast: {
    dim: "",
    comment: "",
    good: ["bold", "green"],
    bad: ["bold", "red"],
    warning: ["bold", "yellow"],
    added: ["bold", "green"],
    removed: ["bold", "red"],
    addedWord: ["bold", "reverse"],
    removedWord: ["bold", "reverse"],
  },
  // Blue and orange are easy to tell apart.
  colorblind: {
    good: "blue",
    bad: "yellow",
    added: "blue",
    removed: "yellow",
    addedWord: ["blue", "reverse"],
    removedWord: ["yellow", "reverse"],
    string: "blue",
  },
};

/** Tints for terminals with 256 colours, which have no darker greens and reds than these. */
const TINTS_OF_256: Readonly<Record<"dark" | "light", Readonly<Partial<Record<Style, string>>>>> = {
  dark: { addedLine: "", removedLine: "", addedPart: "", removedPart: "" },
  light: {
    addedLine: "on #d7ffd7",
    removedLine: "on #ffd7d7",
    addedPart: "on #afffaf",
    removedPart: "on #ffafaf",
  },
};

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const EFFECTS = new Map(Object.entries({ bold: "1", dim: "2", italic: "3", underline: "4", reverse: "7" }));
/** The six levels of each colour component in terminals with 256 colours. */
const STEPS = [0, 95, 135, 175, 215, 255];

/** Returns the number of colours to use. NO_COLOR and FORCE_COLOR override what the terminal supports. */
export function detectColorDepth(environment: NodeJS.ProcessEnv): ColorDepth {
  const { NO_COLOR, FORCE_COLOR, COLORTERM = "", TERM = "" } = environment;
  if (NO_COLOR) return "none";
  const forced = { "0": "none", false: "none", "1": "16", true: "16", "2": "256", "3": "full" } as const;
  if (FORCE_COLOR !== undefined) return forced[FORCE_COLOR as keyof typeof forced] ?? "16";
  if (TERM === "dumb" || TERM === "") return "none";
  if (/truecolor|24bit/i.test(COLORTERM)) return "full";
  return TERM.includes("256") ? "256" : "16";
}

/** Whether a terminal's reported background colour, such as `11;rgb:ffff/ffff/ffff`, is light. */
export function isLightBackground(report: string): boolean {
  const parts = /rgba?:([0-9a-f]+)\/([0-9a-f]+)\/([0-9a-f]+)/i.exec(report);
  if (parts === null) return false;
  const [red = 0, green = 0, blue = 0] = parts
    .slice(1)
    .map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.3 * red + 0.59 * green + 0.11 * blue > 0.5;
}

export interface ThemeOptions {
  readonly name: ThemeName;
  readonly isLight: boolean;
  /** The user's own looks. */
  readonly colors: Readonly<Record<string, string>>;
}

/** Builds the theme, and reports which of the user's own looks are invalid. `auto` follows the background. */
export function mixTheme(
  { name, isLight, colors }: ThemeOptions,
  depth: ColorDepth,
): { theme: Theme; faults: string[] } {
  if (depth === "none") return { theme: {}, faults: [] };
  const known = name === "auto" ? (isLight ? "light" : "dark") : name;
  const own = depth === "16" && (known === "light" || known === "dark") ? {} : OWN[known];
  const tints = depth === "256" && (known === "light" || known === "dark") ? TINTS_OF_256[known] : {};
  const words = Object.entries({ ...LOOKS, ...own, ...tints });
  const theme = Object.fromEntries(
    words.map(([style, look]) => [style, formatLook([look].flat().join(" "), depth)]),
  );
  const faults: string[] = [];
  for (const [style, look] of Object.entries(colors)) {
    const found = Object.hasOwn(LOOKS, style) ? formatLook(look, depth) : null;
    if (found === null) faults.push(`ui.colors.${style}: ${look}`);
    else theme[style] = found;
  }
  return { theme, faults };
}

function formatLook(look: string, depth: ColorDepth): string | null {
  const codes: string[] = [];
  let isBack = false;
  for (const word of look.trim().toLowerCase().split(/\s+/)) {
    const code = EFFECTS.get(word) ?? formatColor(word, depth, isBack);
    isBack = word === "on" || (isBack && EFFECTS.has(word));
    if (code !== null) codes.push(code);
    else if (word !== "on") return null;
  }
  return codes.length === 0 ? null : codes.join(";");
}

/** Returns the code of a colour, or of the nearest colour that the terminal has. */
function formatColor(word: string, depth: ColorDepth, isBack: boolean): string | null {
  const shift = isBack ? 10 : 0;
  const [, bright, name = ""] = /^(bright)?(\w+)$/.exec(word) ?? [];
  const index = NAMES.indexOf(name);
  if (index !== -1) return String((bright === undefined ? 30 : 90) + index + shift);
  if (word === "gray" || word === "grey") return String(90 + shift);
  const hex = /^#([\da-f]{6}|[\da-f]{3})$/.exec(word)?.[1];
  if (hex === undefined) return null;
  const whole = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
  const parts = (whole.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  if (depth === "full") return `${38 + shift};2;${parts.join(";")}`;
  const [red = 0, green = 0, blue = 0] = parts.map(findNearestColorStep);
  if (depth === "256") return `${38 + shift};5;${16 + 36 * red + 6 * green + blue}`;
  return String(30 + shift + (red > 2 ? 1 : 0) + (green > 2 ? 2 : 0) + (blue > 2 ? 4 : 0));
}

function findNearestColorStep(part: number): number {
  const away = STEPS.map((step) => Math.abs(step - part));
  return away.indexOf(Math.min(...away));
}

/** Characters that control a terminal or reverse the order of a line. */
const DRIVES = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The tint for each kind of changed text. */
const TINTS: Readonly<Record<Back, Style>> = {
  added: "addedLine",
  removed: "removedLine",
  addedWord: "addedPart",
  removedWord: "removedPart",
};

/** Converts a line that fits to bytes for the terminal. Removes characters that should have been made safe before. */
export function renderRow(line: Line, theme: Theme): Row {
  let bytes = "";
  const seen = removeInvisiblePadding(line, theme);
  for (const { text: given, style, back } of seen) {
    const text = given.replace(DRIVES, "");
    const tint = back && theme[TINTS[back]];
    const role = back ?? style;
    const look = tint ? [style && theme[style], tint].filter(Boolean).join(";") : role && theme[role];
    bytes += !look || text === "" ? text : `\u001b[${look}m${text}\u001b[m`;
  }
  return { bytes, width: measureLine(seen) };
}

/** Removes trailing spaces for a tint that the theme does not have: they would only be copied with the text. */
function removeInvisiblePadding(line: Line, theme: Theme): Line {
  const last = line.at(-1);
  const isUnseen = last?.back !== undefined && !theme[TINTS[last.back]] && last.text.trim() === "";
  return isUnseen ? line.slice(0, -1) : line;
}
