import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { burin, matchFailure } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

beforeEach(async () => {
  put("a.txt", "alpha\n");
});

async function runner(...replies: FakeReply[]) {
  const env = await modelEnv(...replies);
  return (...args: string[]) => burin(args, { cwd: root, env });
}

const idIn = (stderr: string) => /burin -r (\S+)/.exec(stderr)?.[1] ?? "";
const messagesOf = (index: number) =>
  server.requests[index]?.body.messages as { role: string; content: string }[];

describe("sessions on the command line", () => {
  it("P13 prints an id, and goes on by it or with the last one", async () => {
    const run = await runner({ text: "One." }, { text: "Two." }, { text: "Three." });
    const first = await run("-p", "first");
    const id = idIn(first.stderr);
    expect(id).toMatch(/^\d{8}T\d{6}-/);
    expect((await run("-p", "-c", "second")).stdout).toBe("Two.\n");
    const third = await run("-p", "-r", id, "third");
    expect(idIn(third.stderr)).toBe(id);
    expect(messagesOf(2).filter(({ role }) => role !== "system")).toMatchObject([
      { role: "user", content: "first" },
      { role: "assistant", content: "One." },
      { role: "user", content: "second" },
      { role: "assistant", content: "Two." },
      { role: "user", content: "third" },
    ]);
  });

  it("P13 goes on with the session that was used last, also when the clock was set back before it", async () => {
    const run = await runner({ text: "One." }, { text: "Two." }, { text: "Three." });
    await run("-p", "first");
    const folder = join(root, ".home/sessions");
    const [log = ""] = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".jsonl"));
    const later = Date.now() / 1000 + 3600;
    await utimes(join(folder, log), later, later);
    await run("-p", "second");
    await run("-p", "-c", "third");
    expect(JSON.stringify(messagesOf(2))).toMatch(/^(?!.*first).*second.*third/);
  });

  it("P13 goes on in a folder that was renamed since, as a copy with its new paths", async () => {
    const [home, before, after] = ["home", "before", "after"].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(before);
    await writeFile(join(before, "a.txt"), "alpha\n");
    const writing = { name: "write_file", args: { file_path: join(after, "a.txt"), content: "new\n" } };
    const model = await modelEnv({ text: "One." }, { calls: [writing] }, { text: "Two." });
    const env = { BURIN_HOME: home, ...model };
    const id = idIn((await burin(["-p", "look at @a.txt"], { cwd: before, env })).stderr);
    const elsewhere = await burin(["-p", "-r", id, "x"], { cwd: root, env });
    expect(elsewhere).toEqual(matchFailure(2, `--root '${before}'`));
    await rename(before, after);
    const moved = await burin(["-p", "-r", id, "write it", "-y"], { cwd: after, env });
    expect(moved).toMatchObject({ code: 0, stdout: "Two.\n" });
    expect(idIn(moved.stderr)).not.toBe(id);
    expect(await readFile(join(after, "a.txt"), "utf8")).toBe("new\n");
    expect(JSON.stringify(messagesOf(2))).not.toContain(before);
    const there = await burin(["-p", "-c", "x"], { cwd: root, env });
    expect(there.stderr).toContain("see burin sessions list --all");
  });

  it("P2 P13 lets the model overwrite, in a later run, a file that a prompt has brought with @", async () => {
    const writing = { name: "write_file", args: { file_path: join(root, "a.txt"), content: "new\n" } };
    const run = await runner({ text: "One." }, { calls: [writing] }, { text: "Two." });
    await run("-p", "look at @a.txt");
    expect((await run("-p", "-c", "write it", "-y")).stderr).not.toContain("not overwritten");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("new\n");
  });

  it("R45 shows each call of a subagent, and can be replayed and gone on with", async () => {
    const task = { description: "look", prompt: "look", subagent_type: "explore" };
    const run = await runner(
      { calls: [{ name: "task", args: task }] },
      { calls: [{ name: "read_file", args: { absolute_path: join(root, "none.txt") } }] },
      { text: "There is none." },
      { text: "One." },
      { text: "Two." },
    );
    const id = idIn((await run("-p", "first")).stderr);
    const { stdout } = await run("sessions", "show", id);
    expect(stdout).toMatch(/^\(explore\) +read_file \{"absolute_path":".*none\.txt"\}$/m);
    expect(stdout).toMatch(/^\(explore\) +read_file: .*none\.txt.*does not exist/m);
    expect(await run("replay", id)).toMatchObject({ code: 0 });
    expect((await run("-p", "-c", "second")).stdout).toBe("Two.\n");
  });

  it("P13 goes on without a prompt where a run ended in the middle, and a copy leaves the session alone", async () => {
    const run = await runner(
      { error: { message: "gone", status: 400 } },
      { text: "Now." },
      { text: "Copy." },
    );
    const first = await run("-p", "first");
    expect(first.code).toBe(1);
    expect(await run("-p", "-c")).toMatchObject({ code: 0, stdout: "Now.\n" });
    const copy = await run("-p", "-c", "--fork", "else");
    expect(idIn(copy.stderr)).not.toBe(idIn(first.stderr));
    const again = await run("-p", "-r", idIn(first.stderr), "--output-format", "json");
    expect(JSON.parse(again.stdout)).toMatchObject({ status: "error", error: { type: "nothing_left" } });
  });

  it("P13 lists, shows and removes; what could drive a terminal is shown as escapes", async () => {
    const reading = { name: "read_file", args: { absolute_path: join(root, "a.txt") } };
    put("a.txt", "al\u001b[31mpha\n");
    const run = await runner({ text: "I look.", calls: [reading] }, { text: "One." }, { text: "Two." });
    const id = idIn((await run("-p", "the first\nquestion")).stderr);
    const other = idIn((await run("-p", "another")).stderr);
    const listed = (await run("sessions", "list")).stdout.trimEnd().split("\n");
    expect(listed).toEqual([expect.stringContaining(other), expect.stringContaining(`${id}  20`)]);
    expect(listed[1]).toContain("the first question");
    const shown = (await run("sessions", "show", id)).stdout;
    expect(shown).toContain("you       the first\n          question\n--- turn 1\nmodel     I look.\n");
    expect(shown).toContain("al\\x1b[31mpha");
    expect(shown).not.toContain("\u001b");
    const events = (await run("sessions", "show", id, "--output-format", "stream-json")).stdout;
    expect(JSON.parse(events.split("\n")[0] ?? "")).toMatchObject({ type: "session", sessionId: id });
    expect((await run("sessions", "rm", id)).stdout).toBe(`removed ${id}\n`);
    expect(JSON.parse((await run("sessions", "list", "--json")).stdout)).toMatchObject([
      { id: other, prompt: "another", model: "fake", root, holder: null },
    ]);
    expect(await run("sessions", "rm", id)).toMatchObject({ code: 2 });
  });

  it("P13 lists and shows them in the time zone of the user", async () => {
    const env = { ...(await modelEnv({ text: "One." })), TZ: "Asia/Kolkata" };
    const run = (...args: string[]) => burin(args, { cwd: root, env });
    const id = idIn((await run("-p", "first")).stderr);
    const [{ changed }] = JSON.parse((await run("sessions", "list", "--json")).stdout);
    const there = new Date(changed).toLocaleString("sv-SE", { timeZone: env.TZ });
    expect((await run("sessions", "list")).stdout).toContain(`${id}  ${there.slice(0, 16)}  first`);
    expect((await run("sessions", "show", id)).stdout).toContain(`${there.slice(0, 16)}:`);
  });

  it("P13 says that a log has no record that can be read", async () => {
    const run = await runner({ text: "One." });
    const id = idIn((await run("-p", "first")).stderr);
    const { path } = JSON.parse((await run("sessions", "show", id, "--json")).stdout);
    await writeFile(path, '{"n":1,"at":"20\n');
    const { stdout, stderr } = await run("sessions", "show", id);
    expect(stdout).toBe("");
    expect(stderr).toBe(`burin: ${path} has no record that can be read.\n`);
  });

  it("P23 burin undo takes back what a run did to files, and puts it there again", async () => {
    const content = { file_path: join(root, "b.txt"), content: "b\n" };
    const call = { name: "write_file", args: content };
    const run = await runner({ calls: [call] }, { text: "One." });
    const id = idIn((await run("-p", "write", "-y")).stderr);
    expect((await run("undo", "--list")).stdout).toMatch(new RegExp(`change of b.txt  ${id}\\n$`));
    expect(await run("undo", "--session", id.slice(0, -2))).toMatchObject({
      code: 0,
      stdout: "removed     b.txt\n",
    });
    expect(await readdir(root)).not.toContain("b.txt");
    expect((await run("undo", "--list")).stdout).toContain("(taken back)");
    expect((await run("undo")).stderr).toContain("Redone.");
    put("b.txt", "mine\n");
    expect(await run("undo", "1", "--json")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("refused"),
    });
    await run(
      "call",
      "edit",
      JSON.stringify({ file_path: join(root, "a.txt"), old_string: "alpha", new_string: "x" }),
      "-y",
    );
    expect((await run("undo")).stdout).toBe("restored    a.txt\n");
    expect(await run("undo", "all")).toEqual(matchFailure(2, "--list"));
  });

  it("says that there is nothing to undo, to list and to do", async () => {
    const run = await runner();
    for (const args of [["undo"], ["undo", "--list"], ["undo", "--list", "--json"]])
      expect(await run(...args)).toMatchObject({ code: 0, stderr: "burin: there is nothing to undo.\n" });
  });

  it("P13 P44 a session that the system does not let go on is left as it is, and the reason is said", async () => {
    const run = await runner({ text: "One." });
    const id = idIn((await run("-p", "first")).stderr);
    const [project = ""] = await readdir(join(root, ".home/sessions"));
    await mkdir(join(root, ".home/sessions", project, `${id}.lock`));
    const { code, stdout, stderr } = await run("-p", "-c", "second");
    expect([code, stdout, stderr.split("\n").length]).toEqual([2, "", 2]);
    expect(stderr).toContain(`burin: The session ${id} cannot be continued: `);
    expect(stderr).toContain("EISDIR");
  });

  it("--no-session leaves nothing behind", async () => {
    const run = await runner({ text: "One." });
    const { code, stderr } = await run("-p", "first", "--no-session", "--quiet");
    expect([code, stderr]).toEqual([0, ""]);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it.each([
    [["-p", "-c", "x"], "There is no session of"],
    [["-p", "-r", "none", "x"], 'There is no session "none"'],
    [["-p", "--no-session", "-c", "x"], "cannot be combined with"],
  ])("says what is wrong with %j: exit code 2", async (args, words) => {
    const run = await runner();
    expect(await run(...args)).toEqual(matchFailure(2, words));
  });
});

