import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { loadSettings, openTrust, readFolderTrust } from "./load-settings.ts";

let top: string;
let home: string;
let root: string;

beforeEach(async () => {
  top = createTemporaryFolder();
  home = join(top, "home");
  root = join(top, "project");
  await writeProject(root, SERVER);
});

const SERVER = { mcpServers: { a: { command: "serve", args: ["--safe"], env: { MODE: "x" } } } };

async function writeProject(folder: string, settings: unknown): Promise<void> {
  await mkdir(join(folder, ".burin"), { recursive: true });
  const text = typeof settings === "string" ? settings : JSON.stringify(settings);
  await writeFile(join(folder, ".burin", "settings.json"), text);
}

const servers = async (folder = root) =>
  Object.keys((await loadSettings({ home, root: folder })).settings.mcpServers);
const state = async (folder = root) => (await readFolderTrust({ home, root: folder }))?.state;
const notices = async () => (await loadSettings({ home, root })).notices;

/** Stores the user's yes to the effects that they were shown. */
async function trust(folder = root): Promise<void> {
  const effects = (await readFolderTrust({ home, root: folder }))?.effects ?? [];
  await (await openTrust(home)).storeAnswer(folder, true, effects);
}

describe("trust of a folder", () => {
  it("P24 nobody is trusted by default, and one line says what was left and where to look", async () => {
    expect(await servers()).toEqual([]);
    expect(await state()).toBe("untrusted");
    expect(await notices()).toEqual([
      `${join(root, ".burin", "settings.json")} was ignored: this folder is not trusted (it would start the MCP server "a": serve --safe, env {"MODE":"x"}). See burin trust.`,
    ]);
  });

  it("P24 a trusted folder's settings are followed, without a word", async () => {
    await trust();
    expect(await servers()).toEqual(["a"]);
    expect(await notices()).toEqual([]);
  });

  it.each([
    ["its command", { command: "other", args: ["--safe"], env: { MODE: "x" } }],
    ["an argument", { command: "serve", args: ["--unsafe"], env: { MODE: "x" } }],
    ["a variable", { command: "serve", args: ["--safe"], env: { MODE: "y" } }],
    ["its folder", { command: "serve", args: ["--safe"], env: { MODE: "x" }, cwd: "sub" }],
    ["its address", { url: "http://h/mcp" }],
  ])("P24 a changed definition asks again, with the difference: %s", async (_what, a) => {
    await trust();
    await writeProject(root, { mcpServers: { a } });
    expect(await servers()).toEqual([]);
    const found = await readFolderTrust({ home, root });
    expect(found).toMatchObject({ state: "changed", added: found?.effects });
    expect(found?.removed).toEqual(['start the MCP server "a": serve --safe, env {"MODE":"x"}']);
    expect((await notices())[0]).toMatch(
      /it has changed since this folder was trusted \(now it would .*no longer/,
    );
    await trust();
    expect(await servers()).toEqual(["a"]);
  });

  it("P24 another spelling, order, comment or harmless key of the same asks nothing again", async () => {
    await trust();
    await writeProject(
      root,
      '{ // mine\n "model": { "name": "m" }, "mcpServers": { "a": { "env": { "MODE": "x" }, "args": ["--safe"], "command": "serve", "type": "stdio" } } }',
    );
    expect(await servers()).toEqual(["a"]);
  });

  it("P24 is of the real path: no neighbour, no folder above or below, no link that is moved", async () => {
    await trust();
    const others = [join(top, "project-evil"), join(root, "inner")];
    for (const folder of others) {
      await writeProject(folder, SERVER);
      expect(await servers(folder)).toEqual([]);
    }
    const link = join(top, "link");
    await symlink(root, link);
    expect(await servers(link)).toEqual(["a"]);
    await rm(link);
    await symlink(join(top, "project-evil"), link);
    expect(await servers(link)).toEqual([]);
  });

  it("P24 a worktree's own say of where it belongs counts for nothing", async () => {
    await trust();
    const worktree = join(top, "worktree");
    await writeProject(worktree, SERVER);
    await mkdir(join(root, ".git", "worktrees", "w"), { recursive: true });
    await writeFile(join(worktree, ".git"), `gitdir: ${join(root, ".git", "worktrees", "w")}\n`);
    expect(await servers(worktree)).toEqual([]);
  });

  it("no is remembered and said no more; forget asks again", async () => {
    await (await openTrust(home)).storeAnswer(root, false, []);
    expect(await state()).toBe("refused");
    expect(await notices()).toEqual([]);
    expect(await (await openTrust(home)).forget(root)).toBe(true);
    expect(await state()).toBe("untrusted");
    expect(await (await openTrust(home)).forget(root)).toBe(false);
  });

  it("what makes rules stricter counts untrusted, too", async () => {
    await writeProject(root, { ...SERVER, permissions: { deny: ["edit"], allow: ["*"] } });
    const { settings } = await loadSettings({ home, root });
    expect(settings.permissions).toEqual({ allow: [], ask: [], deny: ["edit"] });
    await trust();
    expect((await loadSettings({ home, root })).settings.permissions.allow).toEqual([]);
    expect((await notices())[0]).toContain("so these are ignored: permissions.allow");
  });

  it("what a folder brings beside its settings is listed, and counts once it is trusted", async () => {
    const folder = join(top, "other");
    const isTrusted = async () => (await loadSettings({ home, root: folder })).isTrusted;
    await mkdir(join(folder, ".burin", "skills"), { recursive: true });
    expect(await readFolderTrust({ home, root: folder })).toBeNull();
    for (const path of ["agents/a.md", "commands/c.md", "skills/s/SKILL.md"]) {
      await mkdir(join(folder, ".burin", path, ".."), { recursive: true });
      await writeFile(join(folder, ".burin", path), "text");
    }
    expect((await readFolderTrust({ home, root: folder }))?.effects).toEqual([
      expect.stringMatching(/^use its subagent "a" \(text [0-9a-f]{32}\)$/),
      expect.stringMatching(/^tell the model of its skill "s" \(text [0-9a-f]{32}\)$/),
      expect.stringMatching(/^offer its command "c" \(text [0-9a-f]{32}\)$/),
    ]);
    expect(await isTrusted()).toBe(false);
    await trust(folder);
    expect(await isTrusted()).toBe(true);
    await writeFile(join(folder, ".burin", "agents", "b.md"), "text");
    expect(await isTrusted()).toBe(false);
  });

  it.each([
    ["agents/a.md", "use its subagent"],
    ["commands/c.md", "offer its command"],
    ["skills/s/SKILL.md", "tell the model of its skill"],
    ["skills/s/scripts/deep/run.sh", "tell the model of its skill"],
    ["hook.sh", 'use ".burin/hook.sh" for it'],
    ["tools/find.sh", 'use ".burin/tools/find.sh" for it'],
  ])("P24 %s with another text is asked about again, and shown", async (path, sentence) => {
    const folder = join(top, "texts");
    const write = async (file: string, text: string) => {
      await mkdir(join(folder, ".burin", file, ".."), { recursive: true });
      await writeFile(join(folder, ".burin", file), text);
    };
    const known = ["agents/a.md", "commands/c.md", "skills/s/SKILL.md", "skills/s/scripts/deep/run.sh"];
    for (const file of [...known, "hook.sh", "tools/find.sh"]) await write(file, `text of ${file}`);
    const settings = {
      hooks: [{ event: "session_start", command: "sh .burin/hook.sh --quick" }],
      tools: { toolDiscoveryCommand: "./.burin/tools/find.sh" },
    };
    await write("settings.json", JSON.stringify(settings));
    await trust(folder);
    expect((await loadSettings({ home, root: folder })).isTrusted).toBe(true);
    await write(path, "another text");
    expect((await loadSettings({ home, root: folder })).isTrusted).toBe(false);
    const found = await readFolderTrust({ home, root: folder });
    expect(found?.state).toBe("changed");
    expect(found?.added).toEqual([expect.stringContaining(sentence)]);
    expect(found?.removed).toEqual([expect.stringContaining(sentence)]);
    await write(path, `text of ${path}`);
    expect((await loadSettings({ home, root: folder })).isTrusted).toBe(true);
  });

  it.each([
    ["a folder to start it in", { command: "node", args: ["serve.js"], cwd: "tools" }, "tools/serve.js"],
    [
      "a folder of its own words",
      { command: "sh", args: ["-c", "cd tools && node serve.js"] },
      "tools/serve.js",
    ],
    ["a name with a space", { command: "node", args: ["my server.js"] }, "my server.js"],
  ])("P24 the program of a server with %s is asked about when it changes", async (_how, server, file) => {
    await writeProject(root, { mcpServers: { a: server } });
    await mkdir(join(root, "tools"));
    await writeFile(join(root, file), "one");
    await trust();
    expect(await state()).toBe("trusted");
    await writeFile(join(root, file), "two");
    expect(await state()).toBe("changed");
    expect(await servers()).toEqual([]);
  });

  it("P24 skills that link to far more than can be checked cost a folder no more than one such skill", async () => {
    const folder = join(top, "linked");
    await mkdir(join(folder, ".burin", "skills"), { recursive: true });
    await mkdir(join(folder, "many"));
    for (let count = 0; count < 600; count += 1) await writeFile(join(folder, "many", `${count}`), "");
    for (let count = 0; count < 60; count += 1)
      await symlink("../../many", join(folder, ".burin", "skills", `s${count}`));
    const effects = (await readFolderTrust({ home, root: folder }))?.effects ?? [];
    expect(effects).toHaveLength(60);
    expect(effects.filter((one) => one.includes("cannot be checked"))).toHaveLength(44);
  });

  it("P24 a hook whose words name more files than can be looked for is asked about each time", async () => {
    for (let count = 0; count < 150; count += 1) await mkdir(join(root, `d${count}`));
    const words = Array.from({ length: 150 }, (_, count) => `d${count}`).join(" ");
    await writeProject(root, { hooks: [{ event: "session_start", command: `./run ${words} ${words}` }] });
    await trust();
    expect(await state()).toBe("changed");
  });

  it("P24 a skill of more files than can be checked is asked about each time", async () => {
    const folder = join(top, "many");
    await mkdir(join(folder, ".burin", "skills", "s"), { recursive: true });
    await symlink("..", join(folder, ".burin", "skills", "s", "round"));
    await trust(folder);
    expect((await loadSettings({ home, root: folder })).isTrusted).toBe(false);
  });

  it("--settings is the person's word: what it names counts in full", async () => {
    await writeProject(root, { permissions: { allow: ["read_file"] } });
    const file = join(root, ".burin", "settings.json");
    expect((await loadSettings({ home, root, file })).settings.permissions.allow).toEqual(["read_file"]);
  });
});

describe("trust.json", () => {
  it("is the person's alone, and holds what was agreed to", async () => {
    await trust();
    const file = join(home, "trust.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8")).folders).toMatchObject([{ folder: root, trusted: true }]);
  });

  it.each(["", "{", '{"folders":["/"]}', '{"folders":true}', "null"])(
    "broken, it trusts nobody, says so and is left as it is: %j",
    async (text) => {
      await mkdir(home);
      await writeFile(join(home, "trust.json"), text);
      expect(await servers()).toEqual([]);
      expect((await notices())[0]).toContain("trust.json is not valid, so no folder is trusted");
      await expect(trust()).rejects.toThrow("is not valid");
      expect(await readFile(join(home, "trust.json"), "utf8")).toBe(text);
    },
  );

  it("answers given at the same time are all kept", async () => {
    const folders = Array.from({ length: 8 }, (_, index) => join(top, `p${index}`));
    await Promise.all(folders.map((folder) => mkdir(folder)));
    await Promise.all(folders.map(async (folder) => (await openTrust(home)).storeAnswer(folder, true, [])));
    const kept = (await (await openTrust(home)).readItems()).map(({ folder }) => folder);
    expect(kept.sort()).toEqual(folders);
  });
});

describe("a project's settings file that is no settings file", () => {
  it("P54 broken: passed over and told while untrusted, an error once trusted", async () => {
    await writeProject(root, "{ broken");
    expect(await servers()).toEqual([]);
    expect((await notices())[0]).toContain("this folder is not trusted");
    await (await openTrust(home)).storeAnswer(root, true, []);
    await expect(servers()).rejects.toThrow(":1:3: not valid JSON");
  });

  it("a folder, or one of a size that nobody writes, holds up nothing", async () => {
    await writeProject(root, `[${" ".repeat(2_000_000)}]`);
    expect(await servers()).toEqual([]);
    await rm(join(root, ".burin"), { recursive: true });
    await mkdir(join(root, ".burin", "settings.json"), { recursive: true });
    expect(await servers()).toEqual([]);
  });

  it("the person's own file is no project's, where the two are one", async () => {
    await mkdir(join(top, ".burin"));
    await writeFile(join(top, ".burin", "settings.json"), JSON.stringify(SERVER));
    const loaded = await loadSettings({ home: join(top, ".burin"), root: top });
    expect(Object.keys(loaded.settings.mcpServers)).toEqual(["a"]);
    expect(loaded.notices).toEqual([]);
  });
});
