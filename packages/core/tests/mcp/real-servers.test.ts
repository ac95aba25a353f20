import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import type { ToolResult } from "@burin/core";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, describe, expect, it } from "vitest";
import { project, published, useProject } from "./project.ts";

const started: { kill(): void }[] = [];

useProject();

afterEach(async () => {
  for (const one of started.splice(0)) one.kill();
});

const yolo = { approvalMode: "yolo" } as const;
/** The one tool of server-everything that can only be called as a task. */
const LEFT_OUT = [
  expect.objectContaining({
    message: expect.stringMatching(/^its tool "simulate-research-query" was left out/),
  }),
];
const textOf = ({ llmContent }: ToolResult) => JSON.stringify(llmContent);

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function everythingOverHttp(kind: "streamableHttp" | "sse"): Promise<number> {
  const port = await freePort();
  const child = spawn(process.execPath, [published("everything"), kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  started.push(child);
  await new Promise((resolve) =>
    child.stderr.on("data", (bytes) => /listening|running/i.test(`${bytes}`) && resolve(0)),
  );
  return port;
}

describe("MCP servers that others wrote", () => {
  it("R23 R25 X2 server-everything by a command alone: text, images, structured content, resources", async () => {
    const command = `'${process.execPath}' '${published("everything")}' stdio`;
    const toolbox = project.open({}, { ...yolo, settings: { mcp: { mcpServerCommand: command } } });
    expect(await toolbox.ready()).toEqual(LEFT_OUT);
    expect(toolbox.registry.getToolSource("mcp__echo")).toBe("mcp:mcp");
    expect(textOf(await toolbox.call("mcp__echo", { message: "hello" }))).toContain("Echo: hello");
    expect(textOf(await toolbox.call("mcp__get-tiny-image", {}))).toContain('"mimeType":"image/png"');
    const weather = await toolbox.call("mcp__get-structured-content", { location: "New York" });
    expect(textOf(weather)).toContain("temperature");
    const linked = await toolbox.call("mcp__get-resource-links", { count: 2 });
    expect(textOf(linked)).toContain("[resource ");
    const roots = await toolbox.call("mcp__get-roots-list", {});
    expect(textOf(roots)).toContain(`file://${project.root}`);
  });

  it("R9 progress of a long call is heard while it runs", async () => {
    const toolbox = project.open(
      { e: { command: process.execPath, args: [published("everything"), "stdio"] } },
      yolo,
    );
    const heard: unknown[] = [];
    await toolbox.run(
      "e__trigger-long-running-operation",
      { duration: 0.3, steps: 3 },
      {
        onCall: (call) => heard.push(call.status === "executing" ? call.display : undefined),
      },
    );
    // Only the latest of what comes at once is handed on.
    expect(heard).toContainEqual(expect.stringMatching(/^[123] of 3$/));
  });

  it.each(["streamableHttp", "sse"] as const)("R24 server-everything over %s", async (kind) => {
    const port = await everythingOverHttp(kind);
    const url = `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`;
    const toolbox = project.open({ far: { url } }, yolo);
    expect(await toolbox.ready()).toEqual(LEFT_OUT);
    expect(textOf(await toolbox.call("far__echo", { message: "over the wire" }))).toContain(
      "Echo: over the wire",
    );
  });

  it("P50 R24 through the proxy that the environment names, which alone knows where the server is", async () => {
    const port = await everythingOverHttp("streamableHttp");
    const seen: string[] = [];
    const proxy = createHttpServer((asked, answer) => {
      seen.push(`${asked.method} ${asked.url}`);
      const headers = { ...asked.headers, host: `127.0.0.1:${port}` };
      const onward = request({ port, path: "/mcp", method: asked.method, headers }, (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      });
      asked.pipe(onward);
    });
    started.push({ kill: () => proxy.closeAllConnections() }, { kill: () => proxy.close() });
    const HTTP_PROXY = `http://127.0.0.1:${await listenOnFreePort(proxy)}`;
    const proxied = {
      ...project.environment,
      HTTP_PROXY,
      http_proxy: HTTP_PROXY,
      NO_PROXY: "",
      no_proxy: "",
    };
    const far = { url: "http://mcp.example.test/mcp" };
    const toolbox = project.open({ far }, { ...yolo, environment: proxied });
    expect(await toolbox.ready()).toEqual(LEFT_OUT);
    expect(textOf(await toolbox.call("far__echo", { message: "by proxy" }))).toContain("Echo: by proxy");
    expect(seen[0]).toBe("POST http://mcp.example.test/mcp");
  });

  it("R24 R25 two servers at once: server-filesystem and server-memory, by full and by plain names", async () => {
    writeFileSync(join(project.root, "note.txt"), "kept by the filesystem server\n");
    const toolbox = project.open(
      {
        fs: { command: process.execPath, args: [published("filesystem"), project.root] },
        memory: {
          command: process.execPath,
          args: [published("memory")],
          env: { MEMORY_FILE_PATH: join(project.root, "memory.jsonl") },
        },
      },
      yolo,
    );
    expect(await toolbox.ready()).toEqual([]);
    const read = await toolbox.call("fs__read_text_file", { path: join(project.root, "note.txt") });
    expect(textOf(read)).toContain("kept by the filesystem server");
    const entities = [{ name: "burin", entityType: "tool", observations: ["cuts one exact line"] }];
    expect((await toolbox.call("create_entities", { entities })).error).toBeUndefined();
    expect(textOf(await toolbox.call("memory__read_graph", {}))).toContain("cuts one exact line");
  });
});
