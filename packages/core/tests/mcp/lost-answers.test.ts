import { createServer, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, beforeEach, expect, it } from "vitest";
import { project, useProject } from "./project.ts";

let server: Server;
let calls: number;
let sentMegabytes: number;
let asked: number;
let url: string;
let untaken: number;

const MEGABYTE = Buffer.alloc(1024 * 1024, "x");
/** What it would send if nobody ended it. */
const MAX_MEGABYTES = 300;

/** Asks without end, and leaves the answers without one. */
async function askEndless(response: ServerResponse): Promise<void> {
  for (asked = 0; asked < 2000 && !response.destroyed; asked += 1) {
    const question = JSON.stringify({ jsonrpc: "2.0", id: `q${asked}`, method: "ping" });
    await new Promise((resolve) => response.write(`data: ${question}\n\n`, resolve));
  }
}

/** Sends an answer that does not end. */
async function sendEndless(response: ServerResponse): Promise<void> {
  for (sentMegabytes = 0; sentMegabytes < MAX_MEGABYTES && !response.destroyed; sentMegabytes += 1) {
    await new Promise((resolve) => response.write(MEGABYTE, resolve));
  }
}

/** Breaks the stream of the first call in the middle of its answer. */
useProject();
beforeEach(async () => {
  calls = 0;
  untaken = 0;
  server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (method === undefined) return void untaken++;
    if (id === undefined) return response.writeHead(202).end();
    if (method === "tools/call" && params.arguments.as !== undefined) {
      response.writeHead(200, { "content-type": params.arguments.as });
      if (params.arguments.asks) return askEndless(response);
      response.write("data: ");
      return sendEndless(response);
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (method === "tools/call") calls += 1;
    if (method === "tools/call" && calls === 1) {
      response.write('event: message\ndata: {"jsonrpc":"2.0",');
      return setTimeout(() => response.destroy(), 20);
    }
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-03-26",
        capabilities: { tools: {} },
        serverInfo: { name: "weak", version: "1" },
      },
      "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "seen" }] },
    };
    return response.end(
      `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: results[method] })}\n\n`,
    );
  });
  url = `http://127.0.0.1:${await listenOnFreePort(server)}/mcp`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it("P28 a call whose stream breaks before its answer fails at once, and the next one works", async () => {
  const toolbox = project.open({ weak: { url } }, { approvalMode: "yolo" });
  await toolbox.ready();
  const { error } = await toolbox.call("weak__look", {});
  expect(error?.type).toBe("mcp_connection_lost");
  expect(calls).toBe(1);
  expect(JSON.stringify((await toolbox.call("weak__look", {})).llmContent)).toContain("seen");
});

it.each(["text/event-stream", "application/json"])(
  "P28 P26 an answer without an end as %s is not kept in memory: the call fails, and the next one works",
  async (as) => {
    calls = 1;
    const toolbox = project.open({ weak: { url } }, { approvalMode: "yolo" });
    await toolbox.ready();
    const { error } = await toolbox.call("weak__look", { as });
    expect(error?.type).toMatch(/^mcp_/);
    expect(sentMegabytes).toBeLessThan(MAX_MEGABYTES / 2);
    expect(JSON.stringify((await toolbox.call("weak__look", {})).llmContent)).toContain("seen");
  },
  60_000,
);

it("P9 P12 P28 a server that asks without end and takes no answer is left, and with it the call", async () => {
  const toolbox = project.open({ weak: { url, timeout: 20_000 } }, { approvalMode: "yolo" });
  const warnings: string[] = [];
  const hear = ({ name }: Error) => void warnings.push(name);
  process.on("warning", hear);
  await toolbox.ready();
  const { error } = await toolbox.call("weak__look", { as: "text/event-stream", asks: true });
  expect(error?.type).toBe("mcp_connection_lost");
  expect(untaken).toBeLessThanOrEqual(100);
  process.off("warning", hear);
  expect(warnings).toEqual([]);
}, 60_000);
