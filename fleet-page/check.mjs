// What a user does with the page of the fleet, done in a browser, with tasks that attack it.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const BROWSER = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDE = { width: 1280, height: 800 };
const SMALL = { width: 375, height: 740 };
const ATTACK = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
const usage = { inputTokens: 90, outputTokens: 10 };

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {typeof import("../packages/fleet/tests/fleet-room.mjs")} Rooms */

/**
 * @param {Rooms} rooms
 * @param {string | null} pictures
 * @returns {Promise<string[]>} what is wrong
 */
export async function checkPage(rooms, pictures) {
  const room = await rooms.openRoom((messages) => reply(messages, rooms));
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  /** @type {string[]} */
  const faults = [];
  try {
    const url = await beginWork(room, rooms);
    const page = await browser.newPage({ colorScheme: "light", viewport: WIDE, reducedMotion: "reduce" });
    const from = new URL(url).origin;
    page.on("request", (request) => {
      if (!request.url().startsWith(from) && !request.url().startsWith("data:"))
        faults.push(`asks for ${request.url()}`);
    });
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(url);
    await page.getByRole("link", { name: "first" }).waitFor();
    if (page.url().includes(new URL(url).hash.slice(1))) faults.push("the token stays in the address");
    const look = new Look(page, faults, pictures);
    await look.at("runs");
    await keyboardFaults(page, faults);
    await look.at("run");
    await attackFaults(page, faults, look);
    await questionFaults(page, faults, look);
    await steeringFaults(page, faults);
    await addMany((text) => rooms.query(room.databaseUrl(), text));
    await manyFaults(page, faults, look);
  } finally {
    await browser.close();
    await room.close();
  }
  return faults;
}

/** @param {readonly any[]} messages @param {Rooms} rooms @returns {any} */
function reply(messages, { listAnswers }) {
  const words = JSON.stringify(messages);
  const [project = ""] = /\/[\w/.-]+\/project/.exec(words) ?? [];
  const answers = listAnswers(messages);
  const call = (/** @type {string} */ name, /** @type {object} */ args) => ({
    text: `${ATTACK}\n\`\`\`html\n${ATTACK}\n\`\`\``,
    calls: [{ name, args }],
    usage,
  });
  const file_path = `${project}/<b>x<b>.html`;
  if (words.includes("wait long") && answers.length === 0)
    return call("run_shell_command", { command: "exec sleep 600" });
  if (answers.length === 0) return call("write_file", { file_path, content: `${ATTACK}\n` });
  if (answers.length === 1)
    return call("run_shell_command", { command: `echo '${ATTACK.replaceAll("'", '"')}' | tee made.txt` });
  return { text: `${ATTACK} is done`, usage };
}

/** @param {import("../packages/fleet/tests/fleet-room.mjs").Room} room @param {Rooms} rooms */
async function beginWork(room, { waitUntil }) {
  const file = await room.writeTasks([
    { id: "attack", prompt: ATTACK },
    { id: "asks", prompt: "Write the page", approvalMode: "auto-edit" },
    { id: "broken", setup: `echo '${ATTACK}'; exit 3` },
  ]);
  await room.fleet("run", file, "--run", "first");
  const { soFar, child } = room.commands.start(["serve"]);
  await waitUntil(() => soFar.stdout.includes("\n") || child.exitCode !== null);
  await room.commands.startWorker(2);
  const later = await room.writeTasks([{ id: "long", prompt: "wait long" }]);
  await room.fleet("run", later, "--run", "second", "--no-follow");
  return soFar.stdout.trim();
}

/** What is wrong with what is seen: in the light and in the dark, on a wide and on a small screen. */
class Look {
  #page;
  #faults;
  #pictures;

  /** @param {Page} page @param {string[]} faults @param {string | null} pictures */
  constructor(page, faults, pictures) {
    this.#page = page;
    this.#faults = faults;
    this.#pictures = pictures;
  }

  /** @param {string} name */
  async at(name) {
    const page = this.#page;
    for (const colorScheme of /** @type {const} */ (["dark", "light"])) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of [SMALL, WIDE]) {
        await page.setViewportSize(viewport);
        const where = `${name}, ${colorScheme}, ${viewport.width} pixels`;
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (over > 0) this.#faults.push(`${where}: ${over} pixels too wide`);
        for (const fault of await axeFaults(page)) this.#faults.push(`${where}: ${fault}`);
        const file = `${name}-${colorScheme}-${viewport.width}.png`;
        if (this.#pictures !== null) await page.screenshot({ path: join(this.#pictures, file) });
      }
    }
  }
}

/** @param {Page} page @returns {Promise<string[]>} */
async function axeFaults(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await Reflect.get(globalThis, "axe").run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    });
    return violations.map(
      (/** @type {{ id: string, nodes: { target: string[], failureSummary: string }[] }} */ { id, nodes }) =>
        `${id}, ${nodes.length} times, e.g. ${nodes[0]?.target.join(" ")}: ${nodes[0]?.failureSummary.split("\n")[1]?.trim()}`,
    );
  });
}

