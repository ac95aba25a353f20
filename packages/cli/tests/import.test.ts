import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BURIN, burin, matchFailure } from "./burin.ts";
import {
  type Agent,
  continueSession,
  HOME,
  hashFolder,
  ID,
  importFrom,
  PLACES,
  putRecord,
  readOurs,
  root,
  run,
} from "./import-room.ts";
import { put, root as top } from "./project.ts";

describe("burin import", () => {
  it.each(Object.keys(PLACES) as Agent[])(
    "%s: shows its session, takes it, and burin -c goes on with it",
    async (agent) => {
      await putRecord(agent);
      const before = await hashFolder(top);
      const shown = await run("import", "--from", agent);
      expect(shown).toMatchObject({ code: 0, stderr: "" });
      expect(shown.stdout).toMatch(new RegExp(`2026-11-22 {2}${agent}-.* {2}Look at a.txt and say hello.\n`));
      expect(await hashFolder(top)).toBe(before);
      expect(await importFrom(agent)).toMatchObject({ code: 0 });
      const { ended, messages } = await continueSession("-c", "-p", "And now?");
      expect(ended).toMatchObject({ code: 0, stdout: "Going on.\n" });
      const [, prompt, calls, first, second, answer, next] = messages;
      expect(prompt).toEqual({ role: "user", content: "Look at a.txt and say hello." });
      expect(calls?.content).toBe("I will look.");
      const asked = calls?.tool_calls?.map(({ function: { name, arguments: args } }) => [
        name,
        JSON.parse(args),
      ]);
      expect(asked?.[0]).toEqual(["run_shell_command", expect.objectContaining({ command: "echo hello" })]);
      const read = { absolute_path: join(root, "a.txt") };
      const cat = ["run_shell_command", { command: "cat a.txt" }];
      expect(asked?.[1]).toEqual(agent === "codex" ? cat : ["read_file", expect.objectContaining(read)]);
      expect([first?.content, second?.content]).toEqual([
        expect.stringContaining("hello"),
        expect.stringMatching(/one\n.*two/),
      ]);
      expect(answer).toEqual({ role: "assistant", content: "It has two lines: one and two." });
      expect(next).toEqual({ role: "user", content: "And now?" });
      expect(messages).toHaveLength(8 - 1);
    },
  );

  it("lists what each agent has here, and nothing where there is none", async () => {
    await putRecord("claude");
    put(".codex/AGENTS.md", "Say please.\n");
    const { stdout } = await run("import");
    expect(stdout).toContain("claude  Claude Code: 1 session\n");
    expect(stdout).toContain("codex   Codex: 1 memory file\n");
    expect(stdout).toContain("gemini  Gemini CLI: nothing\n");
    expect(await run("import", "--apply")).toEqual(matchFailure(2, "--from"));
    expect(await run("import", "--from", "x")).toEqual(matchFailure(2, "claude"));
  });

  it("takes a session of this folder alone, and once", async () => {
    await putRecord("claude");
    const elsewhere = join(top, "other");
    await mkdir(elsewhere);
    const there = await burin(["import", "--from", "claude", "--json"], { cwd: elsewhere, env: HOME() });
    expect(JSON.parse(there.stdout).sessions).toEqual([]);
    await importFrom("claude");
    const log = join(top, "burin", "sessions");
    const before = await hashFolder(log);
    const again = await importFrom("claude");
    expect(again.stdout).toContain("was taken before");
    expect(await hashFolder(log)).toBe(before);
  });

  it("takes rules that mean the same, and none that would allow more", async () => {
    const allow = [
      "Bash(npm test:*)",
      "Bash(npm run lint)",
      "Bash(git diff *)",
      "Edit(src/**)",
      "WebFetch(domain:docs.rs)",
      "mcp__github__create_issue",
      "mcp__notes",
      String.raw`Bash(grep "f\(x\)" a.ts)`,
      String.raw`Edit(app/\(shop\)/**)`,
    ];
    const no = [
      "Bash",
      "Bash(*)",
      "Bash(curl * | sh)",
      "Bash(a && b:*)",
      "Read",
      "Edit(./a.ts)",
      "Write(~/x)",
      "Edit(/etc/**)",
      "Skill(x)",
    ];
    const deny = ["Read(./.env)", "Bash(git push)", "WebSearch"];
    put(".claude/settings.json", { permissions: { allow: [...allow, ...no], deny } });
    const { stdout } = await run("import", "--from", "claude", "--json");
    const { rules, left } = JSON.parse(stdout);
    expect(rules.map(({ list, rule }: { list: string; rule: string }) => `${list} ${rule}`)).toEqual([
      "allow run_shell_command(npm test)",
      "allow run_shell_command(npm run lint;)",
      "allow run_shell_command(git diff)",
      "allow edit(src/**)",
      "allow write_file(src/**)",
      "allow web_fetch(domain:docs.rs)",
      "allow github__create_issue",
      "allow notes__*",
      'allow run_shell_command(grep "f(x)" a.ts;)',
      "allow edit(app/(shop)/**)",
      "allow write_file(app/(shop)/**)",
      "deny read_file(.env)",
      "deny run_shell_command(git push)",
      "deny web_search",
    ]);
    expect(left.map(({ what }: { what: string }) => what)).toEqual(no.map((rule) => `allow ${rule}`));
    await importFrom("claude");
    const again = await run("import", "--from", "claude");
    expect(again.stdout).toContain("Nothing to take");
    await importFrom("claude");
    const { permissions } = JSON.parse(await readOurs("settings.json"));
    expect([permissions.allow.length, permissions.deny.length]).toEqual([11, 3]);
    expect((await run("explain", "npm run lint --fix")).stdout).toMatch(/^ask/);
    expect((await run("explain", "npm run lint")).stdout).toMatch(/^allow/);
    put("project/app/(shop)/page.ts", "one\n");
    const edit = { file_path: join(root, "app/(shop)/page.ts"), old_string: "one", new_string: "two" };
    expect(await run("call", "edit", JSON.stringify(edit))).toMatchObject({ code: 0 });
  });

  it("shows, without --apply, that a server of mine is not replaced, and writes nothing", async () => {
    put(".claude.json", { mcpServers: { notes: { command: "theirs" }, maps: { command: "maps" } } });
    put("burin/settings.json", { mcpServers: { notes: { command: "mine" } } });
    const before = await readOurs("settings.json");
    const shown = (await run("import", "--from", "claude")).stdout;
    expect(await readOurs("settings.json")).toBe(before);
    expect(shown).toContain("MCP server notes: your settings have one of that name");
    expect(shown).not.toContain("theirs");
    expect((await run("import")).stdout).toContain("claude  Claude Code: 1 MCP server; left: 1\n");
    expect((await importFrom("claude")).stdout.split("\n").slice(1, -1)).toEqual(
      shown.split("\n").slice(1, -2),
    );
  });

  it("takes rules that lie in the project only when it is told to, and for that project alone", async () => {
    const rules = JSON.stringify({ permissions: { allow: ["Bash(make:*)"], deny: ["Bash(make clean)"] } });
    put("project/.claude/settings.local.json", rules);
    expect((await importFrom("claude")).stdout).toContain("it lies in the project: add --project to take it");
    expect((await run("explain", "make all")).stdout).toMatch(/^ask/);
    expect((await importFrom("claude", "--project")).stdout).toContain("write it into .burin/settings.json");
    expect((await run("explain", "make all")).stdout).toMatch(/^allow/);
    expect((await burin(["explain", "make all"], { cwd: top, env: HOME() })).stdout).toMatch(/^ask/);
  });

  it("says what lies in the project itself, whichever agent it is of", async () => {
    const rules = { permissions: { allow: ["Bash(make:*)"] }, hooks: { Stop: [] } };
    await put("project/.claude/settings.json", JSON.stringify(rules));
    await put("project/.claude/commands/review.md", "Review it.\n");
    await put(
      "project/.gemini/settings.json",
      JSON.stringify({ mcpServers: { notes: { command: "notes" } } }),
    );
    const { stdout } = await run("import");
    expect(stdout).toContain("Claude Code: nothing; left: 2\n");
    expect(stdout).toContain("Gemini CLI: nothing; left: 1\n");
    const { stdout: claude } = await importFrom("claude", "--project");
    expect(claude).toMatch(/setting hooks of \S*settings\.json: write what you need of it into/);
    expect(claude).toMatch(/\.claude\/commands: copy what you need/);
    expect((await run("explain", "make all")).stdout).toMatch(/^allow/);
    expect((await importFrom("gemini", "--project")).stdout).toContain(
      "MCP server notes of this folder: add it with",
    );
  });

  it("leaves Burin itself, where another agent has it as its MCP server", async () => {
    const node =
      "[mcp_servers.two]\ncommand = 'node'\nargs = ['/opt/burin/dist/burin.cjs', 'serve', 'mcp']\n";
    await put(".codex/config.toml", `[mcp_servers.one]\ncommand = 'burin'\nargs = ['serve', 'mcp']\n${node}`);
    const { stdout } = await importFrom("codex");
    expect(stdout.match(/MCP server (?:one|two): it is Burin itself/g)).toHaveLength(2);
  });

  it("P54 Codex and Claude Code: a server gets the $ that they do not take for a variable as it is", async () => {
    const braced = `$\{WORD}`;
    const says = `require("node:fs").writeFileSync(process.env.FILE, JSON.stringify(process.env))`;
    const of = (name: string) => ({
      command: process.execPath,
      args: ["-e", says],
      env: { FILE: join(top, name), BARE: "$WORD", INNER: "a$WORD", BRACED: braced, A$B: "x" },
    });
    const { env } = of("codex");
    const toml = Object.entries(env).map(([name, value]) => `'${name}' = '${value}'`);
    put(
      ".codex/config.toml",
      `[mcp_servers.codex]\ncommand = '${process.execPath}'\nargs = ['-e', '${says}']\nenv = { ${toml} }\n`,
    );
    put(".claude.json", { mcpServers: { claude: of("claude") } });
    for (const name of ["codex", "claude"] as const) {
      await importFrom(name);
      await burin(["mcp", "test", name], { cwd: root, env: { ...HOME(), WORD: "said" } });
      const got = JSON.parse(await readFile(join(top, name), "utf8"));
      expect(got).toMatchObject({ BARE: "$WORD", INNER: "a$WORD", A$B: "x" });
      expect(got.BRACED).toBe(name === "codex" ? braced : "said");
    }
  });

  it("Codex: takes prefix rules, servers, a service of the user's own and AGENTS.md, and says what it leaves", async () => {
    put(
      ".codex/config.toml",
      `model = "m1"\nmodel_provider = "own"\nsandbox_mode = "read-only"\n[model_providers.own]\nbase_url = "http://127.0.0.1:9/v1"\nenv_key = "OWN_KEY"\nwire_api = "chat"\n[mcp_servers.notes]\ncommand = "node"\nargs = ["serve.js"]\nenv = { TOKEN = "very-secret" }\nstartup_timeout_sec = 20\n[mcp_servers.far]\nurl = "https://example.org/mcp"\nbearer_token_env_var = "FAR_TOKEN"\nenabled = false\n`,
    );
    put(
      ".codex/rules/default.rules",
      `prefix_rule(\n    pattern = ["git", ["status", "log"]],\n    decision = "allow",\n)\nprefix_rule(pattern=["rm"], decision="forbidden")\nprefix_rule(pattern=["a b; c"], decision="allow")\n`,
    );
    put(".codex/AGENTS.md", "Say please.\n");
    const shown = await run("import", "--from", "codex");
    expect(shown.stdout).toContain("notes: node serve.js  (with TOKEN)");
    expect(shown.stdout).not.toContain("very-secret");
    expect(shown.stdout).toContain("setting sandbox_mode: ");
    await importFrom("codex");
    await importFrom("codex");
    expect(JSON.parse(await readOurs("settings.json"))).toEqual({
      permissions: {
        allow: ["run_shell_command(git status)", "run_shell_command(git log)"],
        deny: ["run_shell_command(rm)"],
      },
      mcpServers: {
        notes: { command: "node", args: ["serve.js"], env: { TOKEN: "very-secret" }, startTimeout: 20_000 },
        far: {
          url: "https://example.org/mcp",
          disabled: true,
          headers: { Authorization: "Bearer $FAR_TOKEN" },
        },
      },
      model: { provider: "openai", name: "m1", baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "OWN_KEY" },
    });
    expect(await readOurs("AGENTS.md")).toBe("<!-- from Codex -->\n\nSay please.\n");
  });

  it("Gemini CLI and Qwen Code: takes tools, policies, servers and memory, with comments in settings", async () => {
    const settings = {
      mcpServers: { a: { httpUrl: "https://example.org/mcp", trust: true } },
      tools: { allowed: ["run_shell_command(git status)"], exclude: ["google_web_search"], sandbox: true },
      context: { fileName: "NOTES.md" },
      ui: { theme: "x" },
    };
    put(".gemini/settings.json", `// mine\n${JSON.stringify(settings)}`);
    put(
      ".gemini/policies/own.toml",
      `[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = ["npm test", "make"]\ndecision = "ask_user"\npriority = 100\n[[rule]]\ntoolName = "glob"\nargsPattern = "x"\ndecision = "deny"\n`,
    );
    put(".gemini/NOTES.md", "Of Gemini.");
    const { stdout } = await importFrom("gemini");
    expect(stdout).toContain("setting tools.sandbox: ");
    expect(stdout).toContain("conditions that a rule of Burin cannot have");
    expect(JSON.parse(await readOurs("settings.json"))).toEqual({
      permissions: {
        allow: ["run_shell_command(git status;)"],
        ask: ["run_shell_command(npm test)", "run_shell_command(make)"],
      },
      mcpServers: { a: { httpUrl: "https://example.org/mcp" } },
      context: { fileNames: ["AGENTS.md", "NOTES.md"] },
      tools: { exclude: ["web_search"] },
    });
    put(".qwen/settings.json", { permissions: { deny: ["Bash(rm *)"] } });
    put(".qwen/QWEN.md", "Of Qwen.");
    await importFrom("qwen");
    expect(JSON.parse(await readOurs("settings.json")).permissions.deny).toEqual(["run_shell_command(rm)"]);
    expect(await readOurs("AGENTS.md")).toBe(
      "<!-- from Gemini CLI -->\n\nOf Gemini.\n\n<!-- from Qwen Code -->\n\nOf Qwen.\n",
    );
  });

  it("Gemini CLI and Qwen Code: takes settings of the first versions, which had no groups", async () => {
    const settings = {
      contextFileName: "NOTES.md",
      excludeTools: ["glob"],
      allowedTools: ["ShellTool(make)"],
    };
    put(".gemini/settings.json", { ...settings, theme: "x" });
    put(".gemini/NOTES.md", "Of Gemini.");
    expect((await importFrom("gemini")).stdout).toContain("setting theme: ");
    expect(JSON.parse(await readOurs("settings.json"))).toEqual({
      permissions: { allow: ["run_shell_command(make;)"] },
      context: { fileNames: ["AGENTS.md", "NOTES.md"] },
      tools: { exclude: ["glob"] },
    });
    expect(await readOurs("AGENTS.md")).toContain("Of Gemini.");
  });

  it("leaves what was taken back, answers calls that have no answer, and writes no secrets", async () => {
    const line = ([uuid, parentUuid]: readonly [string, string | null], content: unknown, type = "user") =>
      `${JSON.stringify({ type, uuid, parentUuid, cwd: root, timestamp: "2026-11-22T10:00:00.000Z", message: { role: type, content } })}\n`;
    const token = `ghp_${"a1B2".repeat(9)}`;
    const use = { type: "tool_use", id: "t1", name: "NotOurs", input: { x: 1 } };
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" } };
    const text = [
      line(["1", null], "First."),
      line(["2", "1"], [{ type: "text", text: "Answer that was taken back." }], "assistant"),
      line(["3", "1"], [{ type: "text", text: `My token is ${token}` }, image]),
      "{ half a li\n",
      line(["4", "3"], [use], "assistant"),
      line(["5", "4"], "<command-name>/clear</command-name>"),
      line(["6", "5"], "Second."),
    ].join("");
    put(PLACES.claude(), text);
    await importFrom("claude");
    const record = await readOurs(
      `sessions/${(await readdir(join(top, "burin", "sessions")))[0]}/claude-${ID}.jsonl`,
    );
    expect(record).not.toContain(token);
    const { messages } = await continueSession("-c", "-p", "Third.");
    const said = JSON.stringify(messages);
    expect(said).not.toContain("taken back");
    expect(said).toContain("aGVsbG8=");
    expect(said).not.toContain("/clear");
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
    expect(messages[2]?.tool_calls?.[0]?.function.name).toBe("NotOurs");
    expect(messages[3]?.content).toContain("not in the record");
  });

  it("says which file is broken, takes the rest, and keeps what the user has", async () => {
    put(".codex/config.toml", "model = \n");
    put(".codex/AGENTS.md", "Say please.\n");
    put("burin/AGENTS.md", "Mine.");
    const { code, stdout } = await importFrom("codex");
    expect([code, stdout]).toEqual([0, expect.stringContaining(join(top, ".codex/config.toml"))]);
    expect(await readOurs("AGENTS.md")).toBe("Mine.\n\n<!-- from Codex -->\n\nSay please.\n");
    put(".qwen/settings.json", { mcpServers: { a: { command: "theirs" } } });
    put("burin/settings.json", '{\n  // mine\n  "mcpServers": { "a": { "command": "mine" } }\n}\n');
    expect((await importFrom("qwen")).stdout).toContain("your settings have one of that name");
    expect(await readOurs("settings.json")).toContain("// mine");
    expect(await readOurs("settings.json")).not.toContain("theirs");
  });

  it("says of each key of a server, a list of rules and an extension that it is not taken", async () => {
    const permissions = { allow: [], disableBypassPermissionsMode: "disable" };
    const ctx = { command: "npx", args: ["-y", "ctx"], alwaysAllow: ["look"] };
    put(".claude/settings.json", { permissions, mcpServers: { ctx } });
    put(
      ".codex/config.toml",
      '[mcp_servers.win]\ncommand = "x"\nstartup_timeout_ms = 20000\nenv_vars = ["TOKEN"]\nrequired = true\n',
    );
    const gh = { httpUrl: "https://example.org/mcp/", trust: true, oauth: { enabled: true } };
    put(".gemini/settings.json", { mcpServers: { gh } });
    put(".gemini/extensions/ctx/gemini-extension.json", "{}");
    const shown = async (agent: Agent) => (await run("import", "--from", agent)).stdout;
    expect(await shown("claude")).toContain("permissions.disableBypassPermissionsMode: ");
    expect(await shown("claude")).toContain("alwaysAllow of MCP server ctx: its tools ask");
    const codex = await shown("codex");
    for (const key of ["env_vars", "required"]) expect(codex).toContain(`${key} of MCP server win: `);
    expect(codex).not.toContain("startup_timeout_ms");
    const gemini = await shown("gemini");
    for (const key of ["trust", "oauth"]) expect(gemini).toContain(`${key} of MCP server gh: `);
    expect(gemini).toContain("extensions/ctx: ");
    await importFrom("codex");
    expect(JSON.parse(await readOurs("settings.json")).mcpServers.win).toMatchObject({
      startTimeout: 20_000,
    });
  });

  it("a full disk: says what was not written, ends with 1, leaves nothing half written, and takes it later", async () => {
    await putRecord("claude");
    const mcpServers = { here: { command: "server" } };
    put(".claude/settings.json", { permissions: { allow: ["Bash(ls)"] }, mcpServers });
    put(".claude/CLAUDE.md", "Say please.\n".repeat(200));
    // The system ends each write after a kilobyte, as a disk does that has no more room.
    const words = [BURIN, "import", "--from", "claude", "--apply"];
    const shell = ["-c", 'ulimit -f 1; "$@"', "bash", process.execPath, ...words];
    const env = { PATH: process.env.PATH, ...HOME() };
    const { status, stdout } = spawnSync("bash", shell, { cwd: root, env, encoding: "utf8" });
    const [taken, refused] = stdout.split("Not written\n");
    expect([status, taken]).toEqual([1, expect.stringContaining("here: server")]);
    expect(taken).not.toMatch(/Sessions of|CLAUDE.md/);
    expect(refused).toMatch(/^ {2}.*CLAUDE.md: .*\(EFBIG\).*\n {2}session claude-.*\(EFBIG\)\n$/);
    const left = await readdir(join(top, "burin"), { recursive: true, withFileTypes: true });
    expect(left.filter((one) => one.isFile()).map(({ name }) => name)).toEqual(["settings.json"]);
    const later = await importFrom("claude");
    expect([later.code, later.stdout]).toEqual([0, expect.stringMatching(/^Taken .*\nSessions of /)]);
    expect(await readOurs("AGENTS.md")).toContain("Say please.");
  });

  it("says that there is nothing to take", async () => {
    for (const more of [[], ["--apply"]])
      expect(await run("import", "--from", "codex", ...more)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Nothing to take from Codex \(.*\.codex\)\.\n$/),
      });
  });
});
