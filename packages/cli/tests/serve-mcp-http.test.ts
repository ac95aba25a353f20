import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BURIN } from "./burin.ts";
import { type ClientOptions, callerOf, newClient } from "./mcp-client.ts";

const TOKEN = "a-token-of-the-test";
let root: string;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "burin-serve-http-")));
  await writeFile(join(root, "a.txt"), "one\n");
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(root, { recursive: true, force: true });
});

/** The server as it ships, and where it is. */
async function serve(...args: string[]): Promise<URL> {
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: root, BURIN_HOME: `${root}/.home`, BURIN_SERVE_TOKEN: TOKEN };
  const child = spawn(process.execPath, [BURIN, "serve", "mcp", "--http", ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  closing.push(() => {
    child.kill("SIGTERM");
    return ended;
  });
  let said = "";
  for await (const chunk of child.stderr) {
    said += chunk;
    const [url] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
    if (url !== undefined) return new URL(url);
  }
  throw new Error(said);
}

async function client(url: URL, options: ClientOptions = {}) {
  const mcp = newClient(options);
  const headers = { authorization: `Bearer ${TOKEN}` };
  await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  closing.push(() => mcp.close());
  return { client: mcp, call: callerOf(mcp) };
}

/** The status of a request with these headers. */
function statusOf(url: URL, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on("error", reject);
    sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  });
}

describe("burin serve mcp --http", () => {
  it.each([
    ["of 2025", false],
    ["of 2026", true],
  ] as const)("serves clients %s side by side, each asked for its own calls", async (_, isModern) => {
    const url = await serve();
    const first = await client(url, { isModern, says: () => "once" });
    const second = await client(url, { isModern });
    const make = (name: string) => ({ file_path: join(root, name), content: "x\n" });
    expect(await first.call("read_file", { file_path: `${root}/a.txt` })).toEqual({
      text: "one\n",
      isError: false,
    });
    expect(await first.call("write_file", make("b.txt"))).toMatchObject({ isError: false });
    expect(await second.call("write_file", make("c.txt"))).toMatchObject({ isError: true });
    expect([existsSync(join(root, "b.txt")), existsSync(join(root, "c.txt"))]).toEqual([true, false]);
    await first.client.close();
    expect(await second.call("read_file", { file_path: `${root}/a.txt` })).toEqual({
      text: "one\n",
      isError: false,
    });
  });

  it("answers nobody without the token, from another site or under another name", async () => {
    const url = await serve();
    const authorization = `Bearer ${TOKEN}`;
    expect(await statusOf(url, {})).toBe(401);
    expect(await statusOf(url, { authorization: "Bearer a-token-of-the-tess" })).toBe(401);
    expect(await statusOf(url, { authorization, origin: "https://evil.example" })).toBe(403);
    expect(await statusOf(url, { authorization, origin: "null" })).toBe(403);
    expect(await statusOf(url, { authorization, host: "evil.example" })).toBe(403);
    expect(await statusOf(url, { authorization, host: `localhost.evil.example:${url.port}` })).toBe(403);
    expect(await statusOf(new URL("/other", url), { authorization })).toBe(404);
    expect(await statusOf(url, { authorization, "mcp-session-id": "unknown" })).toBe(404);
    expect(await statusOf(url, { authorization })).toBe(406);
  });

  it("keeps its token from the commands that it runs", async () => {
    const { call } = await client(await serve("--yes"));
    const { text } = await call("run_shell_command", { command: "env; echo ran" });
    expect(text).toContain("ran");
    expect(text).not.toContain(TOKEN);
  });

  it("makes room for new clients when others have vanished", async () => {
    const url = await serve();
    const first = await client(url);
    const others = Array.from({ length: 64 }, () => client(url));
    await Promise.all(others);
    await expect(first.call("read_file", { file_path: `${root}/a.txt` })).rejects.toThrow();
    const last = await others[63];
    expect(await last?.call("read_file", { file_path: `${root}/a.txt` })).toMatchObject({ isError: false });
  });
});
