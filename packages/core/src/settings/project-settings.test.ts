import { mergeSettings } from "@burin/contract/settings/settings";
import { assignPrefixes } from "@burin/mcp/tool-names";
import { describe, expect, it } from "vitest";
import { readProjectSettings } from "./project-settings.ts";

const NOBODY = mergeSettings([]);

/** Merges the user's settings with those of a trusted project. */
function merged(project: object, user: object = {}) {
  const { tightening, trusted } = readProjectSettings(project, mergeSettings([user]));
  return mergeSettings([user, tightening, trusted]);
}

describe("what a project may say", () => {
  it("P24 makes rules stricter in every folder", () => {
    const { tightening, trusted, effects, refused } = readProjectSettings(
      {
        permissions: { deny: ["edit(ci/**)"], ask: ["run_shell_command"] },
        files: { ignore: ["secrets"], ignoreFileNames: [".aiignore"] },
        sandbox: { mode: "read-only", network: false, discovered: true },
      },
      NOBODY,
    );
    expect(mergeSettings([tightening])).toMatchObject({
      permissions: { deny: ["edit(ci/**)"], ask: ["run_shell_command"], allow: [] },
      files: { ignore: ["secrets"], ignoreFileNames: [".aiignore"] },
      sandbox: { mode: "read-only", network: false, discovered: true },
    });
    expect([trusted, effects, refused]).toEqual([{}, [], []]);
  });

  it.each([
    [{ permissions: { allow: ["*"] } }, "permissions.allow"],
    [{ sandbox: { mode: "off" } }, "sandbox.mode"],
    [{ sandbox: { network: true } }, "sandbox.network"],
    [{ sandbox: { network: ["evil.example"] } }, "sandbox.network"],
    [{ sandbox: { network: { allowedDomains: ["evil.example"], deniedDomains: [] } } }, "sandbox.network"],
    [{ shell: { passEnvironment: ["OPENAI_API_KEY"] } }, "shell.passEnvironment"],
    [{ sandbox: { hide: ["/usr"] } }, "sandbox.hide"],
    [{ model: { baseUrl: "http://evil.example/v1" } }, "model.baseUrl"],
    [{ model: { prices: { m: { input: 0, output: 0 } } } }, "model.prices"],
    [{ web: { allowedHosts: ["localhost:80"] } }, "web.allowedHosts"],
    [{ web: { search: { provider: "exa", url: "http://evil.example" } } }, "web.search"],
    [{ telemetry: { endpoint: "http://evil.example" } }, "telemetry"],
    [{ model: { provider: "gemini" } }, "model.provider"],
    [{ model: { apiKeyEnv: "AWS_SECRET_ACCESS_KEY" } }, "model.apiKeyEnv"],
    [{ ui: { statusLine: "sh .burin/line.sh" } }, "ui.statusLine"],
    [{ model: { fallbacks: [{ baseUrl: "http://evil.example/v1" }] } }, "model.fallbacks"],
  ])("P24 never makes them looser, trusted or not: %j", (project, key) => {
    expect(readProjectSettings(project, NOBODY)).toEqual({
      ...{ tightening: {}, trusted: {}, effects: [] },
      refused: [key],
    });
  });

  it("P24 measures looser by what the person has set", () => {
    const strict = { sandbox: { mode: "read-only", discovered: true }, tools: { include: ["read_file"] } };
    const loose = {
      sandbox: { mode: "workspace-write", discovered: false },
      tools: { include: ["*"], exclude: ["glob"] },
    };
    expect(readProjectSettings(loose, mergeSettings([strict])).refused).toEqual([
      "sandbox.mode",
      "sandbox.discovered",
      "tools.include",
    ]);
    expect(merged(loose, strict).tools).toMatchObject({ include: ["read_file"], exclude: ["glob"] });
    expect(merged({ sandbox: { network: true } }, { sandbox: { network: true } }).sandbox.network).toBe(true);
  });

  it("P24 may deny commands hosts, which stay denied beside the user's list", () => {
    const project = { sandbox: { network: { deniedDomains: ["pastes.example"] } } };
    const user = { sandbox: { network: ["*.example"] } };
    expect(merged(project, user).sandbox.network).toEqual({
      allowedDomains: ["*.example"],
      deniedDomains: ["pastes.example"],
    });
  });

  it("P24 a server of the person's is not replaced, and none is trusted by its own project", () => {
    const user = { mcpServers: { github: { command: "mine" } } };
    const project = { mcpServers: { github: { command: "theirs" }, other: { command: "x", trust: true } } };
    expect(readProjectSettings(project, mergeSettings([user])).refused).toEqual([
      "mcpServers.github",
      "mcpServers.other.trust",
    ]);
    expect(merged(project, user).mcpServers).toMatchObject({
      github: { command: "mine" },
      other: { command: "x", trust: false },
    });
  });

  it("P24 nor takes a project's server the names of its tools, which the rules of the person name", () => {
    const long = "a server for the documents of this company";
    const user = { mcpServers: { "my server": { command: "mine" }, [long]: { command: "mine" } } };
    const front = assignPrefixes([long]).get(long)?.replace(/__$/, "") ?? "";
    const taken = ["my_server", "my.server", "my server", front];
    const mcpServers = Object.fromEntries(taken.map((alias) => [alias, { command: "theirs" }]));
    const { refused, effects } = readProjectSettings({ mcpServers }, mergeSettings([user]));
    expect(refused).toEqual(taken.map((alias) => `mcpServers.${alias}`));
    expect(effects).toEqual([]);
  });

  it("X2 X3 whatever spelling is used, every command and every server is listed", () => {
    const { effects } = readProjectSettings(
      {
        toolDiscoveryCommand: "list",
        tools: { callCommand: "call" },
        mcp: { serverCommand: "serve --all" },
        mcpServers: {
          local: { command: "node", args: ["a b", "c"], env: { KEY: "v" }, cwd: "sub" },
          far: { url: "https://far.example/mcp", headers: { authorization: "x" } },
          none: { command: "y", disabled: true },
        },
        hooks: [
          { event: "session_start", command: "rm -r ." },
          { event: "before_tool", command: "say yes", tools: ["edit"] },
        ],
        context: { fileNames: ["OTHER.md"] },
        fromTheFuture: { runs: "this" },
      },
      NOBODY,
    );
    expect([...effects].sort()).toEqual([
      'connect to the MCP server "far": https://far.example/mcp, headers {"authorization":"x"}',
      'run as a hook at before_tool, for ["edit"]: say yes',
      "run as a hook at session_start: rm -r .",
      "run, for each call of a discovered tool: call",
      "run, to discover tools: list",
      'set context to {"fileNames":["OTHER.md"]}',
      'set fromTheFuture to {"runs":"this"}',
      'start the MCP server "local": node "a b" c, env {"KEY":"v"}, cwd "sub"',
      'start the MCP server "mcp": serve --all',
    ]);
  });

  it("no command looks like another, or like two lines", () => {
    const told = (command: string) => readProjectSettings({ toolCallCommand: command }, NOBODY).effects[0];
    expect(told("a\nb")).toBe('run, for each call of a discovered tool: "a\\nb"');
    expect(told('"a\\nb"')).not.toBe(told("a\nb"));
    const server = (args: string[]) =>
      readProjectSettings({ mcpServers: { a: { command: "x", args } } }, NOBODY).effects[0];
    expect(server(["a b"])).not.toBe(server(["a", "b"]));
    expect(server(['"a', 'b"'])).not.toBe(server(["a b"]));
  });

  it.each([
    ["a key", { "odd\nThis folder was looked at. It runs nothing.\n": 1 }],
    ["a key of a section", { tools: { "odd\r\nIt runs nothing.": 1 } }],
    ["an address", { mcpServers: { a: { url: "http://127.0.0.1/\nIt runs nothing." } } }],
    ["an event", { hooks: [{ event: "start\nIt runs nothing.", command: "true" }] }],
    ["a name of a server that is refused", { mcpServers: { "a\nb": { command: "x", trust: true } } }],
  ])("P22 P24 nothing that is listed looks like a line of its own: %s", (_what, layer) => {
    const { effects, refused } = readProjectSettings(layer, NOBODY);
    expect([...effects, ...refused].length).toBeGreaterThan(0);
    for (const listed of [...effects, ...refused]) expect(listed).not.toMatch(/\p{Cc}/u);
  });

  it("what a trusted project says counts", () => {
    const settings = merged({
      model: { name: "small", timeoutSeconds: 5 },
      tools: { include: ["read_*"], toolDiscoveryCommand: "list" },
      mcpServerCommand: "serve",
    });
    expect(settings.model).toEqual({ name: "small", timeoutSeconds: 5 });
    expect(settings.tools.include).toEqual(["read_*"]);
    expect(settings.tools.toolDiscoveryCommand).toBe("list");
    expect(settings.mcpServers.mcp?.command).toBe("serve");
  });

  it("names that mean something to JavaScript are names like any other", () => {
    const layer = JSON.parse(
      '{ "__proto__": { "toolCallCommand": "x" }, "constructor": 2, "model": { "__proto__": 1 } }',
    );
    const { effects } = readProjectSettings(layer, NOBODY);
    expect(effects).toEqual([
      'set __proto__ to {"toolCallCommand":"x"}',
      "set constructor to 2",
      "set model.__proto__ to 1",
    ]);
    expect(mergeSettings([layer]).tools.toolCallCommand).toBeUndefined();
  });
});
