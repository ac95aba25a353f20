import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { changeSettingsFile } from "./change-settings.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = createTemporaryFolder();
  file = join(folder, "settings.json");
});

const server = { command: "node", args: ["server.js"] };

describe("changeSettingsFile", () => {
  it("P54 makes a file that is not there", async () => {
    await changeSettingsFile(file, ["mcpServers", "mine"], server);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ mcpServers: { mine: server } });
  });

  it("P54 keeps comments, order, unknown keys, line ends and trailing commas", async () => {
    const before =
      '{\r\n  // mine\r\n  "zeta": 1,\r\n  "mcpServers": {\r\n    "old": {\r\n      "command": "x"\r\n    }, // kept\r\n  },\r\n  "alpha": [2,],\r\n}\r\n';
    await writeFile(file, before);
    await changeSettingsFile(file, ["mcpServers", "mine"], server);
    await changeSettingsFile(file, ["mcpServers", "mine"], undefined);
    const after = await readFile(file, "utf8");
    for (const piece of [
      "// mine\r\n",
      '"zeta": 1,',
      '"old": {\r\n      "command": "x"\r\n    }',
      "// kept",
      '"alpha": [2,],',
    ]) {
      expect(after).toContain(piece);
    }
    expect(after).not.toContain("server.js");
    expect(after.indexOf("zeta")).toBeLessThan(after.indexOf("alpha"));
  });

  it("P54 lays out what is new as the file is, and touches no other line", async () => {
    const before = '{\n\t"zeta": 1, // keep\n\t"alpha": [1,2] // two\n}\n';
    await writeFile(file, before);
    await changeSettingsFile(file, ["mcpServers", "mine"], { command: "node" });
    const after = await readFile(file, "utf8");
    expect(after).toBe(
      '{\n\t"zeta": 1, // keep\n\t"alpha": [1,2], // two\n\t"mcpServers": {\n\t\t"mine": {\n\t\t\t"command": "node"\n\t\t}\n\t}\n}\n',
    );
    await changeSettingsFile(file, ["mcpServers", "mine"], { url: "http://x/" });
    expect(await readFile(file, "utf8")).toBe(after.replace('"command": "node"', '"url": "http://x/"'));
  });

  it.each([
    ['{ "mcpServers": { "mine": { "command": "x" } } }', '{ "mcpServers": {} }'],
    [
      '{\n  "mcpServers": {\n    "a": { "command": "x" }, // of a\n    "mine": { "command": "y" }\n  }\n}',
      '{\n  "mcpServers": {\n    "a": { "command": "x" } // of a\n  }\n}',
    ],
    [
      '{ "mcpServers": {\n  "a": { "command": "x" }, // of a\n  "mine": { "command": "y" }, "b": { "command": "z" } } }',
      '{ "mcpServers": {\n  "a": { "command": "x" }, // of a\n "b": { "command": "z" } } }',
    ],
    [
      '{ "mcpServers": {\n  "mine": { "command": "y" },\n  "b": { "command": "z" },\n} }',
      '{ "mcpServers": {\n  "b": { "command": "z" },\n} }',
    ],
    [
      '{ "mcpServers": { // of all\n  /* of mine */ "mine": { "command": "y" }\n  , // of b\n  "b": { "command": "z" } } }',
      '{ "mcpServers": { // of all\n  /* of mine */\n   // of b\n  "b": { "command": "z" } } }',
    ],
    ['{ "ui": {} } // no server', '{ "ui": {} } // no server'],
  ])("P54 takes out of %j what was named, and nothing else", async (before, after) => {
    await writeFile(file, before);
    await changeSettingsFile(file, ["mcpServers", "mine"], undefined);
    expect(await readFile(file, "utf8")).toBe(after);
  });

  it("P54 leaves a broken file as it is, and refuses a value that would break it", async () => {
    await writeFile(file, '{ "model": ');
    await expect(changeSettingsFile(file, ["mcpServers", "mine"], server)).rejects.toThrow(
      "settings.json:1:",
    );
    expect(await readFile(file, "utf8")).toBe('{ "model": ');
    await writeFile(file, "{}");
    await expect(changeSettingsFile(file, ["mcpServers", "mine"], { command: 1 })).rejects.toThrow(
      "left as it is",
    );
    expect(await readFile(file, "utf8")).toBe("{}");
  });
});
