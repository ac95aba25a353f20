import { readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

let root: string;
const open: Server[] = [];

beforeAll(async () => {
  root = createTemporaryFolder();
});

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  return listenOnFreePort(server);
}

/** The words after `burin` of the example on a tool's page. */
async function exampleOf(tool: string): Promise<string[]> {
  const page = await readFile(new URL(`../../../docs/tools/${tool}.md`, import.meta.url), "utf8");
  const line = /^burin (call .*)$/m.exec(page)?.[1] ?? "";
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

const said: string[] = [];
const hello: RequestListener = ({ url, headers }, response) => {
  said.push(`${url} ${headers.host}`);
  response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>");
};

describe("the web tools", () => {
  it("R42 P50 the example of web_fetch runs, through the proxy that the environment names", async () => {
    const proxy = `http://127.0.0.1:${await listen(createServer(hello))}`;
    const { code, stdout } = await burin(await exampleOf("web_fetch"), {
      cwd: root,
      env: { HTTP_PROXY: proxy },
    });
    expect(stdout).toContain("\n# Hello\n");
    expect(said.splice(0)).toEqual(["http://example.org/ example.org"]);
    expect(code).toBe(0);
  });

  it("R43 the example of web_search runs with a service that the settings name", async () => {
    const results = [{ title: "The burin", url: "https://a.test/", content: "cuts" }];
    const port = await listen(
      createServer((_request, response) => response.end(JSON.stringify({ results }))),
    );
    const search = { provider: "searxng", url: `http://127.0.0.1:${port}` };
    const settings = join(root, "settings.json");
    await writeFile(settings, JSON.stringify({ web: { search } }));
    const example = [...(await exampleOf("web_search")), "--settings", settings];
    const { code, stdout } = await burin(example, { cwd: root });
    expect(stdout).toContain("1. The burin\n   https://a.test/\n   cuts\n");
    expect(code).toBe(0);
  });

  it("P50 a certificate of the company's own authority is trusted by NODE_EXTRA_CA_CERTS", async () => {
    const { CERTIFICATE, KEY } = await import("@burin/testing/tls-pair");
    const place = `127.0.0.1:${await listen(createSecureServer({ cert: CERTIFICATE, key: KEY }, hello))}`;
    const settings = join(root, "allowed.json");
    const authority = join(root, "authority.pem");
    await writeFile(settings, JSON.stringify({ web: { allowedHosts: [place] } }));
    await writeFile(authority, CERTIFICATE);
    const call = ["call", "web_fetch", `{"url":"https://${place}/"}`, "--yes", "--settings", settings];
    const untrusted = await burin(call, { cwd: root });
    expect(untrusted.stderr).toContain("NODE_EXTRA_CA_CERTS");
    expect(untrusted.code).toBe(1);
    const trusted = await burin(call, { cwd: root, env: { NODE_EXTRA_CA_CERTS: authority } });
    expect(trusted.stdout).toContain("\n# Hello\n");
    said.length = 0;
  });

  it("P37 --yes is a yes to the fetch and names no place of this machine", async () => {
    const place = `127.0.0.1:${await listen(createServer(hello))}`;
    const { code, stderr } = await burin(["call", "web_fetch", `{"url":"http://${place}/"}`, "--yes"], {
      cwd: root,
    });
    expect(stderr).toContain(`"allowedHosts": ["${place}"]`);
    expect(code).toBe(1);
    expect(said).toEqual([]);
  });

  it("R38 the list of tools has both, and says what web_search lacks", async () => {
    const { stdout } = await burin(["tools"], { cwd: root });
    expect(stdout).toContain("web_fetch  (built-in)\n");
    expect(stdout).toMatch(
      /web_search {2}\(built-in, not configured\)\n {4}No search service is configured\./,
    );
  });
});
