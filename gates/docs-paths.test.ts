import { describe, expect, it } from "vitest";
import { checkDocsPaths } from "./docs-paths.ts";
import { readRepositoryFiles } from "./repository-files.ts";

const FINE = {
  "README.md": "# Burin\n\n## How it flows, in short\n",
  "AGENTS.md": "",
  "CONTRIBUTING.md": "",
  "CHANGELOG.md": "",
  "docs/flow.md": "",
  "package.json": '{ "scripts": { "check": "tsc", "test": "vitest", "check:lint": "biome" } }',
  "packages/core/src/tools/ls.ts": "",
  ".github/workflows/ci.yml": "",
};

function faultsOf(page: string, text: string): readonly string[] {
  return checkDocsPaths(new Map(Object.entries({ ...FINE, [page]: text }))).violations;
}

function fence(language: string, ...lines: string[]): string {
  return ["```".concat(language), ...lines, "```"].join("\n");
}

describe("paths in pages", () => {
  it("exist, everywhere in the repository", () => {
    const { looked, violations } = checkDocsPaths(readRepositoryFiles());
    expect(violations).toEqual([]);
    expect(looked).toBeGreaterThan(0);
  });

  it.each(["README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"])(
    "demand that %s is there",
    (name) => {
      const { [name as keyof typeof FINE]: _gone, ...rest } = FINE;
      expect(checkDocsPaths(new Map(Object.entries(rest))).violations).toEqual([`${name}:1 is missing`]);
    },
  );

  it("keep the map and the changelog short", () => {
    expect(faultsOf("AGENTS.md", "é".repeat(4001))).toEqual(["AGENTS.md:1 has 8002 bytes, more than 8000"]);
    expect(faultsOf("CHANGELOG.md", "e".repeat(4001))).toEqual([
      "CHANGELOG.md:1 has 4001 bytes, more than 4000",
    ]);
    expect(faultsOf("README.md", "e".repeat(9000))).toEqual([]);
  });

  it.each([
    "`packages/core/src/tools/ls.ts`, `./packages/core`, `packages/core/src/` and `package.json`",
    "`packages/*/src/**/*.ts` and `npx vitest run packages/core/src/tools/ls.ts:12`",
    "`packages/core/src/tools/<name>.ts`, `text/plain`, `~/.burin/settings.json`, `src/app.ts`, `packages/core/dist/index.js`",
    "`npm run check`, `npm run -s check:lint`, `npm test`",
    "`.github/hooks`, which is one of the reader's project",
    "[flow](docs/flow.md), [up](./packages/core/), [here](#how-it-flows-in-short), [far](https://example.org/docs/x.md)",
    "[flow]: docs/flow.md",
    "the word packages/core/nothing.ts outside backticks, and `[not](a-link.md)`",
  ])("may be named when they are there: %s", (text) => {
    expect(faultsOf("README.md", `## How it flows, in short\n\n${text}\n`)).toEqual([]);
  });

  it.each([
    ["`packages/core/src/tools/gone.ts`", "packages/core/src/tools/gone.ts"],
    ["see (`packages/core/gone/`).", "packages/core/gone/"],
    ["`examples/embed.ts`", "examples/embed.ts"],
    ["`npx vitest run gates/gone.test.ts`", "gates/gone.test.ts"],
    ["`packages/*/lib`", "packages/*/lib"],
    ["`biome.json`", "biome.json"],
    ["`` packages/core/gone.ts ``", "packages/core/gone.ts"],
  ])("are found when gone: %s", (text, path) => {
    expect(faultsOf("docs/flow.md", `\n${text}`)).toEqual([
      `docs/flow.md:2 names ${path}, which is not there`,
    ]);
  });

  it("are found in shell blocks, not in others", () => {
    const lines = ["npx vitest run", "cat packages/core/gone.ts"];
    expect(faultsOf("README.md", fence("sh", ...lines))).toEqual([
      "README.md:3 names packages/core/gone.ts, which is not there",
    ]);
    expect(faultsOf("README.md", fence("json", ...lines))).toEqual([]);
  });

  it.each(["npm run gone", "npm run --silent gone -- start"])("are found as scripts: %s", (command) => {
    const fault = "names npm run gone, which is no script of package.json";
    expect(faultsOf("README.md", `\`${command}\``)).toEqual([`README.md:1 ${fault}`]);
    expect(faultsOf("README.md", fence("", command))).toEqual([`README.md:2 ${fault}`]);
  });

  it("are found as npm start", () => {
    expect(faultsOf("README.md", "`npm ci && npm start`")).toEqual([
      "README.md:1 names npm run start, which is no script of package.json",
    ]);
  });

  it.each([
    ["[x](gone.md)", "links to gone.md, which is not there"],
    ["![x](docs/flow.md)", "links to docs/flow.md, which is not there"],
    ["[![x](../README.md)](gone.md)", "links to gone.md, which is not there"],
    ["[x]: ../gone.md", "links to ../gone.md, which is not there"],
    ['<img src="gone.png">', "links to gone.png, which is not there"],
    ["[x](#nothing)", "links to #nothing, but docs/flow.md has no such heading"],
    ["[x](../README.md#flows)", "links to ../README.md#flows, but README.md has no such heading"],
  ])("are found as links: %s", (text, fault) => {
    expect(faultsOf("docs/flow.md", text)).toEqual([`docs/flow.md:1 ${fault}`]);
  });

  it("are read as a tree", () => {
    const tree = [
      "packages/core/src/   the core",
      "  tools/   one file per tool",
      "    ls.ts   lists",
      "docs/   pages",
    ];
    expect(faultsOf("AGENTS.md", fence("", ...tree))).toEqual([]);
    expect(faultsOf("AGENTS.md", fence("", "./", "  docs/", "  packages/"))).toEqual([]);
    expect(faultsOf("AGENTS.md", fence("text", "src/", "  app.ts", "what a tool answers"))).toEqual([]);
  });

  it("are found in the map by the end of their path, in its sentences too", () => {
    const there = "`ls.ts` and `tools/ls.ts`, `tools/<tool>.ts`, `core.tsx`";
    expect(faultsOf("AGENTS.md", there)).toEqual([]);
    expect(faultsOf("AGENTS.md", "`ls.ts` reads, `scheduler/gone.ts` asks")).toEqual([
      "AGENTS.md:1 names scheduler/gone.ts, which no path ends with",
    ]);
    expect(faultsOf("AGENTS.md", fence("", "packages/core/src/  ls.ts lists, old-name.ts. Reads."))).toEqual([
      "AGENTS.md:2 names old-name.ts, which no path ends with",
    ]);
    expect(faultsOf("docs/flow.md", "`try.mjs` is the reader's own")).toEqual([]);
  });

  it("are found in a tree when gone", () => {
    const tree = ["packages/core/src/", "  tools/", "    gone.ts   lists", "  rooms/"];
    expect(faultsOf("AGENTS.md", fence("", ...tree))).toEqual([
      "AGENTS.md:4 the tree names packages/core/src/tools/gone.ts, which is not there",
      "AGENTS.md:5 the tree names packages/core/src/rooms, which is not there",
    ]);
  });

  it("are refused in a tree that is not indented by two", () => {
    expect(faultsOf("AGENTS.md", fence("", "packages/core/src/", "    tools/"))).toEqual([
      "AGENTS.md:3 the tree goes down by 4 blanks: two for each level",
    ]);
  });

  it("are asked of the changelog for what is unreleased only", () => {
    const entry = "- `packages/core/gone.ts`";
    expect(faultsOf("CHANGELOG.md", `# Changelog\n\n## 0.1.0\n\n${entry}`)).toEqual([]);
    expect(faultsOf("CHANGELOG.md", `## [Unreleased]\n${entry}\n## 0.1.0\n${entry}`)).toEqual([
      "CHANGELOG.md:2 names packages/core/gone.ts, which is not there",
    ]);
  });
});
