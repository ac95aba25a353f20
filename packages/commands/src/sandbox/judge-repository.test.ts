import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listNamedPrograms, readFolderSettings } from "./judge-repository.ts";

let root: string;
let config: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "burin-settings-")));
  execFileSync("git", ["init", "-q", "-b", "main", root]);
  config = join(root, ".git/config");
});

afterEach(() => rmSync(root, { recursive: true }));

const read = () => readFolderSettings(join(root, ".git"), process.env);
const readValue = (wanted: string) => read()?.findLast(({ key }) => key === wanted)?.value;
/** Git is asked again as long as a change is too recent to tell it from the next one. */
function expectRemembered(ask: () => unknown): Promise<void> {
  const isSame = () => {
    const first = ask();
    return first === ask();
  };
  return expect.poll(isSame).toBe(true);
}

describe("the settings of a repository", () => {
  it("P22 are read again after each change, also of a file that was missing and of the branch", async () => {
    appendFileSync(config, "[x]\n\tname = one\n[include]\n\tpath = ../more\n");
    appendFileSync(config, '[includeIf "onbranch:other"]\n\tpath = ../branch\n');
    writeFileSync(join(root, "branch"), "[x]\n\tname = of the branch\n");
    const other = `ref: refs/heads/other\n`;
    for (const [change, wanted] of [
      [() => {}, "one"],
      [() => appendFileSync(config, "[x]\n\tname = two\n"), "two"],
      [() => writeFileSync(join(root, "more"), "[core]\n\tfsmonitor = ./x\n"), "two"],
      [() => writeFileSync(join(root, ".git/HEAD"), other), "two"],
      [() => writeFileSync(config, '[includeIf "onbranch:other"]\n\tpath = ../branch\n'), "of the branch"],
      [() => writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n"), undefined],
    ] as const) {
      change();
      expect(readValue("x.name")).toBe(wanted);
      await expectRemembered(read);
      expect(readValue("x.name")).toBe(wanted);
    }
    writeFileSync(config, "[include]\n\tpath = ../late\n");
    expect(readValue("core.fsmonitor")).toBeUndefined();
    await expectRemembered(read);
    writeFileSync(join(root, "late"), "[core]\n\tfsmonitor = ./x\n");
    expect(readValue("core.fsmonitor")).toBe("./x");
  });

  it("P22 that name programs are found after each change", async () => {
    await expectRemembered(() => listNamedPrograms(config, process.env));
    expect(listNamedPrograms(config, process.env)).toEqual([]);
    appendFileSync(config, "[core]\n\tfsmonitor = ./x\n");
    expect(listNamedPrograms(config, process.env)).toEqual(["core.fsmonitor\n./x"]);
    writeFileSync(config, "[");
    expect(listNamedPrograms(config, process.env)).toBeNull();
    rmSync(config);
    expect(listNamedPrograms(config, process.env)).toBeNull();
  });
});
