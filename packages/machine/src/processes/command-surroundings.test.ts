import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leadsOutside, surroundings } from "./command-surroundings.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "burin-around-")));
  root = join(base, "root");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(base, "secret.txt"), "secret");
  writeFileSync(join(root, "src/a.txt"), "a");
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

describe("leadsOutside", () => {
  it("P38 follows links, also for what does not exist yet", () => {
    symlinkSync(base, join(root, "out"));
    symlinkSync("src", join(root, "in"));
    expect(leadsOutside(join(root, "out/secret.txt"), false, [root])).toBe(true);
    expect(leadsOutside(join(root, "out/new.txt"), false, [root])).toBe(true);
    expect(leadsOutside(join(root, "in/a.txt"), false, [root])).toBe(false);
    expect(leadsOutside(join(root, "in/new/er.txt"), false, [root])).toBe(false);
    expect(leadsOutside(join(root, "out/secret.txt"), false, [root, base])).toBe(false);
  });

  it("looks at every file that a pattern matches", () => {
    expect(leadsOutside(join(root, "src/*"), true, [root])).toBe(false);
    symlinkSync(join(base, "secret.txt"), join(root, "src/b.txt"));
    expect(leadsOutside(join(root, "src/*.txt"), true, [root])).toBe(true);
    expect(leadsOutside(join(root, "s*/b.txt"), true, [root])).toBe(true);
    expect(leadsOutside(join(root, "src/a*"), true, [root])).toBe(false);
  });

  it.each([
    ["l[[=i=]]nk", "link"],
    ["l[[:alpha:]]*", "link"],
    ["[a]*", "[a]out"],
    ["{a,b}*", "{a,b}out"],
    ["l??k", "lük"],
    ["LIN?", "link"],
    [".l*", ".link"],
  ])("P38 however the shell reads %s, quoted or not: it may match %s", (pattern, name) => {
    symlinkSync(base, join(root, name));
    expect(leadsOutside(join(root, pattern, "secret.txt"), true, [root])).toBe(true);
  });

  it("P38 a name that is no text may lead anywhere", () => {
    symlinkSync(base, Buffer.concat([Buffer.from(`${root}/l`), Buffer.from([0xff])]));
    expect(leadsOutside(join(root, "l*"), true, [root])).toBe(true);
    expect(leadsOutside(join(root, "s*"), true, [root])).toBe(false);
  });
});

describe("filesBelow", () => {
  it("P19 lists files and links below a folder, unless they are too many", () => {
    symlinkSync(base, join(root, "out"));
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".git/config"), "");
    const { filesBelow } = surroundings([root]);
    expect(filesBelow(root)?.toSorted()).toEqual([join(root, "out"), join(root, "src/a.txt")]);
    expect(filesBelow(join(root, "nowhere"))).toEqual([]);
    for (let index = 0; index < 10_000; index += 1) writeFileSync(join(root, "src", String(index)), "");
    expect(surroundings([root]).filesBelow(root)).toBeNull();
  });
});
