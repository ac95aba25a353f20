import { posix } from "node:path";
import { type Fence, type Page, readPage } from "./markdown.ts";
import type { Files, Verdict } from "./repository-files.ts";

const DEMANDED = ["README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const SHELL = new Set(["sh", "bash", "shell", "console"]);

/** Names that always mean the repository's own files, even if a file or folder no longer exists. */
const TOP_FOLDERS = ["packages", "docs", "bench", "conformance", "examples", "gates", ".ci"];
const ROOT_FILES = [
  ...DEMANDED,
  "LICENSE",
  "biome.json",
  "build.mjs",
  "knip.json",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "vitest.config.ts",
];

interface Repository {
  /** Every file, and every folder that contains one. */
  readonly places: ReadonlySet<string>;
  readonly topFolders: ReadonlySet<string>;
  readonly scripts: ReadonlySet<string>;
  readonly pages: ReadonlyMap<string, Page>;
}

/** The size limits, in bytes, of pages that must stay short. */
const MAX_BYTES: Readonly<Record<string, number>> = { "AGENTS.md": 8000, "CHANGELOG.md": 4000 };

/** Checks that pages name only files, folders, scripts and headings that exist. */
export function checkDocsPaths(files: Files): Verdict {
  const violations = DEMANDED.filter((name) => !files.has(name)).map((name) => `${name}:1 is missing`);
  for (const [name, max] of Object.entries(MAX_BYTES)) {
    const size = Buffer.byteLength(files.get(name) ?? "");
    if (size > max) violations.push(`${name}:1 has ${size} bytes, more than ${max}`);
  }
  const repository = readRepository(files);
  for (const [path, page] of repository.pages) {
    for (const { line, text } of findFaults(path, page, repository))
      violations.push(`${path}:${line} ${text}`);
  }
  return { looked: repository.pages.size, violations };
}

function readRepository(files: Files): Repository {
  const places = new Set<string>();
  for (const path of files.keys()) {
    for (let place = path; place !== "."; place = posix.dirname(place)) places.add(place);
  }
  const folders = [...files.keys()]
    .filter((path) => path.includes("/"))
    .map((path) => path.split("/")[0] ?? "")
    // Other projects have a `.github` too, and a page may mean theirs.
    .filter((name) => !name.startsWith("."));
  const manifest: { scripts?: object } = JSON.parse(files.get("package.json") ?? "{}");
  const pages = new Map<string, Page>();
  for (const [path, text] of files) {
    const isPage = DEMANDED.includes(path) || (path.startsWith("docs/") && path.endsWith(".md"));
    if (isPage) pages.set(path, readPage(path === "CHANGELOG.md" ? readUnreleased(text) : text));
  }
  const topFolders = new Set([...TOP_FOLDERS, ...folders]);
  return { places, topFolders, scripts: new Set(Object.keys(manifest.scripts ?? {})), pages };
}

/** Returns the unreleased entries: older ones describe the repository as it was then. */
function readUnreleased(changelog: string): string {
  const lines = changelog.split("\n");
  const isEntry = (line: string) => line.startsWith("## ");
  const released = lines.findIndex((line) => isEntry(line) && !/unreleased/i.test(line));
  return released < 0 ? changelog : lines.slice(0, released).join("\n");
}

interface Fault {
  readonly line: number;
  readonly text: string;
}

function findFaults(path: string, page: Page, repository: Repository): Fault[] {
  const faults: Fault[] = [];
  const code = [...page.spans];
  for (const fence of page.fences) {
    const numbered = fence.lines.map((text, index) => ({ line: fence.line + 1 + index, text }));
    for (const { line, text } of numbered) faults.push(...findScriptFaults(line, text, repository));
    if (SHELL.has(fence.language)) code.push(...numbered);
    faults.push(...findTreeFaults(fence, repository));
  }
  for (const { line, text } of page.spans) {
    faults.push(...findScriptFaults(line, text, repository));
    if (path === "AGENTS.md") faults.push(...findFileFaults(line, text, repository));
  }
  for (const { line, text } of code) {
    for (const word of text.split(/\s+/)) {
      const named = readPath(word, repository);
      if (named !== null && !exists(named, repository))
        faults.push({ line, text: `names ${named}, which is not there` });
    }
  }
  for (const { line, text } of page.links) {
    const text2 = findLinkFault(path, text, repository);
    if (text2 !== null) faults.push({ line, text: text2 });
  }
  return faults.sort((a, b) => a.line - b.line);
}

/** Returns the repository path that a word in code stands for; null if it stands for something else. */
function readPath(word: string, { topFolders }: Repository): string | null {
  const name = word
    .replace(/^["'(]|["'),.;:]+$/g, "")
    .replace(/^\.\//, "")
    .replace(/(?::\d+|#.*)$/, "");
  if (!/^[\w@.*-]+(?:\/[\w@.*-]+)*\/?$/.test(name)) return null;
  const isInFolder = name.includes("/") && topFolders.has(name.split("/")[0] ?? "");
  const isBuilt = name.split("/").includes("dist");
  return (isInFolder && !isBuilt) || ROOT_FILES.includes(name) ? name : null;
}

function exists(name: string, { places }: Repository): boolean {
  const path = name.replace(/\/$/, "");
  if (!path.includes("*")) return places.has(path);
  const literal = path.replace(/[.+?^$()[\]{}|\\]/g, "\\$&");
  const pattern = literal.replace(
    /\*\*\/|\*\*|\*/g,
    (star) => ({ "**/": "(?:.*/)?", "**": ".*" })[star] ?? "[^/]*",
  );
  return [...places].some((place) => new RegExp(`^${pattern}$`).test(place));
}

function findScriptFaults(line: number, text: string, { scripts }: Repository): Fault[] {
  const named = text.matchAll(/\bnpm (?:run(?:-script)?\s+(?:-\S+\s+)*([\w:.-]+)|(test|start)\b)/g);
  const names = [...named].map((match) => match[1] ?? match[2] ?? "");
  const unknown = names.filter((name) => !scripts.has(name));
  return unknown.map((name) => ({ line, text: `names npm run ${name}, which is no script of package.json` }));
}

/** Checks the map, which names code by the end of its path: `judge-call.ts`, `scheduler/questions.ts`. */
function findFileFaults(line: number, text: string, { places }: Repository): Fault[] {
  const named = text.match(/(?<![\w@.*<>/-])[\w-]+(?:\/[\w-]+)*\.(?:ts|m?js)\b(?!\w|[/.]\w)/g) ?? [];
  const paths = [...places];
  const gone = named.filter((name) => !paths.some((path) => `/${path}`.endsWith(`/${name}`)));
  return gone.map((name) => ({ line, text: `names ${name}, which no path ends with` }));
}

/**
 * Checks a tree: a block whose first line starts with a folder of the repository (`packages/core/src/`). Two spaces
 * mark each level; the first word of a line is a name, and the rest describes it.
 */
function findTreeFaults(fence: Fence, repository: Repository): Fault[] {
  const root = fence.lines[0]?.split(/\s/)[0] ?? "";
  if (!root.endsWith("/") || (root !== "./" && !repository.topFolders.has(root.split("/")[0] ?? "")))
    return [];
  const faults: Fault[] = [];
  const above: string[] = [];
  for (const [index, content] of fence.lines.entries()) {
    const line = fence.line + 1 + index;
    const [, blanks = "", name = ""] = /^( *)(\S+)/.exec(content) ?? [];
    if (name === "") continue;
    const depth = blanks.length / 2;
    if (!Number.isInteger(depth) || depth > above.length) {
      faults.push({ line, text: `the tree goes down by ${blanks.length} blanks: two for each level` });
      continue;
    }
    above.splice(depth, above.length, name);
    const path = posix.join(...above).replace(/\/$/, "");
    const isThere = path === "." || repository.places.has(path);
    if (!isThere) faults.push({ line, text: `the tree names ${path}, which is not there` });
    faults.push(...findFileFaults(line, content.slice(blanks.length + name.length), repository));
  }
  return faults;
}

function findLinkFault(path: string, link: string, { places, pages }: Repository): string | null {
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return null;
  const [file = "", anchor = ""] = link.split("#");
  const target = file === "" ? path : posix.join(posix.dirname(path), file).replace(/\/$/, "");
  if (target !== "." && !places.has(target)) return `links to ${link}, which is not there`;
  const anchors = pages.get(target)?.anchors;
  const isHeading = anchor === "" || anchors === undefined || anchors.has(anchor);
  return isHeading ? null : `links to ${link}, but ${target} has no such heading`;
}
