// npm run pictures: runs the demo in the real app, and keeps what is on its screen as SVG: the question for an edit, and
// the whole demo as one animated picture.
//
// npm run pictures -- FOLDER [COLUMNS] [LANGUAGE] [SCREEN...]: every screen, or those that are named, in a dark and a light
// window. The screen "export" is the page that /export writes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LANGUAGES, readTexts, TerminalPicture } from "./terminal-picture.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const SECONDS_A_FRAME = 1.6;
const [COLUMNS, ROWS] = [84, 30];

const text = await readTexts();
const [folder, ...words] = process.argv.slice(2);
if (folder === undefined) await makeDemo();
else await makeScreens(folder, words);
process.exit(0);

/** @param {string} into @param {readonly string[]} chosen */
async function makeScreens(into, chosen) {
  const { makeScreen, SCENES } = await import("./screens.mjs");
  const [columns = 80] = chosen.map(Number).filter((count) => count > 0);
  const [language = "en"] = chosen.filter((word) => LANGUAGES.includes(word));
  const named = chosen.filter((word) => !(Number(word) > 0) && word !== language);
  const text = await readTexts(language);
  mkdirSync(into, { recursive: true });
  const suffix = language === "en" ? "" : `-${language}`;
  for (const name of named.length > 0 ? named : Object.keys(SCENES)) {
    for (const look of /** @type {const} */ (["dark", "light"])) {
      const { picture, page } = await makeScreen(name, { columns, look, text, language });
      writeFileSync(join(into, `${name}-${columns}-${look}${suffix}.svg`), picture);
      if (page !== null) writeFileSync(join(into, `${name}${suffix}.html`), page);
    }
  }
}

async function makeDemo() {
  const home = mkdtempSync(join(tmpdir(), "burin-pictures-"));
  const terminal = new TerminalPicture({ folder: home, home, columns: COLUMNS, rows: ROWS, look: "dark" });
  /** @type {string[]} */
  const frames = [];
  /** Keeps what is on the screen when it shows this. @param {readonly (string | RegExp)[]} wanted */
  const frame = async (...wanted) => {
    await terminal.shows(...wanted);
    const screen = terminal.screen();
    frames.push(screen);
    return screen;
  };
  try {
    await frame(text("first.title"));
    terminal.type(text("first.demoLabel"));
    await frame(`› ${text("first.demoLabel")}`);
    terminal.type("\r");
    const question = await frame(text("question.edit"), text("question.stop"));
    await terminal.answer("y", text("question.edit"));
    await frame(text("question.exec"), text("question.stop"));
    await terminal.answer("y", text("question.exec"));
    await frame(text("demo.passes"), text("demo.turn").slice(0, 9), text("status.keys"));
    writeFileSync(join(HERE, "question.svg"), terminal.picture("The question before an edit", question));
    const demo = animated(frames);
    writeFileSync(
      join(HERE, "demo.svg"),
      terminal.picture("The demo, from the first start to the end", demo),
    );
  } finally {
    terminal.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Each frame is seen for a while, one after the other, and then all over again. @param {readonly string[]} frames */
function animated(frames) {
  const whole = frames.length * SECONDS_A_FRAME;
  const share = (100 / frames.length).toFixed(2);
  const style = `<style>.f{opacity:0;animation:f ${whole}s steps(1) infinite}@keyframes f{0%{opacity:1}${share}%{opacity:0}}</style>`;
  const groups = frames.map(
    (frame, n) => `<g class="f" style="animation-delay:${(n * SECONDS_A_FRAME).toFixed(1)}s">${frame}</g>`,
  );
  return `${style}\n${groups.join("\n")}`;
}
