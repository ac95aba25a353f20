import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Confirmation } from "@burin/core";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin, matchFailure } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

let env: Record<string, string>;

async function runner(...replies: FakeReply[]) {
  env = await modelEnv(...replies);
  return (args: readonly string[]) => burin(args, { cwd: root, env });
}

const writing = (content = "x\n") => ({
  name: "write_file",
  args: { file_path: join(root, "a.txt"), content },
});

interface Parked {
  readonly sessionId: string;
  readonly status: string;
  readonly error: { readonly type: string };
  readonly confirmation: Confirmation;
}

/** The only session there is, as a list shows it. */
async function listed(run: Awaited<ReturnType<typeof runner>>) {
  const [session, ...others] = JSON.parse((await run(["sessions", "list", "--json"])).stdout) as unknown[];
  expect(others).toEqual([]);
  return session;
}

describe("a run without a person", () => {
  it("P44 --park ends with exit code 3 and the question, and burin sessions answer goes on", async () => {
    const run = await runner({ calls: [writing()] }, { text: "Done." });
    const { code, stdout } = await run(["-p", "write", "--park", "--output-format", "json"]);
    const { sessionId, status, error, confirmation } = JSON.parse(stdout) as Parked;
    expect([code, status, error.type]).toEqual([3, "refused", "parked"]);
    expect(confirmation).toMatchObject({ kind: "edit", path: join(root, "a.txt") });
    const shown = (await run(["sessions", "show", sessionId])).stdout;
    expect(shown).toMatch(/^parked +\S/m);
    expect(shown).toContain(`burin sessions answer ${sessionId}`);
    expect((await run(["sessions", "list"])).stdout).toContain("  write  (parked: Create a.txt?)");
    expect(await listed(run)).toMatchObject({ id: sessionId, parked: { confirmation } });
    expect(await run(["sessions", "answer", sessionId, "maybe"])).toMatchObject({ code: 2 });
    expect(await run(["sessions", "answer", sessionId, "yes"])).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("x\n");
    expect((await run(["sessions", "show", sessionId])).stdout).not.toMatch(/^parked/m);
    expect(await listed(run)).toMatchObject({ id: sessionId, parked: null });
    expect((await run(["sessions", "list"])).stdout).not.toContain("parked");
    expect(await run(["sessions", "answer", sessionId, "yes"])).toEqual(
      matchFailure(2, "has no pending question"),
    );
  });

  it("P44 always answers for the folder, so that the next run is not parked; a no is told with its words", async () => {
    const calls = [writing()];
    const run = await runner(
      { calls },
      { text: "One." },
      { calls },
      { text: "Two." },
      { calls },
      { text: "I see." },
    );
    const parked = async (...args: string[]) =>
      (JSON.parse((await run(["-p", "write", "--park", "--json", ...args])).stdout) as Parked).sessionId;
    expect(await run(["sessions", "answer", await parked(), "always"])).toMatchObject({ code: 0 });
    expect(await run(["-p", "again", "--park"])).toMatchObject({ code: 0, stdout: "Two.\n" });
    // One for each of the two tools that write files.
    for (const _tool of ["edit", "write_file"])
      expect(await run(["grants", "revoke", "1"])).toMatchObject({ code: 0 });
    const refused = await run(["sessions", "answer", await parked(), "no", "not", "there"]);
    expect(refused).toMatchObject({ code: 3, stdout: "I see.\n" });
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("not there");
  });

  it("P44 a parked change is asked about anew when the file has changed meanwhile, and made then", async () => {
    put("a.txt", "old\n");
    const run = await runner({ calls: [writing("new\n")] }, { text: "Done." });
    const parked = await run(["-p", "write", "--park"]);
    expect(parked.stderr).toContain("-old\n+new");
    const id = /burin -r (\S+)/.exec(parked.stderr)?.[1] ?? "";
    put("a.txt", "theirs\n");
    const stale = await run(["sessions", "answer", id, "yes"]);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("theirs\n");
    expect(stale).toEqual(matchFailure(3, "-theirs\n+new"));
    expect(stale.stderr).toContain("has changed since it was answered");
    expect(await run(["sessions", "answer", id, "yes"])).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("new\n");
  });

  it("P44 P25 a parked change of a file that was read and has changed meanwhile goes back to the model", async () => {
    put("a.txt", "old\n");
    const reading = { name: "read_file", args: { absolute_path: join(root, "a.txt") } };
    const run = await runner(
      { calls: [reading] },
      { calls: [writing("mine\n")] },
      { calls: [reading] },
      { calls: [writing("both\n")] },
      { text: "Done." },
    );
    const id = /burin -r (\S+)/.exec((await run(["-p", "write", "--park"])).stderr)?.[1] ?? "";
    put("a.txt", "theirs\n");
    const again = await run(["sessions", "answer", id, "yes"]);
    expect(again).toEqual(matchFailure(3, "-theirs\n+both"));
    expect(again.stderr).toContain("has changed on disk since it was read");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("theirs\n");
    expect(await run(["sessions", "answer", id, "yes"])).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("both\n");
  });

  it("P44 a parked command runs once, also when the process dies while it runs", async () => {
    const command = "echo once >> log; sleep 60";
    const run = await runner(
      { calls: [{ name: "run_shell_command", args: { command } }] },
      { text: "Seen." },
    );
    const { stdout } = await run(["-p", "go", "--park", "--json"]);
    const { sessionId } = JSON.parse(stdout) as Parked;
    const child = spawn(process.execPath, [BURIN, "sessions", "answer", sessionId, "yes"], {
      cwd: root,
      env: buildEnvironment(root, env),
      stdio: "ignore",
    });
    await expect.poll(() => existsSync(join(root, "log")), { timeout: 20_000 }).toBe(true);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.on("close", resolve));
    expect(await run(["sessions", "answer", sessionId, "yes"])).toMatchObject({ code: 2 });
    expect((await run(["-p", "-r", sessionId])).stdout).toBe("Seen.\n");
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("may have run");
    expect(await readFile(join(root, "log"), "utf8")).toBe("once\n");
  });

  it("P44 --json-schema: the value beside the JSON, and with text the JSON alone", async () => {
    put("schema.json", '{"type":"object","required":["n"]}');
    const reply = { text: 'Here it is:\n```json\n{"n":12345678901234567890}\n```' };
    const run = await runner(
      reply,
      reply,
      { text: "none" },
      { text: "none" },
      { text: "{}" },
      { text: "[]" },
    );
    const bound = ["-p", "count", "--json-schema", "schema.json"];
    expect(JSON.parse((await run([...bound, "--json"])).stdout)).toMatchObject({
      status: "success",
      result: '{"n":12345678901234567890}',
      structured: { n: expect.any(Number) },
    });
    expect(await run(bound)).toMatchObject({ code: 0, stdout: '{"n":12345678901234567890}\n' });
    const { code, stdout } = await run([...bound, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "error",
      error: { type: "schema_mismatch", message: expect.stringContaining("must be an object") },
    });
    expect(server.requests).toHaveLength(6);
    expect(JSON.stringify(server.requests[5]?.body)).toContain('\\"n\\" is required');
  });

  it.each([
    ["that is not there", undefined, "schema.json"],
    ["that is no JSON", '{\n  "type": object\n}', "line 2, column 11"],
    ["that is no schema", "[]", "a JSON Schema is an object"],
    ["that cannot be used", '{"properties":{"n":{"type":"int"}}}', '"properties.n.type" must be one of'],
  ])(
    "P44 --json-schema with a file %s: exit code 2 and the place, nothing is asked",
    async (_what, text, words) => {
      if (text !== undefined) put("schema.json", text);
      const run = await runner();
      const { code, stdout } = await run(["-p", "count", "--json-schema", "schema.json", "--json"]);
      expect(code).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({
        status: "error",
        error: { type: "usage", message: expect.stringContaining(words) },
      });
      expect(server.requests).toEqual([]);
    },
  );

  it("P13 stream-json: whoever reads the id finds the session with its prompt, also when it is killed then", async () => {
    put(".home/settings.json", { hooks: [{ event: "session_start", command: "sleep 0.3" }] });
    const run = await runner({ text: "Never read." }, { text: "Going on." });
    const args = [BURIN, "-p", "remember the moon", "--output-format", "stream-json"];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: buildEnvironment(root, env),
      stdio: "pipe",
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGKILL");
    const { type, sessionId } = JSON.parse(line.toString().split("\n", 1)[0] as string);
    expect(type).toBe("session");
    expect((await run(["sessions", "show", sessionId])).stdout).toContain("remember the moon");
  });
});
