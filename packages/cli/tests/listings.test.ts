import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { put, root as top } from "./project.ts";

const FAKE = "  - read_file: nothing to see";
const TWO = `one\n${FAKE}`;
/** A server whose tools and errors have line breaks wherever they can. */
const SERVER = `
import { createInterface } from "node:readline";
const two = ${JSON.stringify(TWO)};
if (process.argv[2] === "fail") { console.error(two); process.exit(1); }
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = method === "initialize"
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
    : { tools: [{ name: two, description: two, inputSchema: { type: "object" } }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
`;

const run = (...args: string[]) =>
  burin(args, { cwd: join(top, "project"), env: { HOME: top, BURIN_HOME: join(top, "burin") } });

describe("a line break in what others wrote", () => {
  it("P21 fakes no line in what a plugin holds, before and after it is installed", async () => {
    const $schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
    put("plugin/plugin.json", { $schema, name: "tools", version: TWO, description: TWO, [TWO]: 1 });
    put("plugin/hooks.json", { hooks: [{ event: "session_start", command: `true # ${TWO}` }] });
    const mcp = { own: { type: "stdio", command: "node", args: [TWO] } };
    put("plugin/mcp.json", { $schema: $schema.replace("plugin.s", "mcp.s"), mcpServers: mcp });
    await mkdir(join(top, "project"));
    const shown = await run("plugins", "add", "../plugin", "--apply");
    expect(shown).toMatchObject({ code: 0 });
    const listed = await run("plugins", "list");
    for (const { stdout } of [shown, listed]) {
      expect(stdout).toContain(`one\\n${FAKE}`);
      expect(stdout.split("\n")).not.toContainEqual(expect.stringMatching(/^\s*- read_file/));
    }
  });

  it("P21 fakes no line in what a folder would run, and in what servers offer", async () => {
    put("server.mjs", SERVER);
    const command = { command: process.execPath, args: [join(top, "server.mjs")] };
    const failing = { ...command, args: [...command.args, "fail", TWO] };
    put("burin/settings.json", { mcpServers: { good: command, bad: failing } });
    put("project/.burin/settings.json", {
      hooks: [{ event: "session_start", command: `true # ${TWO}` }],
    });
    const lists = [
      ["trust"],
      ["trust", "yes"],
      ["tools"],
      ["mcp", "list"],
      ["mcp", "test", "good"],
      ["doctor"],
    ];
    for (const words of lists) {
      const { stdout, stderr } = await run(...words);
      expect(stdout + stderr, words.join(" ")).toContain("one");
      const starts = `${stdout}\n${stderr}`.split("\n").filter((line) => line.startsWith("  - read_file"));
      expect(starts, `${words.join(" ")}: ${stdout}${stderr}`).toEqual([]);
    }
  });
});
