import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin } from "./burin.ts";
import { put, root } from "./project.ts";

let close = () => {};
afterEach(() => close());

/** A server behind a login, and its login service: whoever brings the code is let in. */
async function startService(): Promise<string> {
  const server = createServer((request, response) => answer(request, response, base));
  const base = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  close = () => server.close();
  return base;
}

async function answer(request: IncomingMessage, response: ServerResponse, base: string): Promise<void> {
  const body = await text(request);
  const [path = ""] = request.url?.split("?") ?? [];
  const say = (status: number, value: object) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (path.includes("oauth-protected-resource"))
    return say(200, { resource: `${base}/mcp`, authorization_servers: [base] });
  if (path.includes("oauth-authorization-server"))
    return say(200, {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      registration_endpoint: `${base}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    });
  if (path === "/register") return say(201, { ...JSON.parse(body), client_id: "me" });
  if (path === "/token" && body.includes("code=right"))
    return say(200, { access_token: "in", token_type: "Bearer" });
  say(path === "/mcp" ? 401 : 400, { error: "invalid_grant" });
}

describe("burin mcp login", () => {
  it("P51 goes on when something else than the final URL is pasted, and says so", async () => {
    const base = await startService();
    put(".home/settings.json", { mcpServers: { mine: { url: `${base}/mcp` } } });
    const env = buildEnvironment(root, { BURIN_KEYCHAIN: "off" });
    const child = spawn(process.execPath, [BURIN, "mcp", "login", "mine"], { cwd: root, env });
    let [shown, notes] = ["", ""];
    child.stderr.on("data", (chunk) => {
      notes += chunk;
    });
    child.stdout.on("data", (chunk) => {
      shown += chunk;
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    await expect.poll(() => shown).toContain("\n");
    const asked = new URL(shown.trim()).searchParams;
    const iss = encodeURIComponent(base);
    const answers = ["what?", "", "right", `${asked.get("redirect_uri")}?code=wrong&state=other&iss=${iss}`];
    child.stdin.write(`${answers.join("\n")}\n`);
    await expect.poll(() => notes.match(/that is not the final URL of this login/g)?.length).toBe(3);
    child.stdin.write(`${asked.get("redirect_uri")}?code=right&state=${asked.get("state")}&iss=${iss}\n`);
    expect(await ended).toBe(0);
    expect(notes).toContain("you are logged in to mine");
  });

  it("P51 is the next step behind burin mcp add, which has done its work then", async () => {
    const base = await startService();
    const options = { cwd: root, env: { BURIN_KEYCHAIN: "off" } };
    const added = await burin(["mcp", "add", "mine", `${base}/mcp`], options);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("Run: burin mcp login mine") });
    expect((await burin(["mcp", "test", "mine"], options)).code).toBe(1);
    // A header that is refused is wrong already.
    const keyed = ["mcp", "add", "--header", "Authorization: Bearer wrong", "keyed", `${base}/mcp`];
    expect(await burin(keyed, options)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("refused"),
    });
  });
});
