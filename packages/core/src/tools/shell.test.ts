import { readFileSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { blockProcess } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ShellRoom } from "../../tests/shell-room.ts";
import { Shell, type ShellParams } from "./shell.ts";

let room: ShellRoom;
let root: string;

beforeEach(async () => {
  room = await ShellRoom.open();
  root = room.root;
});

afterEach(() => room.close());

const run: ShellRoom["run"] = (...given) => room.run(...given);

describe("run_shell_command", () => {
  it("R41 P21 a command that begins with a hyphen is no option of the shell", async () => {
    for (const command of ["-i", "--version", "-c 'echo ran'"]) {
      const { text } = await run({ command });
      expect(text).toContain("Exit code: 127");
      expect(text).toContain("command not found");
    }
  });

  it("R41 gives output and errors in their order, with exit code, directory and time", async () => {
    const { text, error } = await run({ command: "echo one; echo two >&2; echo three; exit 3" });
    expect(text).toContain("Output:\none\ntwo\nthree\n");
    expect(text).toContain("Exit code: 3\n");
    expect(text).toContain(`Directory: ${root}\n`);
    expect(text).toMatch(/Time: \d+\.\d\d s\n/);
    expect(error).toBeUndefined();
  });

  it("P19 a password in an address is not shown, however git or a file brings it", async () => {
    await run({ command: "git init -q . && git remote add x https://ada:hunter22@example.org/a.git" });
    const ways = [
      "git config --get remote.x.url",
      "git remote get-url x",
      "cat .git/config",
      "git remote -v >&2",
    ];
    for (const command of ways) {
      const { text } = await run({ command });
      expect(text, command).toContain("https://ada:[redacted: password]@example.org/a.git");
      expect(text, command).not.toContain("hunter22");
    }
  });

  it("P8 a command that ends in its time has ended in time, also when Burin was stopped meanwhile", async () => {
    let isStopped = false;
    const { text, error } = await room.run(
      { command: "echo begun; sleep 0.3; echo ended; touch up", timeout: 1000 },
      new AbortController().signal,
      () => {
        if (!isStopped) blockProcess(join(room.root, "up"), 2000);
        isStopped = true;
      },
    );
    expect(isStopped).toBe(true);
    expect(text).toContain("Exit code: 0\n");
    expect(text).toContain("Output:\nbegun\nended\n");
    expect(error).toBeUndefined();
  });

  it("names the signal that ended the command", async () => {
    expect((await run({ command: "kill -KILL $$" })).text).toContain("Signal: SIGKILL");
    expect((await run({ command: "sh -c 'kill -SEGV $$'; exit $?" })).text).toContain(
      "Exit code: 139 (as after SIGSEGV)",
    );
  });

  it("says so when there is no output", async () => {
    expect((await run({ command: "true" })).text).toContain("Output:\n(no output)");
  });

  it("lets a command write to /dev/stderr and /dev/stdout by name", async () => {
    const { text } = await run({ command: "echo a > /dev/stderr; echo b | tee /dev/stderr; echo c" });
    expect(text).toContain("Output:\na\nb\nb\nc\n");
  });

  it("P20 gives the command to the shell byte for byte", async () => {
    const given = `'a "b" \\ \\\\ $HOME \` * 漢字 🙂'`;
    const { text } = await run({ command: `printf '%s\\n' ${given} "x\ny"` });
    expect(text).toContain(`Output:\na "b" \\ \\\\ $HOME \` * 漢字 🙂\nx\ny\n`);
  });

  it("P20 its description names the shell in use", () => {
    const { description } = new Shell(openWorkspace(root), room.commands);
    expect(description).toContain(room.commands.shell.title);
    expect(["bash", "sh"]).toContain(room.commands.shell.kind);
  });

  it("P20 output in another encoding is read", async () => {
    const { text } = await run({
      command:
        "printf '\\304\\343\\272\\303\\243\\254\\312\\300\\275\\347\\241\\243\\263\\314\\320\\362\\323\\353\\316\\304\\274\\376\\n'",
    });
    expect(text).toContain("你好，世界。程序与文件");
  });

  it("P8 a command that reads its input gets its end", async () => {
    expect((await run({ command: "cat; read -r line; echo got:$line:$?" })).text).toContain("got::1");
  });

  it("P8 runs without a terminal, with pagers off and marked", async () => {
    const { text } = await run({
      command: `tty; [ -t 1 ] || echo no terminal; (: < /dev/tty) 2>/dev/null || echo no tty; echo $PAGER $GIT_PAGER $BURIN`,
    });
    expect(text).toContain("not a tty\nno terminal\nno tty\ncat cat 1\n");
  });

  it("shows the person what a terminal would: no colours, progress lines as they end", async () => {
    const { text } = await run({
      command: "printf '\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\nab\\bc\\n\\033]0;title\\007end\\n'",
    });
    expect(text).toContain("Output:\nred\n100%\nac\nend\n");
  });

  it("R9 streams the output while the command runs", async () => {
    const seen: unknown[] = [];
    await run({ command: "echo first; sleep 0.5; echo second" }, undefined, (display) => seen.push(display));
    expect(seen[0]).toBe("first\n");
  });

  it("X6 a relative directory counts from the root, one outside is refused", async () => {
    await mkdir(join(root, "sub"));
    expect((await run({ command: "pwd", directory: "sub" })).text).toContain(`Output:\n${root}/sub\n`);
    await expect(run({ command: "pwd", directory: ".." })).rejects.toThrow("outside");
  });

  it("P52 a missing directory and a deleted root are said, and the next command works again", async () => {
    await expect(run({ command: "true", directory: "none" })).rejects.toThrow("does not exist");
    await writeFile(join(root, "file"), "");
    await expect(run({ command: "true", directory: "file" })).rejects.toThrow("not a directory");
    const shell = new Shell(openWorkspace(root), room.commands);
    const signal = new AbortController().signal;
    await rm(root, { recursive: true });
    await expect(shell.execute({ command: "true" }, signal)).rejects.toThrow("it was deleted or moved");
    await mkdir(root);
    expect(String((await shell.execute({ command: "echo back" }, signal)).llmContent)).toContain("back");
  });

  it("P52 a command that deletes its own directory is reported, and the next one starts afresh", async () => {
    await mkdir(join(root, "gone"));
    const { text } = await run({ command: "rmdir ../gone; echo done", directory: "gone" });
    expect(text).toContain("done");
    expect((await run({ command: "cd sub 2>/dev/null; pwd" })).text).toContain(`Output:\n${root}\n`);
  });

  it("says what to do with a command that is too long, and the next one works", async () => {
    await expect(run({ command: `: ${"x".repeat(200_000)}` })).rejects.toThrow("write_file");
    expect((await run({ command: `echo ${"y".repeat(100_000)}` })).text).toContain("yyy");
  });

  it("P7 a long output: head, tail, counts, and the whole in a file of its owner that read_file may read", async () => {
    const { text } = await run({ command: "seq 1 200000" });
    expect(text.length).toBeLessThan(32_000);
    expect(text).toContain("Output:\n1\n2\n3\n");
    expect(text.endsWith("199999\n200000\n")).toBe(true);
    const [, left, all, bytes, file = ""] =
      /about (\d+) of (\d+) lines left out, of (\d+) bytes in all; the whole output is in (\S+),/.exec(
        text,
      ) ?? [];
    expect(Number(all)).toBe(200_000);
    expect(Number(left)).toBeGreaterThan(190_000);
    const whole = readFileSync(file, "utf8");
    expect(whole.length).toBe(Number(bytes));
    expect(whole).toBe(`${Array.from({ length: 200_000 }, (_, index) => index + 1).join("\n")}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const workspace = openWorkspace(root, [], {
      ignoreFileNames: [],
      ignore: [],
      denied: [],
      readable: [room.commands.outputFolder],
    });
    const range = { offset: 199_998, limit: 2, maxLineCharacters: 100 };
    const signal = new AbortController().signal;
    expect(await workspace.read(file, range, signal)).toMatchObject({ text: "199999\n200000\n" });
    await expect(workspace.write({ file, content: "", basis: null } as never, signal)).rejects.toThrow(
      "outside",
    );
  });

  it("P7 100 MB in one line and in many: memory stays bounded", async () => {
    const before = process.memoryUsage().rss;
    const zeros = await run({ command: "head -c 100000000 /dev/zero | tr '\\0' x" });
    const lines = await run({ command: "yes | head -c 100000000" });
    expect(process.memoryUsage().rss - before).toBeLessThan(120e6);
    expect(zeros.text).toContain("of 100000000 bytes in all");
    expect(lines.text).toContain("of 50000000 lines left out");
    expect(lines.text.length).toBeLessThan(32_000);
  });

  it("notices binary output and keeps it out of the answer", async () => {
    const { text, returnDisplay } = await run({ command: "head -c 100000 /bin/sh" });
    expect(text).toMatch(/\[The output is binary, 100000 bytes; it is kept in \S+\]/);
    expect(String(returnDisplay)).toContain("binary");
    expect((await run({ command: "printf 'a\\0b\\0c\\0'" })).text).toContain("a\nb\nc");
  });

  it("P19 no secret reaches a child: by name, by provider, by value; harmless names do", async () => {
    const canary = "canary-1b2c3d";
    await room.renew(
      {
        ...process.env,
        OPENAI_API_KEY: canary,
        ANTHROPIC_API_KEY: canary,
        MY_MODEL_KEY: canary,
        GITHUB_TOKEN: canary,
        HARMLESS: `ghp_${"a".repeat(36)}`,
        KEYBOARD: "us",
        STORAGE_KEY_PREFIX: "app",
        MONKEY_TOKEN_COUNT: "3",
        DEEPSEEK_API_KEY: "kept by the person",
      },
      ["DEEPSEEK_API_KEY"],
    );
    const { text } = await run({
      command: "env; cat /proc/$PPID/environ /proc/self/environ | tr '\\0' '\\n'",
    });
    expect(text).not.toContain(canary);
    expect(text).not.toContain("ghp_");
    expect(text).toContain("KEYBOARD=us");
    expect(text).toContain("STORAGE_KEY_PREFIX=app");
    expect(text).toContain("MONKEY_TOKEN_COUNT=3");
    expect(text).toContain("DEEPSEEK_API_KEY=kept by the person");
  });

  it("R31 asks first, with the whole command, the directory, and that there is no sandbox", async () => {
    const shell = new Shell(openWorkspace(root), room.commands);
    expect(await shell.shouldConfirmExecute({ command: "make all" })).toMatchObject({
      kind: "exec",
      command: "make all",
      directory: root,
      title: expect.stringContaining("without a sandbox (it is switched off), with your full permissions"),
    });
    expect(await shell.shouldConfirmExecute({ action: "list" })).toBe(false);
    expect(shell.ruleSubjects({ command: "make all" })).toEqual(["make all"]);
  });

  it.each([
    ["no command", {}, '"command" is required'],
    ["an empty command", { command: " " }, "must not be empty"],
    ["a NUL", { command: "a\0b" }, "NUL"],
    ["a timeout above the most", { command: "true", timeout: 600_001 }, "timeout"],
    ["a timeout of nothing", { command: "true", timeout: 0 }, "timeout"],
    ["an unknown key", { command: "true", cwd: "x" }, "cwd"],
    ["an action and a command", { command: "true", action: "list" }, "not both"],
    ["an action without id", { action: "stop" }, "background_id"],
    ["an id without action", { command: "true", background_id: "bg_1" }, "background_id"],
  ])("R30 refuses %s", (_title, params, words) => {
    const shell = new Shell(openWorkspace(root), room.commands);
    expect(shell.validateToolParams(params as ShellParams)).toContain(words);
  });

  it("leaves nothing behind for a command that left nothing", async () => {
    await run({ command: "true" });
    expect((await run({ command: "true" })).text).not.toContain("Left running");
    expect(await room.commands.backgrounds()).toEqual([]);
  });
});
