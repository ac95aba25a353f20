import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "./repository-files.ts";

/** What Biome reports for a file: the names of the rules that it breaks. */
const rulesBroken = new Map<string, string[]>();
let status: number | null = null;
let statusWhenClean: number | null = null;
let folder = "";

const ROOMS = ["packages/core/src/tools", "packages/cli/src/ui", "gates"];

/** Biome counts the 60 lines of a function without its first line and its last brace. */
const MAX_FUNCTION = 62;

/** A file exactly at every limit: 400 lines, one function of the greatest length, three parameters. */
const CLEAN = `${longFunction(MAX_FUNCTION)}${"\n".repeat(399 - MAX_FUNCTION)}${parameters(3)}`;

const FAULTS: Readonly<Record<string, string>> = {
  noExcessiveLinesPerFile: Array.from({ length: 401 }, (_, n) => `export const value${n} = ${n};\n`).join(""),
  noExcessiveLinesPerFunction: longFunction(MAX_FUNCTION + 1),
  useMaxParams: parameters(4),
  noExcessiveCognitiveComplexity: `export function tangled(a: number): number {\n${branches(7)}  return a;\n}\n`,
  noExplicitAny: ["export const value: ", " = 1;\n"].join("any"),
  noNonNullAssertion: "export const value = process.argv.at(2)!;\n",
  noImportCycles:
    'import type { Other } from "./cycle-other.ts";\n\nexport interface One {\n  other: Other;\n}\n',
};
const OTHER = 'import type { One } from "./noImportCycles.ts";\n\nexport interface Other {\n  one: One;\n}\n';

function longFunction(lines: number): string {
  const steps = Array.from({ length: lines - 4 }, (_, n) => `  sum += ${n};\n`).join("");
  return `export function total(): number {\n  let sum = 0;\n${steps}  return sum;\n}\n`;
}

function parameters(count: number): string {
  const names = ["a", "b", "c", "d"].slice(0, count);
  return `export const add = (${names.map((name) => `${name}: number`).join(", ")}): number => ${names.join(" + ")};\n`;
}

function branches(depth: number): string {
  const open = Array.from({ length: depth }, (_, n) => `if (a > ${n}) {`).join(" ");
  return `  ${open} return 1; ${"}".repeat(depth)}\n`;
}

function plant(path: string, text: string): void {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly location: { readonly path: string };
  }[];
}

function lint(): { status: number | null; report: Report } {
  const biome = join(repositoryRoot, "node_modules/.bin/biome");
  const run = spawnSync(biome, ["lint", "--reporter=json", "--max-diagnostics=none", "."], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status: run.status, report: JSON.parse(run.stdout) };
}

beforeAll(() => {
  folder = createTemporaryFolder();
  for (const name of ["biome.json", ".gitignore"])
    copyFileSync(join(repositoryRoot, name), join(folder, name));
  for (const room of ROOMS) plant(`${room}/clean.ts`, CLEAN);
  statusWhenClean = lint().status;
  for (const room of ROOMS) {
    for (const [rule, text] of Object.entries(FAULTS)) plant(`${room}/${rule}.ts`, text);
    plant(`${room}/cycle-other.ts`, OTHER);
  }
  const faulty = lint();
  status = faulty.status;
  for (const { category, location } of faulty.report.diagnostics) {
    const rule = category.split("/").at(-1) ?? "";
    rulesBroken.set(location.path, [...(rulesBroken.get(location.path) ?? []), rule]);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("limits kept by Biome", () => {
  it("pass what is just within them", () => {
    expect(statusWhenClean).toBe(0);
    for (const room of ROOMS) expect(rulesBroken.get(`${room}/clean.ts`)).toBeUndefined();
  });

  it("fail the run", () => {
    expect(status).toBe(1);
  });

  it.each(ROOMS.flatMap((room) => Object.keys(FAULTS).map((rule) => [room, rule] as const)))(
    "stop in %s what breaks %s",
    (room, rule) => {
      expect(rulesBroken.get(`${room}/${rule}.ts`)).toEqual([rule]);
    },
  );

  it("stop both ends of a circle of types", () => {
    for (const room of ROOMS) expect(rulesBroken.get(`${room}/cycle-other.ts`)).toEqual(["noImportCycles"]);
  });
});
