import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mergeSettings, SettingsError } from "@burin/contract/settings/settings";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { loadSettings } from "./load-settings.ts";

const BARE = {
  args: [],
  env: {},
  headers: {},
  trust: false,
  includeTools: [],
  excludeTools: [],
  sandbox: false,
};

/** Loads the settings from a file with this text. */
async function loaded(text: string) {
  const home = createTemporaryFolder();
  await mkdir(join(home, "project"));
  await writeFile(join(home, "settings.json"), text);
  return loadSettings({ home, root: join(home, "project") })
    .then(({ settings }) => settings)
    .finally(() => rm(home, { recursive: true }));
}

describe("the commands that discover and call tools", () => {
  it.each([
    { tools: { toolDiscoveryCommand: "list", toolCallCommand: "call" } },
    { toolDiscoveryCommand: "list", toolCallCommand: "call" },
    { tools: { discoveryCommand: "list", callCommand: "call" } },
    { tools: { toolDiscoveryCommand: "list", discoveryCommand: "no" }, toolCallCommand: "call" },
    { tools: { toolCallCommand: "call" }, toolCallCommand: "no", toolDiscoveryCommand: "list" },
  ])("X3 R18 R20 every spelling, and the one in tools wins: %j", async (file) => {
    const { tools } = await loaded(JSON.stringify(file));
    const commands = Object.entries(tools).filter(([key]) => /command/i.test(key));
    expect(Object.fromEntries(commands)).toEqual({ toolDiscoveryCommand: "list", toolCallCommand: "call" });
  });

  it("X3 a later file wins, whatever spelling the two use", () => {
    const { tools } = mergeSettings([
      { tools: { toolDiscoveryCommand: "a", toolCallCommand: "c" } },
      { toolDiscoveryCommand: "b" },
    ]);
    expect(tools).toMatchObject({ toolDiscoveryCommand: "b", toolCallCommand: "c" });
  });

  it("R18 nothing is configured by default, and an empty command is none", () => {
    const { tools, mcpServers } = mergeSettings([{ tools: { toolDiscoveryCommand: " " } }]);
    expect(tools).toEqual(mergeSettings([]).tools);
    expect(tools).not.toHaveProperty("toolDiscoveryCommand");
    expect(mcpServers).toEqual({});
  });
});

describe("MCP servers", () => {
  it.each([
    { mcp: { mcpServerCommand: "serve --flag 'a b'" } },
    { mcpServerCommand: "serve --flag 'a b'" },
    { mcp: { serverCommand: "serve --flag 'a b'" } },
    { mcp: { mcpServerCommand: "serve --flag 'a b'", serverCommand: "no" }, mcpServerCommand: "no" },
  ])("X2 R23 a server command is one stdio server named mcp: %j", async (file) => {
    const { mcpServers } = await loaded(JSON.stringify(file));
    expect(mcpServers).toEqual({
      mcp: { ...BARE, type: "stdio", command: "serve", args: ["--flag", "a b"] },
    });
  });

  it("X2 a server command that is more than words goes to the shell", () => {
    const { mcpServers } = mergeSettings([{ mcpServerCommand: "cd server && exec ./serve" }]);
    expect(mcpServers.mcp?.args.at(-1)).toBe("cd server && exec ./serve");
  });

  it("X2 both are set: both connect; an explicit mcpServers.mcp wins, whichever file says it", () => {
    const explicit = { mcpServers: { mcp: { command: "mine" } } };
    const both = mergeSettings([{ mcpServerCommand: "serve", mcpServers: { other: { url: "u" } } }]);
    expect(Object.keys(both.mcpServers).sort()).toEqual(["mcp", "other"]);
    const later = mergeSettings([explicit, { mcpServerCommand: "serve" }]);
    expect(later.mcpServers.mcp?.command).toBe("mine");
  });

  it("R24 every key in one shape; settings that are settled stay as they are", async () => {
    const settings = await loaded(
      `{ "mcpServers": {
          "a": { "command": "x", "args": ["1"], "env": { "K": "$V" }, "cwd": "sub", "timeout": 5000,
                 "trust": true, "includeTools": ["t"], "excludeTools": ["u"], "sandbox": true },
          "b": { "httpUrl": "https://h/mcp", "headers": { "X": "y" } },
          "c": { "url": "https://h/sse" },
          "d": { "type": "sse", "url": "https://h/sse", "oauth": { "clientId": "me" } },
          "e": { "type": "streamable-http", "url": "https://h/mcp" },
          "f": { "command": "y", "disabled": true } } }`,
    );
    expect(settings.mcpServers).toEqual({
      a: {
        ...{ ...BARE, type: "stdio", command: "x", args: ["1"], env: { K: "$V" }, cwd: "sub", timeout: 5000 },
        ...{ trust: true, includeTools: ["t"], excludeTools: ["u"], sandbox: true },
      },
      b: { ...BARE, type: "http", url: "https://h/mcp", headers: { X: "y" } },
      c: { ...BARE, type: "auto", url: "https://h/sse" },
      d: { ...BARE, type: "sse", url: "https://h/sse", oauth: { clientId: "me" } },
      e: { ...BARE, type: "http", url: "https://h/mcp" },
    });
    expect(mergeSettings([settings])).toEqual(settings);
  });

  it("a later file replaces a server whole, so that nothing of two definitions is mixed", () => {
    const { mcpServers } = mergeSettings([
      { mcpServers: { a: { command: "x", env: { TOKEN: "t" }, trust: true }, b: { command: "y" } } },
      { mcpServers: { a: { command: "z" }, b: { disabled: true } } },
    ]);
    expect(mcpServers).toEqual({ a: { ...BARE, type: "stdio", command: "z" } });
  });
});

describe("settings that are wrong", () => {
  it.each([
    ['{\n  "mcpServers": null }', ":2:17: ", '"mcpServers" must be an object'],
    ['{ "mcpServers": { "a.b": { "command": 3 } } }', ":1:39: ", '"mcpServers.a.b.command" must be a string'],
    [
      '{ "mcpServers": { "a": {\n "command": "x", "args": ["1", 2] } } }',
      ":2:32: ",
      '"mcpServers.a.args.1" must be',
    ],
    ['{ "mcpServers": {\n "a": {} } }', ":2:7: ", '"mcpServers.a'],
    ['{ "tools": { "toolCallCommand": ["x"] } }', ":1:33: ", '"tools.toolCallCommand" must be a string'],
    ['{ "mcpServerCommand": null }', ":1:23: ", '"mcpServerCommand" must be a string'],
    ['{ "tools": { "toolDiscoverySeconds": 0 } }', ":1:38: ", '"tools.toolDiscoverySeconds" must be'],
  ])("P54 %s: the line, the column and the key", async (text, place, message) => {
    const failure = await loaded(text).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SettingsError);
    expect(String(failure)).toContain(`settings.json${place}`);
    expect(String(failure)).toContain(message);
  });
});
