// What reading a page costs in CPU: 1 MB of HTML of several kinds, each in a fresh process, so that nothing is warm.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../build.mjs";
import { median, printResult } from "./measure.mjs";

const THIS = fileURLToPath(import.meta.url);
const SOURCE = fileURLToPath(new URL("../packages/web/src/html/html-to-markdown.ts", import.meta.url));
const BYTES = 1_000_000;
const RUNS = 7;
const MAX_MS = 300;

/** @type {Record<string, () => string>} */
const PAGES = {
  "a manual, dense with links, lists and tables": manual,
  "an article in 1 MB of CSS and scripts": () =>
    `<style>${".a{color:red}\n".repeat(BYTES / 28)}</style><script>${"f(1);\n".repeat(BYTES / 12)}</script>${manual(20_000)}`,
  "a table": () => `<table>${"<tr><td>alpha<td>beta<td>12</tr>".repeat(BYTES / 32)}</table>`,
  "nested without end": () => "<div><b>".repeat(BYTES / 8),
  "links alone": () => '<a href="/page">word</a> '.repeat(BYTES / 25),
  "code of a highlighter": () =>
    `<pre>${'<span class="k">let</span> <span class="n">x</span>;\n'.repeat(BYTES / 56)}</pre>`,
};

function manual(bytes = BYTES) {
  const words = "the quick burin cuts one exact line into copper and does not slip ";
  let html = "<!doctype html><title>Manual</title><nav><a href=/>Home</a></nav><main><h1>Manual</h1>";
  for (let part = 0; html.length < bytes; part += 1) {
    html += `<h2 id="p${part}">Part ${part}</h2><p class="text">${words.repeat(3)}<a href="/p/${part}?a=1&amp;b=2">see</a>
<code>call${part}()</code>, <em>${words}</em>.</p><ul><li>${words}</li><li><strong>${words}</strong></li></ul>
<table><tr><th>a<th>b</tr><tr><td>${part}<td>${words}</tr></table>`;
  }
  return `${html}</main><footer>end</footer>`;
}

/** @param {readonly string[]} args `one <module> <page>` is the measured child */
export async function run(args) {
  if (args[0] === "one") return one(args[1] ?? "", args[2] ?? "");
  const folder = mkdtempSync(join(tmpdir(), "burin-bench-web-"));
  try {
    await bundle({ page: SOURCE }, { dir: folder, format: "esm", extension: ".mjs" });
    for (const name of Object.keys(PAGES)) {
      const figures = Array.from({ length: RUNS }, () => measured(join(folder, "page.mjs"), name));
      printResult({
        what: `1 MB to Markdown: ${name}`,
        value: median(figures),
        unit: "ms CPU",
        most: MAX_MS,
      });
    }
    await fetchFigure();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} module @param {string} name */
function measured(module, name) {
  const child = spawnSync(process.execPath, [join(THIS, "../run.mjs"), "web", "one", module, name], {
    encoding: "utf8",
  });
  const ms = Number(child.stdout);
  if (child.status !== 0 || !(ms > 0)) throw new Error(`${name}: ${child.stdout}${child.stderr}`);
  return ms;
}

/** @param {string} module @param {string} name */
async function one(module, name) {
  const html = PAGES[name]?.() ?? "";
  const before = process.cpuUsage();
  const { readHtmlPage } = await import(module);
  readHtmlPage(html, new URL("https://example.org/"), false);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
}

/** The tool as a whole, from the call to the answer, over HTTP on this machine. */
async function fetchFigure() {
  const { WebFetch } = /** @type {typeof import("@burin/core")} */ (
    await import(new URL("../packages/core/dist/index.js", import.meta.url).href)
  );
  const page = manual();
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const tool = new WebFetch({ allowedHosts: [`127.0.0.1:${port}`] });
  const figures = [];
  for (let index = 0; index < RUNS; index += 1) {
    const before = process.cpuUsage();
    const { error } = await tool.execute({ url: `http://127.0.0.1:${port}/` }, new AbortController().signal);
    if (error) throw new Error(error.message);
    const { user, system } = process.cpuUsage(before);
    figures.push((user + system) / 1000);
  }
  server.close();
  server.closeAllConnections();
  printResult({
    what: "web_fetch of the manual, server included",
    value: median(figures),
    unit: "ms CPU",
    most: MAX_MS,
    more: `the first: ${figures[0]?.toFixed(0)} ms`,
  });
}