describe("burin undo", () => {
  const writing = (name: string) => {
    return { calls: [{ name: "write_file", args: { file_path: join(root, name), content: "x\n" } }] };
  };

  it("P23 stays in the session that was last at work, and names what else there is", async () => {
    const command = { calls: [{ name: "run_shell_command", args: { command: "echo y" } }] };
    const run = await runner(writing("b.txt"), { text: "One." }, command, { text: "Two." });
    const first = idIn((await run("-p", "write", "-y")).stderr);
    const second = idIn((await run("-p", "by the shell", "-y")).stderr);
    for (const words of [["undo"], ["undo", "2"]]) {
      const { code, stdout, stderr } = await run(...words);
      expect([code, stdout]).toEqual([0, ""]);
      expect(stderr).toContain(`there is nothing to undo in the session ${second}.`);
      expect(stderr).toContain(`burin undo 1 --session ${first}`);
      expect(stderr).toContain("b.txt");
    }
    const document = JSON.parse((await run("undo", "--json")).stdout);
    expect(document).toMatchObject({ files: [], elsewhere: { writer: first, files: ["b.txt"] } });
    expect(await readdir(root)).toContain("b.txt");
    expect(await run("undo", "1", "--session", first)).toMatchObject({ stdout: "removed     b.txt\n" });
  });

  it("P23 takes back the last of the calls outside of sessions when these came last", async () => {
    const run = await runner(writing("b.txt"), { text: "One." });
    await run("-p", "write", "-y");
    for (const name of ["c.txt", "d.txt"])
      await run("call", "write_file", JSON.stringify(writing(name).calls[0]?.args), "-y");
    expect((await run("undo")).stdout).toBe("removed     d.txt\n");
    expect((await run("undo")).stderr).toContain("Redone.");
    expect((await run("undo", "5")).stdout).toBe("removed     d.txt\nremoved     c.txt\n");
    expect((await run("undo", "1")).stderr).toContain("burin undo 1 --session 2");
    expect(await readdir(root)).toContain("b.txt");
  });

  it("P23 does not say that it reverted something where nothing differs", async () => {
    const run = await runner(writing("b.txt"), { text: "One." });
    await run("-p", "write", "-y");
    await rm(join(root, "b.txt"));
    const { stdout, stderr } = await run("undo");
    expect(stdout).toBe("unchanged   b.txt\n");
    expect(stderr).toContain("nothing was changed");
    expect(stderr).not.toContain("Reverted");
  });
});
