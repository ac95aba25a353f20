import { readdir, readFile, rm } from "node:fs/promises";
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
  return {
    run: (...args: string[]) => burin(args, { cwd: root, env }),
    /** With no model, and no service that could be reached. */
    offline: (...args: string[]) => burin(args, { cwd: root }),
  };
}

const script = (): FakeReply[] => [
  {
    thought: "hm",
    text: "I look.",
    calls: [{ name: "read_file", args: { absolute_path: join(root, "a.txt") } }],
  },
  {
    calls: [
      { name: "edit", args: { file_path: join(root, "a.txt"), old_string: "alpha", new_string: "beta" } },
      { name: "write_file", args: { file_path: join(root, "b/new.txt"), content: "new\n" } },
      { name: "run_shell_command", args: { command: "cat a.txt && ls b" } },
      { name: "nothing", args: {} },
    ],
  },
  { text: "Done." },
];

const idIn = (stderr: string) => /burin -r (\S+)/.exec(stderr)?.[1] ?? "";

describe("burin replay", () => {
  it("runs a session again without a model, against what was recorded", async () => {
    const { run, offline } = await runner(...script(), { text: "More." });
    const id = idIn((await run("-p", "go", "-y")).stderr);
    await run("-p", "-c", "more");
    await rm(join(root, "a.txt"));
    expect(await offline("replay", id)).toEqual({
      code: 0,
      stdout: `session ${id}: 5 calls, 0 with a different result\n`,
      stderr: "",
    });
  });

  it("--tools runs it really, in a copy set back to what the session found, and shows where it diverges", async () => {
    const { run, offline } = await runner(...script());
    const id = idIn((await run("-p", "go", "-y")).stderr);
    expect(await offline("replay", id, "--tools")).toMatchObject({
      code: 0,
      stdout: `session ${id}: 5 calls, 1 of them answered from the record, 0 with a different result\n`,
    });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("beta\n");
    await offline("undo", "2");
    put("a.txt", "alpha and more\n");
    const { code, stdout } = await offline("replay", id, "--tools");
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /turn 1 {2}read_file .*\n {2}recorded {2}success: alpha\n {2}now {7}success: alpha and more/,
    );
    expect(await readdir(root)).not.toContain("b");
  });

  it("--fork goes on from a turn in a session of its own, with another model if that is named", async () => {
    const { run, offline } = await runner(...script(), { text: "Otherwise." });
    const id = idIn((await run("-p", "go", "-y")).stderr);
    const fork = await offline("replay", id, "--fork", "1");
    expect(fork.stdout.trim()).toMatch(/^\d{8}T\d{6}-/);
    expect((await offline("sessions", "show", fork.stdout.trim())).stdout).not.toContain("turn 2");
    const other = await run("replay", id, "--fork", "1", "-m", "other");
    expect(other).toMatchObject({ code: 0, stdout: "Otherwise.\n" });
    const body = server.requests.at(-1)?.body;
    expect([body?.model, JSON.stringify(body)]).toEqual(["other", expect.not.stringContaining("beta")]);
    expect(await offline("replay", id, "--fork", "9")).toEqual(matchFailure(2, "has 3 turns"));
  });
});
