// Looks at the built site in a browser: every page in the light and in the dark, on a wide and on a small screen.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { chromium } from "playwright-core";
import { serveFiles } from "./serve-files.mjs";

const BROWSER = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDE = { width: 1280, height: 800 };
const SMALL = { width: 360, height: 740 };
const AT_ONCE = 2;

/**
 * @param {string} folder
 * @returns {Promise<string[]>} what is wrong
 */
export async function checkSite(folder) {
  const pages = htmlBelow(folder).filter((name) => name !== "404.html");
  const faults = pages.flatMap((name) => linkFaults(folder, name));
  const server = await serveFiles(folder);
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  try {
    const open = [...pages];
    const work = async () => {
      for (let name = open.shift(); name !== undefined; name = open.shift()) {
        faults.push(...(await pageFaults(browser, server.url, name)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    for (const start of ["/", "/zh/", "/ja/", "/fr/", "/ru/"]) {
      faults.push(...(await keyboardFaults(browser, server.url, start)));
    }
    process.stdout.write(`looked at ${pages.length} pages\n`);
    return faults;
  } finally {
    await browser.close();
    server.close();
  }
}

/** @param {string} folder */
function htmlBelow(folder) {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return all.filter((name) => name.endsWith(".html")).map((name) => name.replaceAll("\\", "/"));
}

/** Links inside the site, to pages and to headings. @param {string} folder @param {string} name */
function linkFaults(folder, name) {
  const html = readFileSync(join(folder, name), "utf8");
  const links = [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, href = ""]) => href);
  return links.flatMap((href) => {
    if (/^[a-z]+:/.test(href)) return [];
    const [path = "", anchor = ""] = href.split("#");
    const page = path === "" ? name : pageOf(posix.join("/", posix.dirname(name), path), path);
    const file = join(folder, page);
    if (!existsSync(file)) return [`${name}: the link ${href} leads nowhere`];
    const isThere =
      anchor === "" || readFileSync(file, "utf8").includes(`id="${decodeURIComponent(anchor)}"`);
    return isThere ? [] : [`${name}: the link ${href} leads to no heading`];
  });
}

/** @param {string} relative @param {string} path */
function pageOf(relative, path) {
  const whole = decodeURIComponent(path.startsWith("/") ? path : relative);
  if (whole.endsWith("/")) return `${whole}index.html`;
  return posix.extname(whole) === "" ? `${whole}.html` : whole;
}

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {string} name
 */
async function pageFaults(browser, url, name) {
  /** @type {string[]} */
  const faults = [];
  const page = await browser.newPage({ colorScheme: "light", viewport: WIDE, reducedMotion: "reduce" });
  page.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(url) && !asked.startsWith("data:")) faults.push(`${name}: asks for ${asked}`);
  });
  page.on("pageerror", (error) => faults.push(`${name}: ${error.message}`));
  page.on("console", (line) => line.type() === "error" && faults.push(`${name}: ${line.text()}`));
  await page.goto(`${url}/${name}`, { waitUntil: "networkidle" });
  // Its name comes when the page is alive.
  await page.locator('.VPNavBarAppearance button[title]:not([title=""])').waitFor({ state: "attached" });
  await page.evaluate(AXE);
  faults.push(...(await axeFaults(page)).map((fault) => `${name}: ${fault}`));
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator("html.dark").waitFor({ state: "attached" });
  faults.push(...(await axeFaults(page)).map((fault) => `${name}, dark: ${fault}`));
  await page.setViewportSize(SMALL);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (over > 0) faults.push(`${name}: ${over} pixels wider than a small screen`);
  await page.close();
  return faults;
}

/** @param {import("playwright-core").Page} page @returns {Promise<string[]>} */
function axeFaults(page) {
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

/**
 * With keys alone: the way past the menu, the search and a page that it finds.
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {string} start
 */
async function keyboardFaults(browser, url, start) {
  const page = await browser.newPage({ viewport: WIDE, reducedMotion: "reduce" });
  /** @type {string[]} */
  const faults = [];
  await page.goto(`${url}${start}`, { waitUntil: "networkidle" });
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement?.getAttribute("href"));
  if (first !== "#VPContent")
    faults.push(`${start}: the first tab stop is ${first}, not the way to the content`);
  for (let count = 0; count < 8; count += 1) {
    await page.keyboard.press("Tab");
    const hidden = await page.evaluate(() => {
      const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement ?? document.body);
      const isSeen = outlineStyle !== "none" || boxShadow !== "none";
      return isSeen ? null : document.activeElement?.outerHTML.slice(0, 100);
    });
    if (hidden !== null) faults.push(`${start}: the focus is not seen on ${hidden}`);
  }
  await page.keyboard.press("Control+k");
  await page.locator("#localsearch-input").waitFor();
  await page.keyboard.type("burin doctor");
  const results = page.locator("#localsearch-list li a");
  await results
    .first()
    .waitFor({ timeout: 10_000 })
    .catch(() => faults.push(`${start}: the search finds nothing`));
  await page.keyboard.press("Enter");
  const isAway = await page
    .waitForURL((now) => now.pathname !== start, { timeout: 10_000 })
    .then(
      () => true,
      () => false,
    );
  if (!isAway) faults.push(`${start}: the Enter key opens no page that was found`);
  await page.close();
  return faults;
}
