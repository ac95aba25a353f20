import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { chmod, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { burin, matchFailure } from "./burin.ts";
import { put, root as top } from "./project.ts";

const SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";

beforeEach(() => {
  mkdirSync(join(top, "project"));
});

/** A home whose path has what a shell would take apart. */
const home = () => join(top, "it's a home");
const runIn = (folder: string, ...args: string[]) =>
  burin(args, { cwd: join(top, folder), env: { HOME: top, BURIN_HOME: home() } });
const run = (...args: string[]) => runIn("project", ...args);
const ours = (name: string) => readFile(join(home(), name), "utf8");

async function putPlugin(version: string, skill: string, name = "guards"): Promise<void> {
  await rm(join(top, "plugin"), { recursive: true, force: true });
  put("plugin/plugin.json", { $schema: SCHEMA, name, version });
  put(`plugin/skills/${skill}/SKILL.md`, `---\ndescription: ${version}\n---\nDo it.\n`);
  put(
    "plugin/guard.sh",
    `#!/bin/sh\ntouch "$PLUGIN_DATA/ran"\necho '{"decision":"deny","reason":"${version}"}'\n`,
  );
  await chmod(join(top, "plugin/guard.sh"), 0o755);
  const guard = { event: "before_tool", tools: "list_directory", command: '"$PLUGIN_ROOT/guard.sh"' };
  put("plugin/hooks.json", {
    hooks: [guard, { event: "at_night", command: "x" }, { event: "after_tool", command: "x", tools: "((" }],
  });
}

const look = () => run("call", "list_directory", JSON.stringify({ path: "." }));

describe("hooks of a plugin", () => {
  it("are shown with what they run, run only once it is installed, and go with it", async () => {
    await putPlugin("1.0.0", "one");
    const own = { event: "session_end", command: "true" };
    put("it's a home/settings.json", { hooks: [own] });
    const shown = await run("plugins", "add", "../plugin");
    expect(shown.stdout).toMatch(
      /without asking, and may allow, change or refuse calls\n {2}before_tool of list_directory: export PLUGIN_ROOT=.*; "\$PLUGIN_ROOT\/guard.sh"\n/,
    );
    expect(shown.stdout).toMatch(/Left\n {2}hook 2: .*\n {2}hook 3: /);
    expect((await look()).code).toBe(0);
    expect((await run("plugins", "add", "../plugin", "--apply")).code).toBe(0);
    expect(existsSync(join(home(), "plugins/guards/data/ran"))).toBe(false);
    const refused = await look();
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      expect.not.stringMatching(/^0$/),
      expect.stringContaining("1.0.0"),
    ]);
    expect(existsSync(join(home(), "plugins/guards/data/ran"))).toBe(true);
    expect((await run("plugins", "list")).stdout).toContain("one, hook 1");
    expect((await run("plugins", "remove", "guards")).code).toBe(0);
    expect((await look()).code).toBe(0);
    expect(JSON.parse(await ours("settings.json"))).toEqual({ hooks: [own] });
  });
});

