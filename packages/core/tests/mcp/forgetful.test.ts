import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, beforeEach, expect, it } from "vitest";
import { project, useProject } from "./project.ts";

let server: Server;
let url: string;
/** The sessions that the server knows. */
const sessions = new Set<string>();
const greeted: string[] = [];

const RESULTS: Record<string, object> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "forgetful", version: "1" },
  },
  "tools/list": {
    tools: [{ name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
  },
  "tools/call": { content: [{ type: "text", text: "seen" }] },
};

/** A server that forgets its sessions when it is started again, as most do. */
useProject();
beforeEach(async () => {
  sessions.clear();
  greeted.length = 0;
  server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (method === "initialize") {
      headers["mcp-session-id"] = `s${greeted.length}`;
      sessions.add(`s${greeted.length}`);
      greeted.push(method);
    } else if (!sessions.has(String(request.headers["mcp-session-id"]))) {
      // Not all of them at the same time.
      return setTimeout(() => response.writeHead(404).end(), params?.arguments?.ms);
    }
    if (id === undefined) return response.writeHead(202).end();
    return response
      .writeHead(200, headers)
      .end(JSON.stringify({ jsonrpc: "2.0", id, result: RESULTS[method] }));
  });
  url = `http://127.0.0.1:${await listenOnFreePort(server)}/mcp`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it("P28 calls that fail one after another by one broken connection open one new connection", async () => {
  const toolbox = project.open({ far: { url, trust: true } });
  await toolbox.ready();
  await toolbox.call("far__look", { ms: 0 });
  const before = greeted.length;
  sessions.clear();
  const calls = [0, 60, 120, 180].map((ms) => toolbox.call("far__look", { ms }));
  for (const { error } of await Promise.all(calls)) expect(error).toBeUndefined();
  expect(greeted.length - before).toBe(1);
});
