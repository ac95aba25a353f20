import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SettingsError } from "@burin/contract/settings/settings";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadSettings, openTrust, readFolderTrust } from "./load-settings.ts";

let home: string;
let root: string;

beforeEach(async () => {
  const top = createTemporaryFolder();
  home = join(top, "home");
  root = join(top, "project");
  await mkdir(home);
  await mkdir(join(root, ".burin"), { recursive: true });
});

afterEach(async () => {
  await rm(join(home, ".."), { recursive: true });
});

const user = () => join(home, "settings.json");
const project = () => join(root, ".burin", "settings.json");

/** Trusts the project, like a user who has read what the folder's settings would run. */
async function trustProject(): Promise<void> {
  const found = await readFolderTrust({ home, root });
  await (await openTrust(home)).storeAnswer(root, true, found?.effects ?? []);
}

describe("loadSettings", () => {
  it("gives defaults when there is no file, frozen all the way down", async () => {
    const { settings, notices } = await loadSettings({ home, root });
    expect(settings).toMatchObject({
      model: {},
      permissions: { allow: [], ask: [], deny: [] },
      tools: { include: [], exclude: [] },
    });
    expect(notices).toEqual([]);
    expect(Object.isFrozen(settings.permissions.deny)).toBe(true);
  });

  it("R26 reads comments and trailing commas; later files win, lists are joined", async () => {
    await writeFile(
      user(),
      '// mine\n{ "model": { "name": "a", "baseUrl": "u" }, "permissions": { "deny": ["x", "y",] }, }',
    );
    await writeFile(project(), '{ "model": { "name": "b" }, "permissions": { "deny": ["y", "z"] } }');
    await trustProject();
    const named = join(home, "more.json");
    await writeFile(named, '{ "model": { "apiKeyEnv": "KEY" } }');
    const { settings } = await loadSettings({ home, root, file: named });
    expect(settings.model).toEqual({ name: "b", baseUrl: "u", apiKeyEnv: "KEY" });
    expect(settings.permissions.deny).toEqual(["x", "y", "z"]);
  });

  it("P54 refuses a text with a NUL, which would fail in other words wherever it came to be used", async () => {
    await writeFile(user(), '{\n  "mcpServers": { "a": { "command": "a\\u0000b" } }\n}');
    await expect(loadSettings({ home, root })).rejects.toThrow(
      `${user()}:2:37: a text with \\u0000, which none may have. The file was left as it is.`,
    );
  });

  it("P54 refuses a file of more levels than anybody writes, with the place, in both folders", async () => {
    const deep = `{"model":${"[".repeat(100_000)}`;
    await writeFile(user(), deep);
    await expect(loadSettings({ home, root })).rejects.toThrow(
      `${user()}:1:109: more than 100 levels of brackets. The file was left as it is.`,
    );
    await rm(user());
    await writeFile(project(), deep);
    expect((await loadSettings({ home, root })).notices.join()).toContain("See burin trust.");
    expect((await readFolderTrust({ home, root }))?.fault).toContain("more than 100 levels");
  });

  it("P24 does not read the project's file in a folder that is not trusted, and says so", async () => {
    await writeFile(project(), '{ "model": { "name": "expensive", "baseUrl": "http://evil.example/v1" } }');
    const { settings, notices } = await loadSettings({ home, root });
    expect(settings.model).toEqual({});
    expect(notices).toEqual([`${project()} was ignored: this folder is not trusted. See burin trust.`]);
  });

  it("P54 a broken file: line and column, every byte kept", async () => {
    const broken = '{\n  "model": { "name": "a" }\n  "tools": {}\n}\n';
    await writeFile(user(), broken);
    const failure = await loadSettings({ home, root }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SettingsError);
    expect(String(failure)).toContain(`${user()}:3:3: not valid JSON (comma expected)`);
    expect(await readFile(user(), "utf8")).toBe(broken);
  });

  it.each([
    ["{ 'model': {} }", "1:3: not valid JSON (invalid symbol; names and texts need double quotes)"],
    ['{ "model": "gpt" }', '"model" must be an object'],
    ['{ "permissions": { "deny": "x" } }', '"permissions.deny" must be an array'],
    ["[]", "settings must be an object"],
    ['{ "model": { "provider": "carrier pigeon" } }', '"model.provider" must be one of'],
    ['{ "permissions": { "x": 1, "deny": "x" } }', '"permissions.deny" must be an array'],
    ['{ "model": { "timeoutSeconds": 1e308 } }', '"model.timeoutSeconds" must be at most 2000000'],
    [
      '{ "mcpServers": { "a": { "command": "x", "timeout": 1e11 } } }',
      '"mcpServers.a.timeout" must be at most',
    ],
    ['{ "web": { "allowedHosts": ["localhost"] } }', "must be host:port, e.g. localhost:3000, got"],
    [
      '{ "models": { "m": { "temprature": 1 } } }',
      '"models.m.temprature" is not a setting; did you mean "models.m.temperature"? The file',
    ],
    [
      '{ "hooks": [{ "event": "before_tool", "command": "x", "matcher": "edit" }] }',
      '"hooks.0.matcher" is not a setting: only event, command, tools, timeoutSeconds are known here. The file',
    ],
  ])("P54 names the key that has the wrong type: %s", async (text, message) => {
    await writeFile(user(), text);
    await expect(loadSettings({ home, root })).rejects.toThrow(message);
  });

  it("P19 a key of a service where its variable belongs is not shown", async () => {
    await writeFile(user(), '{ "model": { "key": "sk-secret-1" } }');
    const failure = await loadSettings({ home, root }).catch(String);
    expect(failure).toContain(
      '"model.key" must be the name of an environment variable, not the key itself, or',
    );
    expect(failure).not.toContain("sk-secret");
  });

  it("leaves keys that it does not know alone", async () => {
    await writeFile(user(), '{ "fromTheFuture": { "a": 1 }, "model": { "name": "a" } }');
    expect((await loadSettings({ home, root })).settings.model.name).toBe("a");
  });

  it("P54 tells of each key that is not a setting, and of the one that it nearly is", async () => {
    await writeFile(
      user(),
      '{ "permisions": {}, "permissions": { "denny": ["edit"], "ask": [] }, "theme": "dark", "toolsOfMine": 1 }',
    );
    const told = (key: string, meant?: string) =>
      `"${key}" is not a setting and has no effect.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`;
    const { notices } = await loadSettings({ home, root });
    expect(notices).toEqual(
      [
        told("permisions"),
        told("permissions.denny", "permissions.deny"),
        told("theme"),
        told("toolsOfMine"),
      ].map((text) => `${user()}: ${text}`),
    );
    const named = join(home, "more.json");
    await writeFile(named, '{ "permisions": {}, "mcpServer": {}, "a": 1 }');
    const more = await loadSettings({ home, root, file: named });
    const meant = more.notices.slice(4).map((notice) => /Did you mean "(.+)"/.exec(notice)?.[1]);
    expect(meant).toEqual(["permissions", "mcpServers", undefined]);
  });

  it("P54 tells of such keys inside servers, lists and choices, and of none where any key is right", async () => {
    await writeFile(
      user(),
      JSON.stringify({
        $schema: "x",
        mcpServers: {
          a: { command: "x", arg: ["1"], env: { ANY: "1" }, oauth: { anything: { at: "all" } } },
        },
        model: {
          apiKey: "sk-1",
          fallbacks: ["one", { name: "two", baseurl: "http://h" }],
          prices: { any: { input: 1, output: 1 } },
        },
      }),
    );
    const { notices } = await loadSettings({ home, root });
    expect(notices).toEqual([
      expect.stringContaining(
        '"mcpServers.a.arg" is not a setting and has no effect. Did you mean "mcpServers.a.args"?',
      ),
      expect.stringContaining('Did you mean "model.apiKeyEnv"?'),
      expect.stringContaining('Did you mean "model.fallbacks.1.baseUrl"?'),
    ]);
  });

  it("P54 tells of them in the settings of a trusted project, too", async () => {
    await writeFile(project(), '{ "permissions": { "denny": ["edit"] } }');
    await trustProject();
    expect((await loadSettings({ home, root })).notices).toEqual([
      `${project()}: "permissions.denny" is not a setting and has no effect. Did you mean "permissions.deny"?`,
    ]);
  });

  it("a named file must exist", async () => {
    await expect(loadSettings({ home, root, file: join(home, "none.json") })).rejects.toThrow(
      "does not exist",
    );
  });

  it("an empty file and one with a byte order mark are fine", async () => {
    await writeFile(user(), "");
    expect((await loadSettings({ home, root })).settings.model).toEqual({});
    await writeFile(user(), '\uFEFF{ "model": { "name": "a" } }');
    expect((await loadSettings({ home, root })).settings.model.name).toBe("a");
  });
});
