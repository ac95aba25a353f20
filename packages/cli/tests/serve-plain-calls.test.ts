import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { put, root } from "./project.ts";
import {
  findProcesses,
  formatMessage,
  type RawServer,
  rawServer,
  serveMcp,
  toolCall,
  waitForRequest,
  waitUntil,
} from "./raw-server.ts";

const write = (id: number) => toolCall(id, "write_file", { file_path: join(root, "n.txt"), content: "n" });
const read = (id: number) => toolCall(id, "read_file", { file_path: join(root, "a.txt") });

/** From here on calls need not go through the protocol's library. */
async function stillReads(server: RawServer): Promise<void> {
  server.send(read(1000));
  expect(formatMessage(await server.answer(1000))).toContain("one");
}

function sendTogether(server: RawServer, messages: readonly object[]): void {
  server.send(messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })).join("\n"));
}

describe("a client of the protocol of 2025 over stdio that", () => {
  it("says that its roots have changed, and calls in the same breath, is served in the other folder", async () => {
    const folders = ["one", "two"].map((name) => join(root, name));
    for (const folder of folders) await mkdir(folder);
    const server = await serveMcp(root, { roots: { listChanged: true } });
    const list = (id: number) => toolCall(id, "glob", { pattern: "*" });
    for (const [index, folder] of folders.entries()) {
      put(`${folder.slice(root.length + 1)}/only-here-${index}`, "");
      if (index > 0) sendTogether(server, [{ method: "notifications/roots/list_changed" }, list(index)]);
      const { id } = await waitForRequest(server, "roots/list");
      server.send({ id, result: { roots: [{ uri: `file://${folder}` }] } });
      if (index === 0) server.send(list(index));
      expect(formatMessage(await server.answer(index))).toContain(`only-here-${index}`);
    }
  });

  it("calls has the same answer whether or not the library checks the call", async () => {
    const server = await serveMcp(root, {}, "--yes");
    const path = join(root, "a.txt");
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await writeFile(join(root, "p.png"), png, "base64");
    const orders: object[] = [
      { name: "read_file", arguments: { file_path: path } },
      { name: "read_file", arguments: { file_path: join(root, "p.png") } },
      { name: "read_file", arguments: { file_path: "/etc/passwd" } },
      { name: "read_file", arguments: { file_path: 7, limit: "many" } },
      { name: "read_file" },
      { name: "list_directory", arguments: { path: root }, _meta: { progressToken: 7, "client/own": [1] } },
      { name: "write_file", arguments: { file_path: path, content: "one\n" } },
      { name: "run_shell_command", arguments: { command: "exit 3" } },
      { name: "no_such_tool", arguments: {} },
      { name: "__proto__", arguments: {} },
      { name: "read_file", arguments: [path] },
      { name: "read_file", arguments: null },
      { name: 7, arguments: {} },
      { arguments: { file_path: path } },
      {},
    ];
    const told = async (params: object) => {
      server.send({ id: 1, method: "tools/call", params });
      const { result, error } = await server.answer(1);
      return JSON.stringify(result ?? error).replaceAll(/Time: [\d.]+ s/g, "");
    };
    await stillReads(server);
    for (const params of orders) {
      const { _meta = {} } = params as { _meta?: object };
      const checked = { ...params, _meta: { ..._meta, "io.modelcontextprotocol/none": 1 } };
      expect(await told(params)).toBe(await told(checked));
    }
  });

  it(
    "P26 cancels a command after other calls: nothing of it is left, and no answer comes",
    requirePrograms("ps"),
    async () => {
      const server = await serveMcp(root, {}, "--yes");
      await stillReads(server);
      server.send(toolCall(1, "run_shell_command", { command: "touch begun; sleep 1037" }));
      await waitUntil(() => existsSync(join(root, "begun")));
      server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
      await waitUntil(async () => (await findProcesses("sleep 1037")) === "");
      server.send(read(2));
      expect((await server.next()).id).toBe(2);
    },
  );

  it("can ask its user has its call judged once before the question", async () => {
    const log = join(root, "judged");
    put(".home/settings.json", { hooks: [{ event: "before_tool", command: `echo >> ${log}` }] });
    const server = await serveMcp(root, { elicitation: {} });
    await stillReads(server);
    await rm(log, { force: true });
    server.send(write(1));
    expect((await server.next()).method).toBe("elicitation/create");
    expect(readFileSync(log, "utf8")).toBe("\n");
  });

  it("P26 vanishes while commands wait for their turn: none of those begins", async () => {
    const server = await serveMcp(root, {}, "--yes");
    await stillReads(server);
    const begun = () => readdirSync(root).filter((name) => name.startsWith("begun-")).length;
    for (let id = 0; id < 40; id += 1)
      server.send(toolCall(id, "run_shell_command", { command: `touch begun-${id}; sleep 1038` }));
    await waitUntil(() => begun() === 8);
    server.child.stdin.end();
    await server.ended;
    expect(begun()).toBe(8);
  });

  it("says hello and calls in the same breath is asked for its roots, and its user is", async () => {
    const folder = join(root, "named");
    await mkdir(folder);
    const server = rawServer(root, ["mcp"]);
    const params = { protocolVersion: "2025-06-18", capabilities: { elicitation: {}, roots: {} } };
    const hello = {
      id: 1,
      method: "initialize",
      params: { ...params, clientInfo: { name: "raw", version: "1" } },
    };
    const file_path = join(folder, "n.txt");
    const call = toolCall(2, "write_file", { file_path, content: "n" });
    sendTogether(server, [hello, { method: "notifications/initialized" }, call]);
    const { id } = await waitForRequest(server, "roots/list");
    server.send({ id, result: { roots: [{ uri: `file://${folder}` }] } });
    const question = await waitForRequest(server, "elicitation/create");
    server.send({ id: question.id, result: { action: "accept", content: { decision: "once" } } });
    await server.answer(2);
    expect(existsSync(file_path)).toBe(true);
  });
});
