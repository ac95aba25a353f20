// npm run pictures: runs the demo in the real app, in a pseudo-terminal that a headless xterm reads, and keeps what is on
// its screen as SVG: the question for an edit, and the whole demo as one animated picture.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import headless from "@xterm/headless";

const { spawn } = createRequire(import.meta.url)("@lydell/node-pty");
const BURIN = fileURLToPath(new URL("../../packages/cli/dist/burin.cjs", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
const [COLUMNS, ROWS] = [84, 30];
const [CELL, LINE, EDGE] = [8.4, 18, 14];
const PALETTE = ["#1d1f21", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d0d0d0"];
const [BACKGROUND, FOREGROUND] = ["#17191c", "#d7dae0"];
const SECONDS_A_FRAME = 1.6;

/** @param {string} text */
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** @param {number} color @param {boolean} isDirect @param {string} own */
function colorOf(color, isDirect, own) {
  if (color === -1) return own;
  if (isDirect) return `#${color.toString(16).padStart(6, "0")}`;
  return PALETTE[color % 8] ?? own;
}

/** @param {import("@xterm/headless").IBufferCell} cell */
function lookOf(cell) {
  const front = colorOf(cell.isFgDefault() ? -1 : cell.getFgColor(), cell.isFgRGB(), FOREGROUND);
  const back = colorOf(cell.isBgDefault() ? -1 : cell.getBgColor(), cell.isBgRGB(), "none");
  const isInverse = cell.isInverse() !== 0;
  const fill = isInverse ? BACKGROUND : front;
  const behind = isInverse ? front : back;
  return {
    behind,
    css: `fill="${fill}"${cell.isBold() ? ' font-weight="bold"' : ""}${cell.isDim() ? ' opacity="0.6"' : ""}`,
  };
}

/**
 * One row: neighbours of one look together, so that the picture stays small.
 * @param {import("@xterm/headless").IBufferLine} line
 * @param {number} y
 */
function rowOf(line, y) {
  /** @type {{ at: number, text: string, look: ReturnType<typeof lookOf> }[]} */
  const runs = [];
  for (let at = 0; at < line.length; at += 1) {
    const cell = line.getCell(at);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    if (last && last.look.css === look.css && last.look.behind === look.behind) last.text += text;
    else runs.push({ at, text, look });
  }
  return runs
    .filter(({ text, look }) => text.trim() !== "" || look.behind !== "none")
    .map(({ at, text: whole, look: { behind, css } }) => {
      const text = behind === "none" ? whole.trimEnd() : whole;
      const x = EDGE + at * CELL;
      const box =
        behind === "none"
          ? ""
          : `<rect x="${x}" y="${y - 13}" width="${text.length * CELL}" height="${LINE}" fill="${behind}"/>`;
      const width = (text.length * CELL).toFixed(1);
      return `${box}<text x="${x.toFixed(1)}" y="${y}" textLength="${width}" ${css}>${escaped(text)}</text>`;
    })
    .join("");
}

/** @param {headless.Terminal} terminal */
function screenOf(terminal) {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    return line === undefined ? "" : rowOf(line, EDGE + 14 + row * LINE);
  });
  return rows.filter((row) => row !== "").join("\n");
}

/** @param {string} title @param {string} inner */
function picture(title, inner) {
  const [width, height] = [Math.ceil(COLUMNS * CELL + 2 * EDGE), ROWS * LINE + 2 * EDGE];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
<title>${title}</title>
<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>
${inner}
</svg>
`;
}

/** Each frame is seen for a while, one after the other, and then all over again. @param {string} title @param {readonly string[]} frames */
function animated(title, frames) {
  const whole = frames.length * SECONDS_A_FRAME;
  const share = 100 / frames.length;
  const style = `<style>.f{opacity:0;animation:f ${whole}s steps(1) infinite}@keyframes f{0%{opacity:1}${share.toFixed(2)}%{opacity:0}}</style>`;
  const groups = frames.map(
    (frame, n) => `<g class="f" style="animation-delay:${(n * SECONDS_A_FRAME).toFixed(1)}s">${frame}</g>`,
  );
  return picture(title, `${style}\n${groups.join("\n")}`);
}

const home = mkdtempSync(join(tmpdir(), "burin-pictures-"));
const terminal = new headless.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
const pty = spawn(process.execPath, [BURIN], {
  name: "xterm-256color",
  cols: COLUMNS,
  rows: ROWS,
  cwd: home,
  env: {
    PATH: process.env.PATH,
    HOME: home,
    BURIN_HOME: join(home, ".burin"),
    TERM: "xterm",
    FORCE_COLOR: "3",
  },
});
pty.onData((/** @type {string} */ data) => terminal.write(data));

const text = () =>
  Array.from(
    { length: ROWS },
    (_, row) =>
      terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)?.translateToString(true) ?? "",
  ).join("\n");

/** @type {string[]} */
const frames = [];

/** Keeps what is on the screen when it shows that. @param {string | RegExp} wanted */
async function frame(wanted) {
  while (!(typeof wanted === "string" ? text().includes(wanted) : wanted.test(text())))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const screen = screenOf(terminal);
  frames.push(screen);
  return screen;
}

/** Keys count only when the question has stood a while. @param {string} key @param {string} gone */
async function answer(key, gone) {
  while (text().includes(gone)) {
    pty.write(key);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

try {
  await frame("Which model service?");
  pty.write("just show");
  await frame("› Try the demo");
  pty.write("\r");
  const question = await frame("Make this change?");
  await answer("y", "Make this change?");
  await frame("Run this command?");
  await answer("y", "Run this command?");
  await frame(/The test passes[\s\S]*Your turn[\s\S]*\? for keys/);
  writeFileSync(join(HERE, "question.svg"), picture("The question before an edit", question));
  writeFileSync(join(HERE, "demo.svg"), animated("The demo, from the first start to the end", frames));
} finally {
  pty.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);