describe("burin plugins update", () => {
  it("notices one byte of a program that is no text", async () => {
    await putPlugin("1.0.0", "one");
    await writeFile(join(top, "plugin/server"), Buffer.of(0x7f, 0x80, 0x81));
    await run("plugins", "add", "../plugin", "--apply");
    await writeFile(join(top, "plugin/server"), Buffer.of(0x7f, 0x80, 0x82));
    expect((await run("plugins", "update", "--apply")).stdout).toContain("Updated.");
    expect(await readFile(join(home(), "plugins/guards/files/server"))).toEqual(Buffer.of(0x7f, 0x80, 0x82));
  });

  it("shows what is new and changes nothing; told to, it replaces all but the plugin's own data", async () => {
    await putPlugin("1.0.0", "one");
    await run("plugins", "add", "../plugin", "--apply");
    put("it's a home/plugins/guards/data/kept", "its own");
    expect((await runIn(".", "plugins", "update")).stdout).toBe("guards 1.0.0: nothing is new.\n");
    await putPlugin("2.0.0", "two");
    const shown = await runIn(".", "plugins", "update", "guards");
    expect(shown.stdout).toMatch(/^Instead of guards 1\.0\.0 \(files \w+\):\nguards 2\.0\.0 \(files \w+\)\n/);
    expect(shown.stdout).toContain("Nothing was changed.");
    expect((await look()).stderr).toContain("1.0.0");
    expect((await runIn(".", "plugins", "update", "--apply")).stdout).toContain("Updated.");
    expect((await look()).stderr).toContain("2.0.0");
    expect([existsSync(join(home(), "skills/one")), existsSync(join(home(), "skills/two"))]).toEqual([
      false,
      true,
    ]);
    expect(await ours("plugins/guards/data/kept")).toBe("its own");
    expect(JSON.parse(await ours("settings.json")).hooks).toHaveLength(1);
  });

  it("P25 is removed once by several at once, with its hooks, and those of others stay", async () => {
    for (const name of ["guards", "watchers"]) {
      await putPlugin("1.0.0", name, name);
      expect((await run("plugins", "add", "../plugin", "--apply")).code).toBe(0);
    }
    const names = ["guards", "guards", "guards", "watchers", "watchers"];
    const ended = await Promise.all(names.map((name) => run("plugins", "remove", name)));
    const told = ended.map(({ code, stdout, stderr }) => `${code} ${stdout}${stderr}`).sort();
    expect(told).toEqual([
      "0 Removed guards.\n",
      "0 Removed watchers.\n",
      expect.stringMatching(/^2 .*there is no plugin "guards"/),
      expect.stringMatching(/^2 .*there is no plugin "guards"/),
      expect.stringMatching(/^2 .*there is no plugin "watchers"/),
    ]);
    expect(await ours("settings.json")).not.toContain("guard.sh");
  });

  it("changes nothing of a plugin that would take the place of something else, or that is gone", async () => {
    await putPlugin("1.0.0", "one");
    await run("plugins", "add", "../plugin", "--apply");
    await putPlugin("2.0.0", "two");
    put("it's a home/skills/two/SKILL.md", "mine");
    const taken = await run("plugins", "update", "guards", "--apply");
    expect(taken).toEqual(matchFailure(2, "the skill two"));
    expect((await look()).stderr).toContain("1.0.0");
    expect(await ours("skills/two/SKILL.md")).toBe("mine");
    put("other/plugin.json", { $schema: SCHEMA, name: "other" });
    await run("plugins", "add", "../other", "--apply");
    put("other/skills/new/SKILL.md", "---\ndescription: new\n---\n");
    await rm(join(top, "plugin"), { recursive: true });
    const all = await run("plugins", "update", "--apply");
    expect(all).toEqual(matchFailure(1, "guards: "));
    expect(existsSync(join(home(), "skills/new/SKILL.md"))).toBe(true);
    expect(await run("plugins", "update", "nobody")).toMatchObject({ code: 2 });
  });
});

