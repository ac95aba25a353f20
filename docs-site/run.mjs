// Builds the documentation site into dist/; with --check it is looked at in a browser, too. The generator is
// installed into a temporary folder of its own, so that the repository stays small.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const repository = dirname(here);
/** Pages that others link to. */
const BESIDE_DOCS = ["AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"];

const place = mkdtempSync(join(tmpdir(), "burin-docs-"));
try {
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(here, name), join(place, name));
  const npm = ["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", npm, { cwd: place, stdio: "inherit" });
  const site = join(place, "site");
  cpSync(join(here, "pages"), site, { recursive: true });
  cpSync(join(repository, "docs"), join(site, "docs"), { recursive: true });
  for (const name of BESIDE_DOCS) cpSync(join(repository, name), join(site, name));
  for (const name of readdirSync(join(site, "docs"), { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".md")) leaveOutCodeLinks(join(site, "docs", name));
  }
  cpSync(join(here, "api-pages.mjs"), join(place, "api-pages.mjs"));
  const { apiTitles, writeApiPages } = await import(pathToFileURL(join(place, "api-pages.mjs")).href);
  writeApiPages(repository, join(site, "api"));
  writeConfig(join(site, ".vitepress"), apiTitles());
  const vitepress = join(place, "node_modules/vitepress/bin/vitepress.js");
  const out = join(here, "dist");
  const args = [vitepress, "build", site, "--outDir", out];
  execFileSync(process.execPath, args, { cwd: place, stdio: "inherit", env: { ...process.env, CI: "true" } });
  if (process.argv.includes("--check")) {
    for (const name of ["check.mjs", "serve-files.mjs"]) cpSync(join(here, name), join(place, name));
    const { checkSite } = await import(pathToFileURL(join(place, "check.mjs")).href);
    const faults = await checkSite(out);
    for (const fault of faults) process.stdout.write(`${fault}\n`);
    process.stdout.write(`${faults.length} faults\n`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** What is code in the repository is no page of the site. @param {string} file */
function leaveOutCodeLinks(file) {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/\[([^\]]+)\]\((?:\.\.\/)+(?:examples|conformance)\b[^)]*\)/g, "$1"));
}

/** @param {string} folder @param {Record<string, string>} api the titles of its pages */
function writeConfig(folder, api) {
  mkdirSync(join(folder, "theme"), { recursive: true });
  const tools = readdirSync(join(repository, "docs/tools")).map((name) => name.replace(/\.md$/, ""));
  cpSync(join(here, "config.mjs"), join(folder, "site-config.mjs"));
  const config = `import { siteConfig } from "./site-config.mjs";\nexport default siteConfig(${JSON.stringify({ tools, api })});\n`;
  writeFileSync(join(folder, "config.mjs"), config);
  for (const name of ["index.mjs", "style.css"])
    cpSync(join(here, "theme", name), join(folder, "theme", name));
}
