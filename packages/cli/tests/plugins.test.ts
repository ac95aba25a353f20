import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, burin, matchFailure } from "./burin.ts";
import { put, root as top } from "./project.ts";

const SCHEMA = "https://agent-plugins.org/schemas/1.0.0/";

beforeEach(() => {
  mkdirSync(join(top, "project"));
});

const run = (...args: string[]) =>
  burin(args, { cwd: join(top, "project"), env: { HOME: top, BURIN_HOME: join(top, "burin") } });
const ours = (name: string) => readFile(join(top, "burin", name), "utf8");
const manifest = (more: object = {}) => ({ $schema: `${SCHEMA}plugin.schema.json`, name: "tools", ...more });
const servers = (mcpServers: object) => ({ $schema: `${SCHEMA}mcp.schema.json`, mcpServers });

/** A server that tells where it runs and what it was given, as the description of its only tool. */
const SERVER = `
import { createInterface } from "node:readline";
const { PLUGIN_ROOT, PLUGIN_DATA, CONFIG } = process.env;
const description = JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(2), PLUGIN_ROOT, PLUGIN_DATA, CONFIG });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result =
    method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
      : { tools: [{ name: "where", description, inputSchema: { type: "object" } }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
`;

async function putPlugin(folder = "plugin"): Promise<void> {
  put(`${folder}/plugin.json`, manifest({ version: "1.2.0", description: "Tools for this." }));
  put(`${folder}/skills/tag/SKILL.md`, "---\nname: tag\ndescription: how a tag is made\n---\nTag it.\n");
  put(`${folder}/skills/tag/scripts/tag.sh`, "echo tag\n");
  put(`${folder}/commands/greet.md`, "Say good morning.\n");
  put(`${folder}/server.mjs`, SERVER);
  const args = [`\${PLUGIN_ROOT}/server.mjs`, `\${PLUGIN_DATA}/x`, `\${HOME}`];
  const env = { CONFIG: `\${PLUGIN_ROOT}/config.json` };
  put(`${folder}/mcp.json`, servers({ own: { type: "stdio", command: "node", args, env } }));
}

/** What is in the folder, as its first commit; returns git in it. */
function makeRepository(): (...words: string[]) => string {
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: join(top, "repository"), stdio: "pipe", encoding: "utf8" }).trim();
  git("init", "-q");
  git("config", "user.email", "a@example.org");
  git("config", "user.name", "a");
  git("add", ".");
  git("commit", "-qm", "one");
  return git;
}

