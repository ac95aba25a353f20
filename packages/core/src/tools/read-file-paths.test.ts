import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { file, makeFolders, root } from "../../tests/folder.ts";
import { ReadFile } from "./read-file.ts";

makeFolders();

const signal = new AbortController().signal;
function read(path: string) {
  return new ReadFile(openWorkspace(root)).execute({ absolute_path: path }, signal);
}

describe("paths", () => {
  it("R57 X6 X1 must be absolute; the error says which one was probably meant", () => {
    const tool = new ReadFile(openWorkspace(root));
    expect(tool.validateToolParams({ file_path: "src/a.ts" })).toContain(`"${join(root, "src/a.ts")}"`);
    for (const name of ["absolute_path", "path", "file_path"]) {
      expect(tool.validateToolParams({ [name]: join(root, "a") })).toBe(null);
    }
    expect(tool.validateToolParams({})).toContain('"absolute_path"');
    expect(tool.validateToolParams({ target_file: "a" } as object)).toContain("It takes: absolute_path");
    expect(tool.validateToolParams({ path: "" })).not.toBe(null);
  });

  it.each([
    ["~/a.ts", join(homedir(), "a.ts")],
    ["~", homedir()],
    ["file:///proj/%C3%A9 a.ts", "/proj/é a.ts"],
    ["`/proj/a.ts`", "/proj/a.ts"],
    [' "/proj/a.ts"\n', "/proj/a.ts"],
  ])("X6 the error understands %j", (path, meant) => {
    const tool = new ReadFile(openWorkspace(root));
    expect(tool.validateToolParams({ path })).toContain(`probably means "${meant}"`);
  });

  it("X6 the error takes what is no URL for a name", () => {
    const tool = new ReadFile(openWorkspace(root));
    expect(tool.validateToolParams({ path: "file://host/%zz" })).toContain(`means "${root}/`);
  });

  it("X8 R58 want a limit with an offset, and the error names the fix", () => {
    const tool = new ReadFile(openWorkspace(root));
    expect(tool.validateToolParams({ path: join(root, "a"), offset: 5 })).toContain(
      '"offset": 5, "limit": 2000',
    );
    for (const bad of [
      { offset: -1, limit: 1 },
      { offset: 0.5, limit: 1 },
      { offset: 0, limit: 0 },
    ]) {
      expect(tool.validateToolParams({ path: join(root, "a"), ...bad })).not.toBe(null);
    }
  });

  it("R64 need no confirmation", async () => {
    expect(await new ReadFile(openWorkspace(root)).shouldConfirmExecute({}, signal)).toBe(false);
  });

  it.each([
    "with blank",
    " leading",
    "trailing ",
    "quote'd",
    'double"quoted',
    "back`tick$HOME",
    "...",
    "..hidden",
    "%2e%2e",
    "emoji😀",
    "中文2024年",
    "e\u0301 NFD",
    "é NFC",
    "-rf",
    "a;b|c&d",
    "new\nline",
    "[bracket]{brace}*?",
    "~",
    "back\\slash",
    "con.txt:stream",
  ])("P41 R48 may be odd: %j", async (name) => {
    expect((await read(file(name, "inside"))).llmContent).toBe("inside");
    expect((await read(file(`in ${name}/${name}`, "deeper"))).llmContent).toBe("deeper");
  });

  it("R48 P38 are refused when they lead out, in every spelling", async () => {
    const outside = createTemporaryFolder();
    writeFileSync(join(outside, "secret"), "secret");
    mkdirSync(`${root}-evil`);
    writeFileSync(`${root}-evil/secret`, "secret");
    symlinkSync(outside, join(root, "folder"));
    symlinkSync(join(outside, "secret"), join(root, "link"));
    symlinkSync(join(root, "link"), join(root, "second"));
    const hostile = [
      join(outside, "secret"),
      `${root}-evil/secret`,
      `${root}/../root-evil/secret`,
      join(root, "folder/secret"),
      join(root, "link"),
      join(root, "second"),
      `/proc/self/root${outside}/secret`,
      "/etc/passwd",
      "/dev/null",
    ];
    for (const path of hostile) {
      await expect(read(path), path).rejects.toMatchObject({ code: "outside_root" });
    }
    await expect(read(`${root}/a\0b`)).rejects.toMatchObject({ code: "invalid_path" });
  });

  it("R48 P38 are judged anew where a file was read a moment ago", async () => {
    const outside = createTemporaryFolder();
    for (const name of ["a", "b"]) writeFileSync(join(outside, name), "secret");
    mkdirSync(join(root, "folder"));
    for (const name of ["a", "b"]) writeFileSync(join(root, "folder", name), "own");
    symlinkSync(join(outside, "b"), join(root, "folder/link"));
    const path = join(root, "folder/a");
    expect((await read(path)).llmContent).toBe("own");
    for (const other of ["link", "../../a", "none"])
      await expect(read(`${root}/folder/${other}`)).rejects.toThrow(/outside|does not exist/);
    expect((await read(path)).llmContent).toBe("own");
    renameSync(join(root, "folder"), join(root, "moved"));
    symlinkSync(outside, join(root, "folder"));
    for (const name of ["a", "b"])
      await expect(read(join(root, "folder", name))).rejects.toMatchObject({ code: "outside_root" });
    expect((await read(join(root, "moved/a"))).llmContent).toBe("own");
  });

  it("R48 may go through a link that stays inside", async () => {
    file("real/a.txt", "inside");
    symlinkSync(join(root, "real"), join(root, "link"));
    expect((await read(join(root, "link/a.txt"))).llmContent).toBe("inside");
  });

  it("R48 P41 say where a link leads that leads to nothing", async () => {
    symlinkSync("gone.txt", join(root, "link"));
    const message = `${join(root, "link")} is a link to gone.txt, which does not exist.`;
    await expect(read(join(root, "link"))).rejects.toThrow(message);
    await expect(read(join(root, "link/a.txt"))).rejects.toThrow(message);
  });

  it("R48 are refused at once for pipes, sockets and folders", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer().listen(join(root, "socket"));
    try {
      for (const name of ["pipe", "socket"]) {
        await expect(read(join(root, name))).rejects.toMatchObject({ code: "not_a_regular_file" });
      }
      await expect(read(root)).rejects.toMatchObject({ code: "is_a_directory" });
    } finally {
      server.close();
    }
  });

  it("P41 names what was probably meant when there is no such file", async () => {
    file("read me.txt", "");
    await expect(read(join(root, "readme.txt"))).rejects.toThrow(join(root, "read me.txt"));
  });
});
