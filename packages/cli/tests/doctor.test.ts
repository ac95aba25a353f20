import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { ScreenTerminal } from "./screen-terminal.ts";

const KEY = "sk-very-secret";

let top: string;
let root: string;
let home: string;
let canary: string;
let server: Server | null = null;

beforeEach(async () => {
  top = createTemporaryFolder();
  [root, home, canary] = [join(top, "project"), join(top, "home"), join(top, "canary")];
  await mkdir(root);
  await mkdir(home, { mode: 0o700 });
});

afterEach(async () => {
  server?.close();
  server = null;
});

it("at a terminal the findings are wrapped between words, below their beginning", async () => {
  const terminal = new ScreenTerminal({ cwd: root, args: ["doctor"], columns: 60, rows: 60 });
  await terminal.shows(
    /^warn {2}web search {5}No search service is configured. Name\n {21}one in settings\.json: /m,
  );
  await terminal.ended();
  terminal.close();
});

it.each([
  [
    "--help",
    "      --max-turns N           most replies of the model to one prompt (default",
    `${" ".repeat(30)}200)`,
  ],
  [
    "tools",
    "    Replaces text in a file. old_string must be the file's own text, exactly,",
    "    white space",
  ],
])("at a terminal burin %s has no word in two rows", async (word, row, next) => {
  // In a shell: of a program that has ended, a busy machine may not read the last of its output in time.
  const terminal = new ScreenTerminal({
    cwd: root,
    args: [word],
    columns: 80,
    rows: 150,
    isInShell: true,
  });
  await terminal.shows(`${row}\n${next}`);
  terminal.close();
});

interface Finding {
  readonly name: string;
  readonly state: string;
  readonly message: string;
}

async function doctor(args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  const model = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_MODEL: "tiny", OPENAI_API_KEY: KEY };
  const env = { BURIN_HOME: home, ...model, ...more };
  const { code, stdout, stderr } = await burin(["doctor", "--json", ...args], { cwd: root, env });
  expect(stdout + stderr).not.toContain(KEY);
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  expect(code).toBe(ok ? 0 : 1);
  const about = (name: string) =>
    findings.filter((one) => one.name === name).map(({ state, message }) => `${state} ${message}`);
  return { ok, about, findings };
}

/** A service that answers every question with this status. */
async function service(status: number): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(status).end('{"data":[]}');
  });
  return { url: `http://127.0.0.1:${await listenOnFreePort(server)}/v1`, asked };
}

const settings = (folder: string, value: unknown) =>
  writeFile(join(folder, "settings.json"), typeof value === "string" ? value : JSON.stringify(value));
const touching = () => ({ command: "/bin/sh", args: ["-c", `touch ${canary}`] });