describe("skills of a site", () => {
  const servers: Server[] = [];
  const BREAKS_OFF = "breaks off";
  const files = new Map<string, string | Buffer>();
  let site: string;

  beforeEach(async () => {
    files.clear();
    site = await serve();
  });

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function serve(): Promise<string> {
    const server = createServer((request, response) => {
      const text = files.get(request.url ?? "");
      if (text === BREAKS_OFF) {
        response.writeHead(200, { "content-length": "99" }).write("begun");
        setImmediate(() => response.destroy());
      } else response.writeHead(text === undefined ? 404 : 200).end(text);
    });
    servers.push(server);
    return `http://127.0.0.1:${await listenOnFreePort(server)}`;
  }

  const SKILLS = "/.well-known/agent-skills";
  const digest = (text: string | Buffer) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  const skill = (name: string) => `---\nname: ${name}\ndescription: how to ${name}\n---\nDo it.\n`;
  function offer(name: string, more: object = {}) {
    files.set(`${SKILLS}/${name}/SKILL.md`, skill(name));
    return {
      name,
      type: "skill-md",
      description: name,
      url: `${name}/SKILL.md`,
      digest: digest(skill(name)),
      ...more,
    };
  }
  const index = (skills: readonly object[], more: object = {}) =>
    files.set(
      `${SKILLS}/index.json`,
      JSON.stringify({
        $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
        skills,
        ...more,
      }),
    );

  it("are those of its well-known index, all or one, and are updated and removed like a plugin", async () => {
    files.set(`${SKILLS}/many/SKILL.md`, skill("many"));
    files.set(`${SKILLS}/many/scripts/run.sh`, "true\n");
    const many = ["SKILL.md", "scripts/run.sh"].map((path) => ({
      path,
      digest: digest(files.get(`${SKILLS}/many/${path}`) ?? ""),
    }));
    index([offer("one"), { name: "many", files: many }, { name: "packed", type: "folder", url: "x" }]);
    const shown = await run("plugins", "add", site);
    expect(shown.stdout).toMatch(
      /Skills of 127\.0\.0\.1:\d+ [\s\S]*its skills\n {2}many\n {2}one\nLeft\n {2}skill packed: /,
    );
    expect(existsSync(home())).toBe(false);
    await run("plugins", "add", `${site}${SKILLS}/index.json`, "--apply");
    expect(await ours("skills/many/scripts/run.sh")).toBe("true\n");
    expect(await ours("skills/one/SKILL.md")).toBe(skill("one"));
    index([offer("one"), offer("two")]);
    expect((await run("plugins", "update", "--apply")).stdout).toContain("Updated.");
    expect(existsSync(join(home(), "skills/many"))).toBe(false);
    const name = JSON.parse((await run("plugins", "list", "--json")).stdout)[0].name;
    await run("plugins", "remove", name);
    expect((await run("plugins", "add", site, "two", "--apply")).stdout).toContain(".two");
    expect([existsSync(join(home(), "skills/one")), existsSync(join(home(), "skills/two"))]).toEqual([
      false,
      true,
    ]);
    expect((await run("plugins", "add", site, "three")).stderr).toContain('no skill "three": one, two');
  });

  it("are refused where a file is not what the index says, or the index is none", async () => {
    const other = await serve();
    const cases: [string, () => unknown][] = [
      ["is not what", () => index([offer("one"), offer("two", { digest: digest("else") })])],
      ["is not an index of skills", () => index([offer("one")], { $schema: "https://example.org/9.json" })],
      ["is not an index of skills", () => files.set(`${SKILLS}/index.json`, "[]")],
      ["answered 404", () => index([offer("one", { url: "/nowhere" })])],
      ["broke off", () => index([offer("one", { url: "cut" })]) && files.set(`${SKILLS}/cut`, BREAKS_OFF)],
      ["must be https", () => index([offer("one", { url: "http://example.org/SKILL.md" })])],
      ["127.0.0.1", () => index([offer("one", { url: `${other}${SKILLS}/one/SKILL.md` })])],
      ["answered 404", () => files.clear()],
    ];
    for (const [why, prepare] of cases) {
      prepare();
      const { code, stdout, stderr } = await run("plugins", "add", site, "--apply");
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(why)]);
    }
    expect(existsSync(home())).toBe(false);
  });

  it("are left where a name or a path leads elsewhere, a digest is missing, or a file of it is not listed", async () => {
    const listed = (...paths: string[]) => ({
      files: paths.map((path) => ({ path, digest: digest("x") })),
      type: undefined,
    });
    index([
      offer("fine"),
      offer("no-digest", { digest: undefined }),
      offer("up", listed("SKILL.md", "../../settings.json")),
      offer("rooted", listed("SKILL.md", "/etc/x")),
      offer("odd", listed("SKILL.md", "a\\b")),
      offer("bare", listed("README.md")),
      offer("old", { files: ["SKILL.md"], type: undefined }),
      { ...offer("x"), name: "../x" },
      { ...offer("x"), name: "X" },
    ]);
    const { code, stdout } = await run("plugins", "add", site, "--apply");
    expect(code).toBe(0);
    expect(stdout.match(/^ {2}skill .*: /gm)).toHaveLength(8);
    expect(JSON.parse((await run("plugins", "list", "--json")).stdout)[0].skills).toEqual(["fine"]);
  });

  it("may be archives: their files are taken, and none that leads elsewhere", async () => {
    const folder = join(top, "packed");
    put("packed/SKILL.md", skill("packed"));
    put("packed/scripts/run.sh", "true\n");
    put("other", "x");
    await symlink("/etc/passwd", join(folder, "link"));
    const packed = (...words: string[]) => {
      const archive = execFileSync("tar", ["-cz", "-C", folder, ...words]);
      files.set(`${SKILLS}/packed.tar.gz`, archive);
      index([{ name: "packed", type: "archive", url: "packed.tar.gz", digest: digest(archive) }]);
      return run("plugins", "add", site, "packed", "--apply");
    };
    for (const words of [
      ["SKILL.md", "link"],
      ["-P", "SKILL.md", "../other"],
      ["-P", "SKILL.md", join(top, "other")],
    ])
      expect(await packed(...words)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/archive/),
      });
    expect((await packed("scripts")).stdout).toContain("skill packed: it has no SKILL.md");
    await run("plugins", "remove", JSON.parse((await run("plugins", "list", "--json")).stdout)[0].name);
    await rm(join(folder, "link"));
    for (const format of ["--format=ustar", "--format=pax", "--format=gnu"]) {
      expect(await packed(format, ".")).toMatchObject({ code: 0 });
      expect(await ours("skills/packed/SKILL.md")).toBe(skill("packed"));
      expect(await ours("skills/packed/scripts/run.sh")).toBe("true\n");
      await run("plugins", "remove", JSON.parse((await run("plugins", "list", "--json")).stdout)[0].name);
    }
    const broken = Buffer.from("no archive");
    files.set(`${SKILLS}/packed.tar.gz`, broken);
    index([{ name: "packed", type: "archive", url: "packed.tar.gz", digest: digest(broken) }]);
    expect(await run("plugins", "add", site, "--apply")).toMatchObject({ code: 2, stdout: "" });
  });
});
