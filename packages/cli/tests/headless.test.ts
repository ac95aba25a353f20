import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

let root: string;
let server: FakeModelServer | null = null;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "burin-headless-")));
});

afterEach(async () => {
  await server?.close();
  server = null;
  await rm(root, { recursive: true });
});

async function runner(...replies: FakeReply[]) {
  const started = await startFakeModelServer(replies);
  server = started;
  const env = { OPENAI_BASE_URL: started.baseUrl, OPENAI_MODEL: "fake", OPENAI_API_KEY: "sk-secret-key" };
  return (args: readonly string[], stdin?: string) =>
    burin(args, { cwd: root, env, ...(stdin === undefined ? {} : { stdin }) });
}

const writing = () => ({ name: "write_file", args: { file_path: join(root, "a.txt"), content: "x\n" } });

describe("headless", () => {
  it("P44 --park ends with exit code 3, and burin sessions answer goes on", async () => {
    const run = await runner({ calls: [writing()] }, { text: "Done." });
    const { code, stdout } = await run(["-p", "write", "--park", "--output-format", "json"]);
    const { sessionId, error } = JSON.parse(stdout) as { sessionId: string; error: { type: string } };
    expect([code, error.type]).toEqual([3, "parked"]);
    expect(await run(["sessions", "answer", sessionId, "maybe"])).toMatchObject({ code: 2 });
    expect(await run(["sessions", "answer", sessionId, "yes"])).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("x\n");
    expect(await run(["sessions", "answer", sessionId, "yes"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("waits for no answer"),
    });
  });

  it("P44 --json-schema: the value beside the text, and a file that is none is refused", async () => {
    await writeFile(join(root, "schema.json"), '{"type":"object","required":["n"]}');
    const run = await runner({ text: '{"n":1}' });
    const args = ["-p", "count", "--output-format", "json", "--json-schema"];
    expect(JSON.parse((await run([...args, "schema.json"])).stdout)).toMatchObject({
      status: "success",
      result: '{"n":1}',
      structured: { n: 1 },
    });
    expect(await run([...args, "none.json"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("none.json"),
    });
  });
});