describe("burin doctor", () => {
  it("says one thing of each part, in words, and ends well where nothing fails", async () => {
    const { ok, findings, about } = await doctor();
    expect(ok).toBe(true);
    expect(findings.map(({ name }) => name).join(", ")).toBe(
      "Node, home, settings, shell, ripgrep, sandbox, terminals, keychain, model, proxy, web search, MCP, trust, undo, local servers",
    );
    expect(about("model")).toEqual([
      "ok tiny (openai) at http://127.0.0.1:9/v1, key from OPENAI_API_KEY; not contacted (--online contacts it).",
    ]);
    expect(about("web search")).toEqual([expect.stringMatching(/^warn .*tavily/)]);
    const { stdout } = await burin(["doctor"], { cwd: root, env: { BURIN_HOME: home } });
    expect(stdout.trimEnd().split("\n")).toHaveLength(findings.length);
    expect(stdout).toMatch(/^ok +Node +v\d+/);
  });

  it("P1 says what undo covers in this folder, and names what it does not", async () => {
    const [covered] = (await doctor()).about("undo");
    expect(covered).toMatch(/^ok What .* can be taken back, without git\. Not covered: .* above 64 MB\.$/);
    execFileSync("git", ["init", "-q"], { cwd: root });
    await writeFile(join(root, ".gitignore"), "work.db\nnode_modules/\n");
    await mkdir(join(root, "node_modules"));
    const large = { "disk.img": 65, "work.db": 2, "node_modules/data": 80 };
    for (const [name, megabytes] of Object.entries(large)) {
      await writeFile(join(root, name), "");
      await truncate(join(root, name), megabytes * 1024 * 1024);
    }
    const { ok, about } = await doctor();
    expect(ok).toBe(true);
    expect(about("undo")).toEqual([expect.stringMatching(/^warn .* here: work\.db, disk\.img\.$/)]);
  });

  it("fails without a model, and says what to set", async () => {
    const { code, stdout } = await burin(["doctor"], { cwd: root, env: { BURIN_HOME: home } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail +model +No model is configured: set OPENAI_API_KEY/m);
  });

  it("tells where a settings file is wrong, and looks at the rest", async () => {
    await settings(home, '{\n  "model": { "name": 7 }\n}\n');
    const { ok, about } = await doctor();
    expect(ok).toBe(false);
    expect(about("settings")).toEqual([expect.stringMatching(/^fail .*settings\.json:2:/)]);
    expect(about("local servers")).toEqual([expect.stringMatching(/^ok /)]);
    expect(about("model")).toEqual([]);
  });

  it.runIf(process.platform !== "win32")(
    "tells of a home that others can read, and of one that cannot be",
    async () => {
      await chmod(home, 0o755);
      await writeFile(join(home, "trust.json"), "{}", { mode: 0o644 });
      expect((await doctor()).about("home")).toEqual([
        expect.stringMatching(/^warn .*trust\.json: chmod -R go-rwx/),
      ]);
      await writeFile(join(top, "file"), "");
      const { ok, about } = await doctor([], { BURIN_HOME: join(top, "file", "home") });
      expect(ok).toBe(false);
      expect(about("home")).toEqual([expect.stringMatching(/^fail /)]);
      await symlink(join(top, "nowhere"), join(top, "link"));
      expect((await doctor([], { BURIN_HOME: join(top, "link") })).about("home")).toEqual([
        expect.stringMatching(/^fail .*cannot be written: no such file or directory/),
      ]);
      expect((await doctor([], { BURIN_HOME: join(top, "new", "home") })).about("home")).toEqual([
        expect.stringMatching(/^ok .*does not exist yet/),
      ]);
      expect(existsSync(join(top, "new"))).toBe(false);
    },
  );

  it("P24 starts nothing that an untrusted folder brings, online or not", async () => {
    await mkdir(join(root, ".burin"));
    await settings(join(root, ".burin"), {
      mcpServers: { bad: { ...touching(), trust: true } },
      tools: { toolDiscoveryCommand: `touch ${canary}` },
      hooks: [{ event: "session_start", command: `touch ${canary}` }],
    });
    for (const args of [[], ["--online"]]) {
      const { about } = await doctor(args);
      expect(about("trust")).toEqual([expect.stringMatching(/^warn .*burin trust/)]);
      expect(about("MCP")).toEqual(["ok No server is named."]);
    }
    expect(existsSync(canary)).toBe(false);
  });

  it("starts the person's MCP servers with --online only", async () => {
    await settings(home, { mcpServers: { mine: touching() } });
    expect((await doctor()).about("MCP")).toEqual([expect.stringMatching(/^ok .*mine; not started/)]);
    expect(existsSync(canary)).toBe(false);
    const { about, ok } = await doctor(["--online"]);
    expect(ok).toBe(false);
    expect(about("MCP")).toEqual([expect.stringMatching(/^fail .*mine/)]);
    expect(existsSync(canary)).toBe(true);
  });

  it.each([
    [200, "ok", "it answers."],
    [404, "ok", "HTTP 404"],
    [401, "fail", "refuses the key (HTTP 401)"],
    [403, "fail", "or a proxy or firewall in between, refuses (HTTP 403)"],
    [503, "warn", "HTTP 503"],
  ])("asks the model's service with --online: HTTP %i is %s: %s", async (status, state, words) => {
    const { url, asked } = await service(status);
    const offline = await doctor([], { OPENAI_BASE_URL: url });
    expect(offline.about("model")).toEqual([expect.stringMatching(/^ok /)]);
    expect(asked).toEqual([]);
    const { about } = await doctor(["--online"], { OPENAI_BASE_URL: url });
    expect(about("model")).toEqual([expect.stringContaining(words)]);
    expect(about("model")[0]).toMatch(new RegExp(`^${state} `));
    expect(asked).toEqual([`/v1/models Bearer ${KEY}`]);
  });

  it("tells a service that nobody can reach, and a key that is missing", async () => {
    const { about } = await doctor(["--online"]);
    expect(about("model")).toEqual([
      expect.stringMatching(/^fail .*cannot be reached: .*is the model server started/),
    ]);
    const quoted = await doctor(["--online"], { OPENAI_API_KEY: `"${KEY}"` });
    expect(quoted.about("model")).toEqual([expect.stringMatching(/The API key holds .* a quote .*again\.$/)]);
    const wrong = await doctor([], { OPENAI_BASE_URL: "models.example/v1" });
    expect(wrong.about("model")).toEqual([expect.stringMatching(/^fail .*is not a valid URL/)]);
    const keyless = await doctor([], { OPENAI_BASE_URL: "https://models.example/v1", OPENAI_API_KEY: "" });
    expect(keyless.about("model")).toEqual([expect.stringMatching(/^warn .*no key in OPENAI_API_KEY/)]);
  });

  it("tells of proxies without their passwords, and of one that is no address", async () => {
    const good = await doctor([], { HTTPS_PROXY: `http://me:${KEY}@proxy.example:3128` });
    expect(good.about("proxy")).toEqual(["ok HTTPS_PROXY=http://proxy.example:3128"]);
    const bad = await doctor([], { HTTPS_PROXY: `ftp://me:${KEY}@proxy.example:3128` });
    expect(bad.about("proxy")).toEqual([expect.stringMatching(/^fail /)]);
  });

  it("tells what a search service lacks", async () => {
    await settings(home, { web: { search: { provider: "tavily" } } });
    expect((await doctor()).about("web search")).toEqual([expect.stringMatching(/^warn .*TAVILY_API_KEY/)]);
    const { about } = await doctor([], { TAVILY_API_KEY: KEY });
    expect(about("web search")).toEqual(["ok tavily."]);
  });
});
