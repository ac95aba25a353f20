import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lookAround } from "./tree-below.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "burin-tree-")));
  root = join(base, "root");
  for (const folder of ["src", "bin", "other"]) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(base, "tools"));
  writeFileSync(join(base, "secret.txt"), "secret");
  writeFileSync(join(root, "src/a.txt"), "a");
});

afterEach(() => rmSync(base, { recursive: true }));

const look = (path = "") => lookAround([root], path);

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
