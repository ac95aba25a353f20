// The real app in a pseudo-terminal that a headless xterm reads, and what is on its screen as SVG.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import headless from "@xterm/headless";
import { rolldown } from "rolldown";

const { spawn } = createRequire(import.meta.url)("@lydell/node-pty");
const BURIN = fileURLToPath(new URL("../../packages/cli/dist/burin.cjs", import.meta.url));
const LOCALES = new URL("../../packages/cli/src/locales/", import.meta.url);
const [CELL, LINE, EDGE] = [8.4, 18, 14];
const LOOKS = {
  dark: {
    background: "#17191c",
    foreground: "#d7dae0",
    palette: ["#1d1f21", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d0d0d0"],
  },
  light: {
    background: "#fbfbfa",
    foreground: "#24292f",
    palette: ["#24292f", "#cf222e", "#116329", "#8a5a00", "#0550ae", "#8250df", "#1b7c83", "#6e7781"],
  },
};
/** A screen that does not come ends the run, with what is on it instead. */
const MOST_WAIT_MS = 30_000;

/** @typedef {"dark" | "light"} Look */

export const LANGUAGES = ["en", "zh", "ja", "fr", "ru"];

/** The texts of the screen, from their own file: a picture never waits for words that nobody says any more. */
export async function readTexts(language = "en") {
  const texts =
    language === "en"
      ? await readEnglish()
      : JSON.parse(readFileSync(new URL(`${language}.json`, LOCALES), "utf8"));
  /** The words of a text before its first value. @param {string} key */
  return (key) => {
    const words = texts[key]?.split("{")[0].trim();
    if (words === undefined) throw new Error(`The screen has no text ${key}.`);
    return words;
  };
}

/** @returns {Promise<Record<string, string>>} */
async function readEnglish() {
  const bundle = await rolldown({ input: fileURLToPath(new URL("en.ts", LOCALES)) });
  const { output } = await bundle.generate({ format: "esm" });
  const source = Buffer.from(output[0].code).toString("base64");
  return (await import(`data:text/javascript;base64,${source}`)).en;
}

export class TerminalPicture {
  #terminal;
  #pty;
  #look;
  #size;

  /**
   * @param {{ folder: string, home: string, columns: number, rows: number, look: Look, args?: string[],
   *   env?: Record<string, string> }} needs
   */
  constructor({ folder, home, columns, rows, look, args = [], env = {} }) {
    this.#look = LOOKS[look];
    this.#size = { columns, rows };
    this.#terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.#pty = spawn(process.execPath, [BURIN, ...args], {
      name: "xterm-256color",
      cols: columns,
      rows,
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        BURIN_HOME: `${home}/.burin`,
        TERM: "xterm-256color",
        FORCE_COLOR: "3",
        LANG: "C.UTF-8",
        ...env,
      },
    });
    this.#pty.onData((/** @type {string} */ data) => this.#terminal.write(data));
  }

  /** @param {string} keys */
  type(keys) {
    this.#pty.write(keys);
  }

  text() {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: this.#size.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
    ).join("\n");
  }

  /** Resolves when the screen shows all of this. @param {readonly (string | RegExp)[]} wanted */
  async shows(...wanted) {
    await this.#until(
      () =>
        wanted.every((one) => (typeof one === "string" ? this.text().includes(one) : one.test(this.text()))),
      wanted.join(" and "),
    );
  }

  /** Presses a key until these words are gone: keys count only when a question has stood a while. @param {string} key @param {string} words */
  async answer(key, words) {
    let next = performance.now() + 400;
    await this.#until(() => {
      if (!this.text().includes(words)) return true;
      if (performance.now() > next) this.#pty.write(key);
      if (performance.now() > next) next = performance.now() + 400;
      return false;
    }, `an answer to ${words}`);
  }

  /** What is on the screen now, as the inner part of a picture. */
  screen() {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: this.#size.rows }, (_, row) => {
      const line = active.getLine(active.baseY + row);
      return line === undefined ? "" : this.#row(line, EDGE + 14 + row * LINE);
    });
    return rows.filter((row) => row !== "").join("\n");
  }

  /** A whole picture. @param {string} title @param {string} [inner] */
  picture(title, inner = this.screen()) {
    const { columns, rows } = this.#size;
    const [width, height] = [Math.ceil(columns * CELL + 2 * EDGE), rows * LINE + 2 * EDGE];
    const font = 'font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14"';
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${font}>
<title>${title}</title>
<rect width="${width}" height="${height}" rx="8" fill="${this.#look.background}"/>
${inner}
</svg>
`;
  }

  close() {
    this.#pty.kill("SIGKILL");
    this.#terminal.dispose();
  }

  /** @param {() => boolean} holds @param {string} what */
  async #until(holds, what) {
    const end = performance.now() + MOST_WAIT_MS;
    while (!holds()) {
      if (performance.now() > end) throw new Error(`The screen did not come to ${what}:\n${this.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** One row: neighbours of one look together, so that the picture stays small. @param {headless.IBufferLine} line @param {number} y */
  #row(line, y) {
    /** @type {{ at: number, cells: number, text: string, look: { behind: string, css: string } }[]} */
    const runs = [];
    for (let at = 0; at < line.length; at += 1) {
      const cell = line.getCell(at);
      if (cell === undefined || cell.getWidth() === 0) continue;
      const look = this.#lookOf(cell);
      const last = runs.at(-1);
      const text = cell.getChars() || " ";
      if (last && last.look.css === look.css && last.look.behind === look.behind) {
        last.text += text;
        last.cells += cell.getWidth();
      } else runs.push({ at, cells: cell.getWidth(), text, look });
    }
    return runs
      .filter(({ text, look }) => text.trim() !== "" || look.behind !== "none")
      .map(({ at, cells, text: whole, look: { behind, css } }) => {
        const text = behind === "none" ? whole.trimEnd() : whole;
        const width = ((cells - (whole.length - text.length)) * CELL).toFixed(1);
        const x = (EDGE + at * CELL).toFixed(1);
        const box =
          behind === "none"
            ? ""
            : `<rect x="${x}" y="${y - 13}" width="${width}" height="${LINE}" fill="${behind}"/>`;
        return `${box}<text x="${x}" y="${y}" textLength="${width}" ${css}>${escaped(text)}</text>`;
      })
      .join("");
  }

  /** @param {headless.IBufferCell} cell */
  #lookOf(cell) {
    const { foreground, background } = this.#look;
    const front = this.#color(cell.isFgDefault() ? -1 : cell.getFgColor(), cell.isFgRGB(), foreground);
    const back = this.#color(cell.isBgDefault() ? -1 : cell.getBgColor(), cell.isBgRGB(), "none");
    const isInverse = cell.isInverse() !== 0;
    const fill = isInverse ? background : front;
    const bold = cell.isBold() ? ' font-weight="bold"' : "";
    const dim = cell.isDim() ? ' opacity="0.6"' : "";
    return { behind: isInverse ? front : back, css: `fill="${fill}"${bold}${dim}` };
  }

  /** @param {number} color @param {boolean} isDirect @param {string} own */
  #color(color, isDirect, own) {
    if (color === -1) return own;
    if (isDirect) return `#${color.toString(16).padStart(6, "0")}`;
    return this.#look.palette[color % 8] ?? own;
  }
}

/** Browsers drop the spaces at the ends of a text, and those beside each other. @param {string} text */
function escaped(text) {
  return text.replace(/ /g, "\u00a0").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