describe("burin plugins", () => {
  it("says of a plugin of Claude Code what can be used of it", async () => {
    await put("theirs/.claude-plugin/plugin.json", { name: "theirs", version: "1.0.0" });
    const { code, stderr } = await run("plugins", "add", "../theirs");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("copy its skills and commands into ~/.burin"),
    ]);
  });

  it("shows what a plugin would run and changes nothing; installed, all of it works, and it can be removed", async () => {
    await putPlugin();
    const shown = await run("plugins", "add", "../plugin");
    const place = join(top, "burin/plugins/tools");
    expect(shown.stdout).toContain("tools 1.2.0: Tools for this.");
    expect(shown.stdout).toContain(
      `tools-own: node "${place}/files/server.mjs" "${place}/data/x" "\${HOME}"`,
    );
    expect(shown.stdout).toMatch(
      /skills\n {2}tag\n[\s\S]*commands\n {2}\/greet\n[\s\S]*Nothing was installed/,
    );
    expect(existsSync(join(top, "burin"))).toBe(false);
    expect(await run("plugins", "add", "../plugin", "--apply")).toMatchObject({ code: 0 });
    expect(await ours("skills/tag/scripts/tag.sh")).toBe("echo tag\n");
    expect(await ours("commands/greet.md")).toBe("Say good morning.\n");
    const tools = JSON.parse((await run("tools", "--json")).stdout) as {
      name: string;
      description: string;
    }[];
    const told = tools.find(({ name }) => name.endsWith("where"))?.description ?? "";
    expect(JSON.parse(told.slice(told.indexOf("{"), told.lastIndexOf("}") + 1))).toEqual({
      cwd: join(place, "files"),
      args: [join(place, "data/x"), `\${HOME}`],
      PLUGIN_ROOT: join(place, "files"),
      PLUGIN_DATA: join(place, "data"),
      CONFIG: join(place, "files/config.json"),
    });
    expect((await run("call", "tools-own__where", "{}")).code).toBe(3);
    expect((await run("plugins", "list")).stdout).toBe(
      `tools 1.2.0  tag, greet, tools-own  (${join(top, "plugin")})\n`,
    );
    for (const more of [[], ["--apply"]])
      expect(await run("plugins", "add", "../plugin", ...more)).toEqual(matchFailure(2, "the skill tag"));
    expect(await run("plugins", "remove", "tools")).toMatchObject({ code: 0 });
    expect(existsSync(join(top, "burin/skills/tag"))).toBe(false);
    expect(existsSync(place)).toBe(false);
    expect(JSON.parse(await ours("settings.json"))).toEqual({ mcpServers: {} });
    expect((await run("plugins")).stdout).toContain("No plugins installed");
  });

  it("comes from a repository at a tag, and runs nothing of it", async () => {
    await putPlugin("repository");
    const git = makeRepository();
    git("tag", "v1");
    put("repository/plugin.json", manifest({ version: "2.0.0" }));
    git("commit", "-qam", "two");
    const url = `file://${join(top, "repository")}`;
    expect((await run("plugins", "add", `${url}#v1`)).stdout).toContain("tools 1.2.0");
    expect((await run("plugins", "add", url)).stdout).toContain("tools 2.0.0");
    const none = await run("plugins", "add", `file://${join(top, "nothing")}`);
    expect([none, none.stdout]).toEqual([matchFailure(2, "could not be fetched"), ""]);
  });

  it("P21 is fetched with no program of the folder in which Burin is started", async () => {
    const planted = (folder: string, text: string) =>
      chmodSync(put(`${folder}/ssh`, `#!/bin/sh\n${text}\nexit 1\n`), 0o755);
    planted("project/node_modules/.bin", `touch ${join(top, "canary")}`);
    planted("elsewhere", "echo the own one >&2");
    const folders = [join(top, "project/node_modules/.bin"), join(top, "elsewhere"), process.env.PATH];
    const env = { HOME: top, BURIN_HOME: join(top, "burin"), PATH: folders.join(delimiter) };
    const told = await burin(["plugins", "add", "ssh://localhost/x.git"], { cwd: join(top, "project"), env });
    expect(told).toEqual(matchFailure(2, "the own one"));
    expect(existsSync(join(top, "canary"))).toBe(false);
  });

  it("comes from a marketplace by its name, and not from beside it", async () => {
    await putPlugin("market/plugins/tools");
    const plugins = [
      { name: "tools", source: "./plugins/tools" },
      { name: "out", source: "../../other" },
    ];
    put("market/.claude-plugin/marketplace.json", { name: "m", plugins });
    expect((await run("plugins", "add", "../market", "tools")).stdout).toContain("tools 1.2.0");
    const file = "../market/.claude-plugin/marketplace.json";
    expect((await run("plugins", "add", file, "tools")).stdout).toContain("tools 1.2.0");
    expect((await run("plugins", "add", "../market")).stderr).toContain("choose a plugin: tools, out");
    expect((await run("plugins", "add", "../market", "no")).stderr).toContain(
      'there is no plugin "no": tools, out',
    );
    expect((await run("plugins", "add", "../market", "out")).stderr).toContain("outside the marketplace");
  });

  it("comes from the folder and the commit that a marketplace names, and not from behind a link", async () => {
    await putPlugin("repository/plugins/tools");
    put("repository/plugin.json", manifest({ name: "other" }));
    await symlink(join(top, "project"), join(top, "repository/plugins/link"));
    put("project/plugin.json", manifest({ name: "secret" }));
    const git = makeRepository();
    const sha = git("rev-parse", "HEAD");
    put("repository/plugins/tools/plugin.json", manifest({ version: "2.0.0" }));
    git("commit", "-qam", "two");
    const url = `file://${join(top, "repository")}`;
    const from = async (more: object) => {
      const source = { source: "git-subdir", url, path: "plugins/tools", ...more };
      put("market.json", { plugins: [{ name: "one", source }] });
      return run("plugins", "add", "../market.json", "one");
    };
    expect((await from({})).stdout).toContain("tools 2.0.0");
    expect((await from({ sha })).stdout).toContain("tools 1.2.0");
    expect((await run("plugins", "add", `${url}#${sha}`)).stdout).toContain("other");
    const none = await from({ sha: "0".repeat(40) });
    expect(none).toEqual(matchFailure(2, "could not be fetched"));
    for (const path of ["plugins/link", "../../project"])
      expect(await from({ path })).toEqual(matchFailure(2, "lies outside"));
    expect((await from({ path: "plugins/gone" })).stderr).toContain("gone does not exist");
  });

  it("never holds what a folder leads to that becomes a link for moments while it is installed", async () => {
    await putPlugin();
    const secret = join(top, "secret");
    put("secret/SKILL.md", "not yours\n");
    const swapping = `
      const { renameSync, rmSync, symlinkSync } = require("node:fs");
      const wait = () => { for (const end = performance.now() + 3 * Math.random(); performance.now() < end; ); };
      for (;;) {
        renameSync("skills/tag", "away");
        symlinkSync(${JSON.stringify(secret)}, "skills/tag");
        wait();
        rmSync("skills/tag");
        renameSync("away", "skills/tag");
        wait();
      }`;
    const swapper = spawn(process.execPath, ["-e", swapping], { cwd: join(top, "plugin"), stdio: "ignore" });
    try {
      for (let count = 0; count < 20; count += 1) {
        const { code } = await run("plugins", "add", "../plugin", "--apply");
        const texts = await Promise.all(
          ["skills/tag/SKILL.md", "plugins/tools/files/skills/tag/SKILL.md"].map((name) =>
            ours(name).catch(() => ""),
          ),
        );
        expect(texts.join("")).not.toContain("not yours");
        if (code === 0) await run("plugins", "remove", "tools");
      }
    } finally {
      swapper.kill("SIGKILL");
      await once(swapper, "exit");
    }
  }, 120_000);

  it.each([
    ["no manifest", undefined],
    ["another version", { ...manifest(), $schema: `${SCHEMA.replace("1.0.0", "2.0.0")}plugin.schema.json` }],
    ["a name in capitals", manifest({ name: "Tools" })],
    ["a name that leads elsewhere", manifest({ name: "../x" })],
    ["a version that is no text", manifest({ version: 1 })],
    ["a manifest that is not JSON", "{"],
  ])("refuses a folder with %s", async (_, content) => {
    if (content !== undefined) put("plugin/plugin.json", content);
    else put("plugin/other.json", "{}");
    const { code, stdout, stderr } = await run("plugins", "add", "../plugin", "--apply");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("plugin.json");
    expect(existsSync(join(top, "burin/plugins"))).toBe(false);
  });

  it("leaves each part that is broken or leads out of the plugin, says so, and takes the others", async () => {
    put("secret/SKILL.md", "---\ndescription: secret\n---\n");
    put("plugin/plugin.json", manifest({ unknown: 1 }));
    put("plugin/skills/good/SKILL.md", "---\ndescription: good\n---\n");
    put("plugin/skills/bad name/SKILL.md", "x");
    put("plugin/hooks/hooks.json", "{}");
    await symlink(join(top, "secret"), join(top, "plugin/skills/linked"));
    put(
      "plugin/mcp.json",
      servers({
        good: { type: "streamable-http", url: "https://example.org/mcp" },
        plain: { type: "streamable-http", url: "http://example.org/mcp" },
        out: { type: "stdio", command: "../bin/x" },
        absolute: { type: "stdio", command: "/bin/sh" },
        odd: { type: "stdio", command: "node", shell: true },
        far: { type: "stdio", command: "node", cwd: `\${PLUGIN_ROOT}/../..` },
        reserved: { type: "stdio", command: "node", env: { PLUGIN_ROOT: "/" } },
      }),
    );
    const { code, stdout } = await run("plugins", "add", "../plugin", "--apply");
    expect(code).toBe(0);
    for (const part of [
      "unknown",
      "skills/bad name",
      "hooks",
      "linked",
      "plain",
      "out",
      "absolute",
      "odd",
      "far",
      "reserved",
    ])
      expect(stdout.slice(stdout.indexOf("Left"))).toContain(part);
    expect(Object.keys(JSON.parse(await ours("settings.json")).mcpServers)).toEqual(["tools-good"]);
    expect(existsSync(join(top, "burin/skills/good/SKILL.md"))).toBe(true);
    expect(existsSync(join(top, "burin/skills/linked"))).toBe(false);
  });

  it("leaves skills and commands behind links, which are not copied, and says so", async () => {
    await putPlugin();
    await symlink("tag", join(top, "plugin/skills/linked"));
    await symlink("greet.md", join(top, "plugin/commands/hello.md"));
    const { code, stdout } = await run("plugins", "add", "../plugin", "--apply");
    expect(code).toBe(0);
    expect(stdout).toContain("skills/linked/SKILL.md: it is not a file of the plugin");
    expect(stdout).toContain("commands/hello.md: it is not a file of the plugin");
    expect((await run("plugins", "list")).stdout).toContain("tag, greet, ");
  });

  it("says what is wrong with a place, a marketplace and a record, and changes nothing", async () => {
    const market = (source: unknown) => ({ plugins: [{ name: "one", source }] });
    await putPlugin("project/market-evil");
    const wrong: [file: string, content: string | object, why: string][] = [
      ["half.json", "{", "half.json is not valid JSON"],
      ["list.json", [], "must be"],
      ["text.json", { plugins: "one" }, "must be"],
      ["nothing.json", { plugins: [null] }, "must be"],
      ["number.json", market(5), "must be"],
      ["empty.json", { plugins: [] }, "it lists none"],
      ["far.json", market({ url: "nowhere" }), "in a way that Burin knows"],
      ["gone.json", market("./gone"), "gone does not exist"],
      ["market/marketplace.json", market("../market-evil"), "outside the marketplace"],
    ];
    for (const [file, content, why] of wrong) {
      put(`project/${file}`, content);
      expect(await run("plugins", "add", file, "one")).toEqual(matchFailure(2, why));
    }
    expect((await run("plugins", "add", "../nowhere")).stderr).toContain("nowhere does not exist");
    put("burin/plugins/tools/installed.json", "[]");
    for (const words of [["list"], ["update"], ["remove", "tools"]])
      expect(await run("plugins", ...words)).toEqual(matchFailure(2, "installed.json"));
  });

  it("a full disk leaves nothing of a new plugin, and an update that it ended is made up for by the next", async () => {
    await putPlugin();
    const full = (...args: string[]) => {
      // The system ends each write after a kilobyte, as a disk does that has no more room.
      const shell = ["-c", 'ulimit -f 1; "$@"', "bash", process.execPath, BURIN, "plugins", ...args];
      const env = { PATH: process.env.PATH, HOME: top, BURIN_HOME: join(top, "burin") };
      return spawnSync("bash", shell, { cwd: join(top, "project"), env, encoding: "utf8" });
    };
    const long = "---\nname: tag\ndescription: longer\n---\n".padEnd(9000, "Tag it.\n");
    put("plugin/skills/tag/SKILL.md", long);
    const said = "tools could not be written, and nothing of it was kept: file too large (EFBIG)";
    expect(full("add", "../plugin", "--apply")).toMatchObject({ status: 2, stderr: `burin: ${said}\n` });
    const left = ["plugins/tools", "skills/tag", "commands/greet.md"];
    expect(left.filter((name) => existsSync(join(top, "burin", name)))).toEqual([]);
    put("plugin/skills/tag/SKILL.md", "---\nname: tag\ndescription: short\n---\n");
    expect((await run("plugins", "add", "../plugin", "--apply")).code).toBe(0);
    put("plugin/skills/tag/SKILL.md", long);
    expect(full("update", "--apply")).toMatchObject({ status: 1, stderr: `burin: tools: ${said}\n` });
    expect(left.filter((name) => existsSync(join(top, "burin", name)))).toEqual(["plugins/tools"]);
    expect((await run("plugins", "update", "--apply")).stdout).toContain("Updated.");
    expect(await ours("skills/tag/SKILL.md")).toBe(long);
  });
});
