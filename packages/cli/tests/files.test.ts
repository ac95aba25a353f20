import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

let top: string;
let root: string;

beforeEach(async () => {
  top = createTemporaryFolder();
  root = join(top, "root");
  for (const name of ["root", "more", "a,b"]) {
    await mkdir(join(top, name));
    await writeFile(join(top, name, "a.txt"), `${name}\n`);
  }
});

function read(path: string, ...options: string[]) {
  return burin([...options, "call", "read_file", JSON.stringify({ path })], { cwd: root });
}

describe("burin with files", () => {
  it("R48 --include-directories opens more folders: parted by commas, repeated, or with a comma in the name", async () => {
    const path = join(top, "more/a.txt");
    expect((await read(path)).code).toBe(1);
    expect((await read(path, "--include-directories", "../more")).stdout).toBe("more\n");
    const both = ["--include-directories", `../more,${root}`, "--include-directories", "../a,b"];
    expect((await read(path, ...both)).stdout).toBe("more\n");
    expect((await read(join(top, "a,b/a.txt"), ...both)).stdout).toBe("a,b\n");
    const { code, stderr } = await read(path, "--include-directories", "../missing");
    expect([code, stderr]).toEqual([2, `burin: ${join(top, "missing")} does not exist.\n`]);
  });

  it("R70 call write_file shows the diff first and writes with --yes, also over what no call has read", async () => {
    const args = JSON.stringify({ file_path: join(root, "a.txt"), content: "new\n" });
    const asked = await burin(["call", "write_file", args], { cwd: root });
    expect(asked.code).toBe(3);
    expect(asked.stdout).toContain("-root\n+new\n");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("root\n");
    const done = await burin(["call", "write_file", args, "--yes"], { cwd: root });
    expect([done.code, done.stdout]).toEqual([0, `Successfully overwrote file: ${join(root, "a.txt")}\n`]);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("new\n");
  });
});
