import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { loadSettings, openTrust, readFolderTrust } from "./load-settings.ts";

let top: string;
let root: string;

beforeEach(async () => {
  top = createTemporaryFolder();
  root = join(top, "project");
  await mkdir(root);
});

const write = (name: string, text: string) => writeFile(join(root, name), text);
const home = () => join(top, "home");
const load = (environment: NodeJS.ProcessEnv = {}) => loadSettings({ home: home(), root, environment });
const look = () => readFolderTrust({ home: home(), root });

async function trust(): Promise<void> {
  await (await openTrust(home())).storeAnswer(root, true, (await look())?.effects ?? []);
}

describe("P24 .mcp.json of a project", () => {
  const SERVERS = '{"mcpServers": {"notes": {"type": "stdio", "command": "node", "args": ["serve.js"]}}}';

  it("is offered, used once the folder is trusted, and asked about again when it or its script changes", async () => {
    await write("serve.js", "1;\n");
    await write(".mcp.json", SERVERS);
    const before = await load();
    expect(before.settings.mcpServers).toEqual({});
    expect(before.notices).toEqual([expect.stringContaining(`${join(root, ".mcp.json")} was ignored: this`)]);
    await trust();
    expect((await load()).settings.mcpServers).toMatchObject({ notes: { command: "node", trust: false } });
    expect((await load()).notices).toEqual([]);
    await write("serve.js", "2;\n");
    expect(await look()).toMatchObject({ state: "changed" });
    await trust();
    await write(".mcp.json", SERVERS.replace("serve.js", "other.js"));
    expect((await load()).settings.mcpServers).toEqual({});
  });

  it("is named as what was ignored, also beside skills that agents share", async () => {
    await write(".mcp.json", SERVERS);
    await mkdir(join(root, ".claude/skills/tidy"), { recursive: true });
    await write(".claude/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n");
    expect((await load()).notices).toEqual([
      expect.stringMatching(/\.mcp\.json was ignored: .*it would start .*, and 1 more/),
    ]);
  });

  it("says why it is not used when it is broken, and stops nothing", async () => {
    await write(".mcp.json", "{ broken");
    await trust();
    const { notices, settings } = await load();
    expect(notices).toEqual([expect.stringMatching(/\.mcp\.json:1:\d+: not valid JSON.*No server of it/)]);
    expect(settings.mcpServers).toEqual({});
  });
});

describe("P24 .env of a project", () => {
  const ENV = 'OPENAI_API_KEY="sk-1"\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\nPATH=/evil\nDATABASE_URL=x\n';

  it("names the model of a trusted folder, and nothing else", async () => {
    await write(".env", ENV);
    expect((await load()).variables).toEqual({});
    expect((await look())?.effects).toEqual([
      expect.stringMatching(/OPENAI_API_KEY of \.env \(text [0-9a-f]{32}\)/),
      expect.stringContaining('OPENAI_BASE_URL of .env ("http://127.0.0.1:9/v1")'),
    ]);
    expect(JSON.stringify(await look())).not.toContain("sk-1");
    await trust();
    expect((await load()).variables).toEqual({
      OPENAI_API_KEY: "sk-1",
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    });
  });

  it("never gets a key of the environment for its address", async () => {
    await write(".env", ENV);
    await trust();
    expect((await load({ OPENAI_API_KEY: "sk-mine" })).variables).toEqual({});
    expect((await load({ ANTHROPIC_API_KEY: "sk-mine" })).variables).toEqual({});
  });

  it("is spoken of only to users who have no model yet", async () => {
    await write(".env", ENV);
    expect((await load()).notices).toEqual([expect.stringContaining("burin trust")]);
    expect((await load({ GEMINI_API_KEY: "k" })).notices).toEqual([]);
    await write(".env", "DATABASE_URL=x\n");
    expect(await look()).toBeNull();
  });

  it("asks again when a value changes", async () => {
    await write(".env", ENV);
    await trust();
    await write(".env", ENV.replace("127.0.0.1:9", "evil.example"));
    expect((await load()).variables).toEqual({});
    expect((await look())?.state).toBe("changed");
  });
});
