import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { portOf } from "@burin/testing/fake-model-server";
import { temporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { BURIN } from "./burin.ts";

const CHUNKS = ["calls", "judging", "commands", "searches", "changes", "edits"];
const isLoaded = (name: string, text: string) => text.includes(`/chunks/${name}-`);

const REPLY = [
  `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`,
  "data: [DONE]",
  "",
].join("\n\n");

it("P45 what calls need is loaded while the first request is away, and not before", async () => {
  const root = temporaryFolder();
  let loaded = "";
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = createServer(async (request, response) => {
    request.resume();
    await mayAnswer;
    response.writeHead(200, { "content-type": "text/event-stream" }).end(REPLY);
  });
  const port = await portOf(server);
  const child = spawn(process.execPath, [BURIN, "-p", "hello"], {
    cwd: root,
    env: {
      ...{ PATH: process.env.PATH, HOME: root, OPENAI_MODEL: "fake-model", NODE_DEBUG: "module,http" },
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.on("data", (piece: Buffer) => {
    loaded += piece.toString("latin1");
    if (CHUNKS.every((name) => isLoaded(name, loaded))) answer();
  });
  let stdout = "";
  child.stdout.on("data", (piece: Buffer) => {
    stdout += piece.toString("latin1");
  });
  try {
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(stdout).toBe("hello\n");
    // Both are told by the same process, so that their order does not hang on who is quicker.
    const [before = "", after = ""] = loaded.split("outgoing message end.");
    expect(isLoaded("start", before)).toBe(true);
    expect(CHUNKS.filter((name) => isLoaded(name, before))).toEqual([]);
    expect(CHUNKS.filter((name) => !isLoaded(name, after))).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    server.closeAllConnections();
    server.close();
  }
}, 60_000);

it("P45 a server that waits for its first call has what calls need loaded, and waits no longer for that", async () => {
  const root = temporaryFolder();
  const child = spawn(process.execPath, [BURIN, "serve", "mcp"], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, NODE_DEBUG: "module" },
    stdio: ["pipe", "ignore", "pipe"],
  });
  let loaded = "";
  child.stderr.on("data", (piece: Buffer) => {
    loaded += piece.toString("latin1");
    // Nothing has been asked of it but what it has.
    if (CHUNKS.every((name) => isLoaded(name, loaded))) child.stdin.end();
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} })}\n`);
  try {
    const [code] = await once(child, "close");
    expect(code).toBe(0);
  } finally {
    child.kill("SIGKILL");
  }
}, 60_000);
