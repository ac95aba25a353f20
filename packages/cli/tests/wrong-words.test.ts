import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { describe, expect, it } from "vitest";
import { findOwnCommand } from "../src/commands/slash-commands.ts";
import { OPTIONS } from "../src/request/option-table.ts";
import { COMMANDS_WITH_ACTIONS, FOREIGN_COMMANDS } from "../src/request/words-elsewhere.ts";
import { SUBCOMMANDS } from "../src/subcommands.ts";
import { BURIN, burin } from "./burin.ts";
import { modelEnv } from "./fake-model.ts";

describe("a command line that cannot be meant", () => {
  it.each([
    ["sessions --root nowhere", "{}/nowhere does not exist."],
    ["import --root a.txt", "{}/a.txt is not a folder."],
    ["undo --root=", '"" does not exist.'],
    ["tools --include-directories nowhere", "{}/nowhere does not exist."],
    ["trust yes nowhere", "{}/nowhere does not exist."],
    ["help fleet run", 'burin help takes fewer words. If it is a prompt, say so: burin -p "help ..."'],
    ["explain ls -la", "quote the command"],
    ["explain", "name a command"],
    ["tools --jsn", "See burin help tools."],
    ["tools --deny edit(", '--deny: "edit(" is not a rule'],
    ["--modle x -p hi", "there is no option --modle; did you mean --model? See burin --help."],
    ["--prompt=hi", "did you mean -p?"],
    ["--allowedTools Bash -p hi", "did you mean --allow?"],
    ["tools --yolo", "did you mean --yes?"],
    ["mcp add -e K=v a b", "there is no option -e; did you mean --env? See burin help mcp."],
    ["mcp add x -s user -- echo hi", "did you mean --scope? See burin help mcp."],
    ["-o json -p hi", "did you mean --output-format?"],
    ["--verbose -p hi", "did you mean --output-format stream-json (it has everything)?"],
    ["--skip-git-repo-check -p hi", "did you mean to leave it out (Burin needs no git"],
    ["--effort high -p hi", 'did you mean "model": {"reasoning": "high"}'],
    ["help exec", 'there is no command "exec". Did you mean burin -p "prompt"?'],
    ["mcp add --scop project a b", "did you mean --scope? See burin help mcp."],
    ["--budget -p hi", "--budget needs a value: --budget AMOUNT  stop at 200k"],
    ["-p hi --confirm", "--confirm needs a value: --confirm stdin  with stream-json in and out"],
    ["-r", "-r without an ID lists the sessions only in the app: name one (see burin sessions list)"],
    ["-r -p hi", "-r without an ID lists the sessions only in the app"],
    ["-r --model doctor", "-r without an ID lists the sessions only in the app"],
    ["-r --fork", "--fork needs -c, or -r with an ID."],
    ["-p -1_is_less_than_0", "there is no option -1; did you mean -- before a prompt that begins with -?"],
    ["login", "did you mean burin alone (it asks for a service and its key)"],
    ["update", "did you mean npm i -g burin@latest?"],
    ["exec words", 'there is no command "exec"; did you mean burin -p "prompt"?'],
    ["hooks", "did you mean /hooks in the app?"],
    ["rewind", "did you mean /back in the app?"],
    ["acp", "did you mean burin serve acp?"],
    ["config set model.name gpt-5", "did you mean ~/.burin/settings.json?"],
    ["share", "did you mean /export in the app"],
    ["schedule add nightly 0_3_*_*_* prompt", "did you mean cron, with burin -p"],
    ["threads share 17", "did you mean burin sessions list?"],
    ["logout", "to unset the variable with the key"],
    ["apply", "did you mean burin undo"],
    ["status", "did you mean burin doctor?"],
    ["auth login openai now", "did you mean burin alone (it asks for a service and its key)"],
    ["resume --last", "there is no option --last; did you mean -c?"],
    ["--search -p hi", 'did you mean "web": {"search": {"provider": "tavily"}}'],
    ["undo -w feature", "there is no option -w"],
    ["--allow-all-tools -p hi", "did you mean --yes?"],
    ["--max-budget-usd 2 -p hi", "did you mean --budget?"],
    ["--oss hi", "did you mean export OPENAI_BASE_URL="],
    ["--fork hi", "--fork needs -c, or -r with an ID."],
    ["--fork", "--fork needs -c, or -r with an ID."],
    ["--disallowedTools Bash -p hi", "did you mean --deny?"],
    ["--format json -p hi", "did you mean --output-format?"],
    ["--full-auto hi", "did you mean --approval-mode auto-edit?"],
    ["--dangerously-bypass-approvals-and-sandbox hi", "did you mean --yes?"],
    ["call read_file {} --yes --approval-mode plan", "cannot be combined with plan"],
  ])("P54 is refused with what to write, and nothing happens: burin %s", async (line, message) => {
    const cwd = createTemporaryFolder();
    await writeFile(join(cwd, "a.txt"), "");
    const { code, stdout, stderr } = await burin(line.split(" "), { cwd, env: { HOME: cwd } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message.replace("{}", cwd));
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("P54 words that begin a prompt stay one: in quotes, after -p, and where they are many", async () => {
    const cwd = createTemporaryFolder();
    const prompts = [
      ["config of the linter: what does it say?"],
      ["share the code between both parsers"],
      ["-p", "share"],
      ["apply", "the", "same", "fix", "everywhere"],
      ["update", "the", "list", "of", "users"],
    ];
    for (const words of prompts) {
      const env = { ...(await modelEnv({ text: "Answer." })), HOME: cwd };
      expect(await burin(words, { cwd, env })).toMatchObject({ code: 0, stdout: "Answer.\n" });
    }
  });

  it.each([
    ["/clear", "/clear belongs to the app: start burin and type it there."],
    ["/new", "/new belongs to the app, which calls it /clear:"],
    ["/compact the plan", "/compact belongs to the app"],
    ["/clera", "there is no command /clera"],
  ])("P54 a command of the app is not sent to a model: burin -p %j", async (prompt, words) => {
    const cwd = createTemporaryFolder();
    const env = { ...(await modelEnv()), HOME: cwd };
    const { code, stdout, stderr } = await burin(["-p", prompt], { cwd, env });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(words);
  });

  it("P54 a command of a file wins over one of the app, and text behind a space is text", async () => {
    const cwd = createTemporaryFolder();
    await mkdir(join(cwd, ".burin/commands"), { recursive: true });
    await writeFile(join(cwd, ".burin/commands/clear.md"), "Clear the table.\n");
    for (const prompt of ["/clear", " /context"]) {
      const env = { ...(await modelEnv({ text: "Answer." })), HOME: cwd, BURIN_HOME: join(cwd, ".burin") };
      expect(await burin(["-p", prompt], { cwd, env })).toMatchObject({ code: 0, stdout: "Answer.\n" });
    }
  });

  it("P54 every word of others leads to something that is here, and none is a word of ours", () => {
    const commands = Object.keys(SUBCOMMANDS);
    const options = new Set(OPTIONS.flatMap(({ long, short = long }) => [long, short]));
    const own = new Set(Object.values(SUBCOMMANDS).flatMap(({ ownOptions = {} }) => Object.keys(ownOptions)));
    const seen = new Set<string>();
    for (const [here, names] of FOREIGN_COMMANDS) {
      for (const name of names.trim().split(/\s+/)) {
        expect([name, commands.includes(name), options.has(name), seen.has(name)]).toEqual([
          name,
          false,
          false,
          false,
        ]);
        expect(findOwnCommand(name, FOREIGN_COMMANDS)).toBe(here);
        seen.add(name);
      }
      const [, command] = /\bburin ([a-z]+)\b/.exec(here) ?? [];
      if (command !== undefined && command !== "alone") expect(commands).toContain(command);
      for (const [long] of here.matchAll(/(?<!\S)--[a-z-]+/g))
        expect([here, options.has(long) || own.has(long.slice(2))]).toEqual([here, true]);
    }
    for (const word of COMMANDS_WITH_ACTIONS) expect(seen).toContain(word);
  });

  it.each([
    [{ permissions: { ask: ["edit("] } }, 'permissions.ask: "edit(" is not a rule'],
    [
      { hooks: [{ event: "before_tool", command: "x", tools: "edit(" }] },
      'hooks.tools: "edit(" is not a rule',
    ],
    [{ tools: { include: ["ls", "@(a|b)"] } }, 'tools.include: "@(a|b)" is not a name or glob'],
    [{ tools: { exclude: ["a{1..3}"] } }, 'tools.exclude: "a{1..3}" is not a name or glob'],
  ])("P54 a rule in the settings that is none is named with its place: %j", async (settings, words) => {
    const cwd = createTemporaryFolder();
    const file = join(cwd, "s.json");
    await writeFile(file, JSON.stringify(settings));
    const { code, stderr } = await burin(["tools", "--settings", "s.json"], { cwd, env: { HOME: cwd } });
    expect([code, stderr.split("\n").length]).toEqual([2, 2]);
    expect(stderr).toContain(`burin: ${file}: ${words}`);
  });

  it("P44 a current folder that was removed, or has a name that is not UTF-8, is told in one line", () => {
    const shell = (script: string) =>
      spawnSync("bash", ["-c", `${script}; exec "$@"`, "bash", process.execPath, BURIN, "tools"], {
        cwd: createTemporaryFolder(),
        encoding: "utf8",
      });
    for (const [script, words] of [
      ["mkdir gone; cd gone; rmdir ../gone", "burin: the current folder was removed, or may not be entered."],
      ["mkdir $'a\\xff'; cd $'a\\xff'", "has a name that is not valid UTF-8."],
    ] as const) {
      const { status, stderr } = shell(script);
      expect([status, stderr.split("\n").length]).toEqual([2, 2]);
      expect(stderr).toContain(words);
    }
  });

  it(
    "P44 a user without HOME that the system does not know can work",
    requirePrograms("the user nobody"),
    () => {
      const { status, stderr } = spawnSync(process.execPath, [BURIN, "tools"], {
        ...(process.getuid?.() === 0 && { uid: 54_321, gid: 54_321 }),
        cwd: "/",
        env: { PATH: process.env.PATH },
        encoding: "utf8",
      });
      expect([status, stderr]).toEqual([0, ""]);
    },
  );

  it("P44 a relative folder for temporary files is none of the project", async () => {
    const cwd = createTemporaryFolder();
    const args = ["call", "run_shell_command", '{"command":"echo words"}', "--yes"];
    const { stdout } = await burin(args, { cwd, env: { TMPDIR: "tmp", BURIN_HOME: join(cwd, "home") } });
    expect(stdout).toContain("words");
    expect(readdirSync(cwd)).toEqual(["home"]);
  });

  it("P13 a session that could not be recorded is not offered to go on with", async () => {
    const cwd = createTemporaryFolder();
    const env = { ...(await modelEnv({ text: "Answer." })), BURIN_HOME: "/dev/null" };
    const ended = await burin(["-p", "hi"], { cwd, env });
    expect(ended).toMatchObject({ code: 1, stdout: "Answer.\n" });
    expect(ended.stderr).toContain("cannot be written");
    expect(ended.stderr).not.toContain("go on with");
  });

  it("a folder that is gone can be forgotten, and no plugin is said to be there", async () => {
    const cwd = createTemporaryFolder();
    const run = (...words: string[]) => burin(words, { cwd, env: { HOME: cwd } });
    expect(await run("trust", "forget", "gone")).toMatchObject({ code: 0 });
    expect((await run("plugins", "update")).stdout).toContain("No plugins installed.");
  });
});
