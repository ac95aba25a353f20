import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { createPathFacts, leadsOutside } from "./command-surroundings.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = createTemporaryFolder();
  root = join(base, "root");
  for (const folder of ["root/src", "root/bin", "root/other", "tools"])
    mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, "secret.txt"), "secret");
  writeFileSync(join(root, "src/a.txt"), "a");
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
    ["(a)+|!{}@\\*", "(a)+|!{}@\\x"],
  ])("P38 however the shell reads %s, quoted or not: it may match %s", (pattern, name) => {
    symlinkSync(base, join(root, name));
    expect(leadsOutside(join(root, pattern, "secret.txt"), true, [root])).toBe(true);
  });

  it("P21 a pattern of many stars takes no longer than a plain one", () => {
    writeFileSync(join(root, "src", "a".repeat(250)), "");
    expect(leadsOutside(join(root, "src", `${"*a".repeat(100)}b*[x]`), true, [root])).toBe(false);
    expect(leadsOutside(join(root, "src", `${"?*a".repeat(100)}*`), true, [root])).toBe(false);
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
    const { filesBelow } = createPathFacts([root]);
    expect(filesBelow(root)?.toSorted()).toEqual([join(root, "out"), join(root, "src/a.txt")]);
    expect(filesBelow(join(root, "nowhere"))).toEqual([]);
    for (let index = 0; index < 10_000; index += 1) writeFileSync(join(root, "src", String(index)), "");
    expect(createPathFacts([root]).filesBelow(root)).toBeNull();
  });
});

const look = (path = "") => createPathFacts([root], path);

describe("filesBelow, through links", () => {
  it("P19 lists also what links lead to inside the roots, once", () => {
    mkdirSync(join(root, "secret"));
    mkdirSync(join(root, "docs"));
    writeFileSync(join(root, "secret/key"), "");
    symlinkSync("../secret", join(root, "docs/more"));
    symlinkSync("../docs", join(root, "secret/round"));
    symlinkSync("../src/a.txt", join(root, "docs/a.txt"));
    symlinkSync("nowhere", join(root, "docs/broken"));
    const below = [
      "docs/a.txt",
      "docs/broken",
      "docs/more",
      "secret",
      "secret/key",
      "secret/round",
      "src/a.txt",
    ];
    expect(createPathFacts([root]).filesBelow(join(root, "docs"))?.toSorted()).toEqual(
      below.map((path) => join(root, path)),
    );
    symlinkSync("docs/more", join(root, "start"));
    expect(createPathFacts([root]).filesBelow(join(root, "start"))).toContain(join(root, "secret/key"));
  });
});

describe("treeBelow", () => {
  it("P21 tells every link that leads out, also behind one that stays inside", () => {
    symlinkSync("../other", join(root, "src/in"));
    symlinkSync("nowhere", join(root, "src/nowhere"));
    expect(look().treeBelow(join(root, "src"))).toEqual({ linksOut: [], oddNames: [] });
    symlinkSync(join(base, "secret.txt"), join(root, "other/key"));
    symlinkSync(join(base, "secret.txt"), join(root, "other/key2"));
    expect(look().treeBelow(join(root, "src"))?.linksOut.toSorted()).toEqual(["key", "key2"]);
  });

  it("P21 takes a link or folder whose name is no text for one that leads out", () => {
    const odd = (name: string) => Buffer.concat([Buffer.from(join(root, "src", name)), Buffer.from([0xff])]);
    writeFileSync(odd("file"), "");
    expect(look().treeBelow(join(root, "src"))?.linksOut).toEqual([]);
    symlinkSync(base, odd("link"));
    mkdirSync(odd("folder"));
    expect(look().treeBelow(join(root, "src"))?.linksOut.toSorted()).toEqual(["folder\ufffd", "link\ufffd"]);
  });

  it("P21 tells names that are more than one word or an option", () => {
    for (const name of ["a b", "-rf", "it's", "plain"]) writeFileSync(join(root, "src", name), "");
    const odd = look()
      .treeBelow(join(root, "src"))
      ?.oddNames.map(({ name }) => name);
    expect(odd?.toSorted()).toEqual(["-rf", "a b", "it's"]);
  });
});

describe("projectFolderOf", () => {
  const program = (folder: string, name: string) => {
    writeFileSync(join(base, folder, name), "#!/bin/sh\n");
    chmodSync(join(base, folder, name), 0o755);
  };

  it("P21 names the project's folder only for a program that is nowhere else", () => {
    const path = [join(root, "bin"), join(base, "tools"), "relative", "/usr/bin"].join(":");
    program("root/bin", "only-here");
    program("root/bin", "both");
    program("tools", "both");
    program("root/bin", "ls");
    const { projectFolderOf } = look(path);
    expect(projectFolderOf("only-here")).toBe(join(root, "bin"));
    for (const name of ["both", "ls", "missing"]) expect(projectFolderOf(name)).toBeNull();
  });

  it("P21 a folder of PATH that is a link into the project is the project's", () => {
    program("root/bin", "only-here");
    symlinkSync(join(root, "bin"), join(base, "linked"));
    expect(look(join(base, "linked")).projectFolderOf("only-here")).toBe(join(base, "linked"));
  });
});