/** With keys alone: past the head, to a run, to what is searched for. @param {Page} page @param {string[]} faults */
async function keyboardFaults(page, faults) {
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement?.textContent);
  if (first !== "Skip to the content") faults.push(`the first tab stop is ${first}`);
  for (let count = 0; count < 4; count += 1) {
    await page.keyboard.press("Tab");
    const hidden = await page.evaluate(() => {
      const element = document.activeElement ?? document.body;
      return getComputedStyle(element).outlineStyle === "none" ? element.outerHTML.slice(0, 100) : null;
    });
    if (hidden !== null) faults.push(`the focus is not seen on ${hidden}`);
  }
  await page.getByRole("link", { name: "first" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "first" }).waitFor();
  const focused = await page.evaluate(() => document.activeElement?.tagName);
  if (focused !== "H1") faults.push(`the focus of a new view is on ${focused}`);
  await page.keyboard.press("/");
  await page.keyboard.type("page");
  await page.keyboard.press("Enter");
  await page.getByText("1–1 of 1").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.keyboard.press("Enter");
  await page.getByText("1–3 of 3").waitFor();
}

/** Nothing of what tasks and models say becomes part of the page. @param {Page} page @param {string[]} faults @param {Look} look */
async function attackFaults(page, faults, look) {
  await page.getByRole("link", { name: "attack" }).click();
  await page.getByText("Succeeded").first().waitFor();
  await page.getByText(`${ATTACK} is done`).first().waitFor();
  await page.getByText("All changes").click();
  await page.locator(".changes .diff .added").first().waitFor();
  await look.at("task");
  const shown = (await page.locator("main").textContent()) ?? "";
  const count = shown.split(ATTACK).length - 1;
  if (count < 6) faults.push(`the words of the attack are seen ${count} times`);
  if (!shown.includes("<b>x<b>.html")) faults.push("the name of the file is not seen");
  const elements = await page.locator("main :is(img, script, b)").count();
  if (elements > 0) faults.push(`${elements} elements are made of words`);
  if ((await page.title()) !== "first.attack – Burin fleet")
    faults.push(`the title is ${await page.title()}`);
}

/** A question is answered with a click, and the transcript grows by itself. @param {Page} page @param {string[]} faults @param {Look} look */
async function questionFaults(page, faults, look) {
  await page.getByRole("link", { name: "first" }).click();
  await page.getByRole("button", { name: "Waiting" }).click();
  await page.getByText("1–1 of 1").waitFor();
  await page.getByRole("link", { name: "asks" }).click();
  const question = page.getByRole("region", { name: "Question" });
  await question.waitFor();
  await look.at("question");
  const before = await page.locator(".log > li").count();
  await question.getByRole("button", { name: "Yes" }).click();
  await page.getByText("first.asks is in the queue again").waitFor();
  await page.getByText("Succeeded").first().waitFor();
  await page.getByText(`${ATTACK} is done`).first().waitFor();
  if (await question.isVisible()) faults.push("a question that was answered is still there");
  if ((await page.locator(".log > li").count()) <= before) faults.push("the transcript has not grown");
}

/** Cancel, and retry. @param {Page} page @param {string[]} faults */
async function steeringFaults(page, faults) {
  await page.getByRole("link", { name: "Burin fleet" }).click();
  await page.getByRole("link", { name: "second" }).click();
  await page.getByRole("link", { name: "long" }).click();
  await page.locator(".state.running").waitFor();
  await page.getByText("exec sleep 600").first().waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".state.cancelled").waitFor();
  if (!(await page.getByRole("button", { name: "Retry" }).isVisible()))
    faults.push("nothing retries a cancelled task");
  await page.goto(`${new URL(page.url()).origin}/#/run/first`);
  await page.getByRole("button", { name: "Retry failed" }).click();
  await page.getByText("1 task back in the queue").waitFor();
}

/** @param {(text: string) => Promise<unknown>} query */
async function addMany(query) {
  const columns = "workflow_uuid, status, name, created_at, queue_name";
  for (const id of ["'many.t' || n", "'r' || n || '.t'"]) {
    const rows = `select ${id}, case n % 3 when 0 then 'CANCELLED' else 'ENQUEUED' end, 'task', n, 'none' from generate_series(1, 10000) n`;
    await query(`insert into dbos.workflow_status (${columns}) ${rows}`);
  }
}

/** Of 10,000 runs, and 10,000 tasks, a page. @param {Page} page @param {string[]} faults @param {Look} look */
async function manyFaults(page, faults, look) {
  await page.goto(`${new URL(page.url()).origin}/#/`);
  await page.getByText("1–50 of 10,003").waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("51–100 of 10,003").waitFor();
  await page.goto(`${new URL(page.url()).origin}/#/run/many`);
  await page.getByRole("button", { name: "Cancelled" }).click();
  await page.getByText("1–50 of 3,333").waitFor();
  await look.at("many");
  const elements = await page.locator("main *").count();
  if (elements > 2000) faults.push(`${elements} elements for 50 of 10,000 tasks`);
}
