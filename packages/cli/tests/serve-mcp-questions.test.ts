import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Connected, connect } from "./mcp-client.ts";
import { put, root } from "./project.ts";
import { type RawMessage, type RawServer, rawServer } from "./raw-server.ts";

const open: Connected[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ client }) => client.close()));
});

async function client(options: Parameters<typeof connect>[1]): Promise<Connected> {
  const connected = await connect(root, options);
  open.push(connected);
  return connected;
}

/** A server whose client can ask its user. */
async function askingServer(): Promise<RawServer> {
  const server = rawServer(root, ["mcp"]);
  const clientInfo = { name: "raw", version: "1" };
  const hello = { protocolVersion: "2025-06-18", capabilities: { elicitation: {} }, clientInfo };
  server.send({ id: 0, method: "initialize", params: hello });
  await server.next();
  server.send({ method: "notifications/initialized" });
  return server;
}

it("P22 P25 asks one question at a time, and only what the answers before it have not decided", async () => {
  for (const [decision, questions] of [
    ["once", 4],
    ["session", 1],
  ] as const) {
    const server = await askingServer();
    const paths = [1, 2, 3, 4].map((n) => join(root, decision, `${n}.txt`));
    for (const [at, file_path] of paths.entries()) {
      const params = { name: "write_file", arguments: { file_path, content: "n" } };
      server.send({ id: at + 1, method: "tools/call", params });
    }
    let asked = 0;
    for (let answered = 0; answered < paths.length; ) {
      const message = await server.next();
      if (message.method !== "elicitation/create") {
        expect(message.result).toMatchObject({ structuredContent: { addedLines: 1 } });
        answered += 1;
        continue;
      }
      asked += 1;
      // Answers to all that came before a ping are there before the answer to it.
      const ping = `ping ${asked}`;
      server.send({ id: ping, method: "ping" });
      for (;;) {
        const next = await server.next();
        expect(next.method).toBeUndefined();
        if (next.id === ping) break;
        answered += 1;
      }
      server.send({ id: message.id, result: { action: "accept", content: { decision } } });
    }
    expect(asked).toBe(questions);
    for (const path of paths) expect(await readFile(path, "utf8")).toBe("n");
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
  }
});

it("P25 asks the next question when a call is given up, or works on after its user has agreed", async () => {
  const server = await askingServer();
  const write = (id: number) => {
    const params = { name: "write_file", arguments: { file_path: join(root, `n${id}.txt`), content: "n" } };
    server.send({ id, method: "tools/call", params });
  };
  const question = async (): Promise<RawMessage> => {
    const message = await server.next();
    return message.method === "elicitation/create" ? message : question();
  };
  const agree = ({ id }: RawMessage) =>
    server.send({ id, result: { action: "accept", content: { decision: "once" } } });
  const command = `until [ -e ${root}/go ]; do sleep 0.05; done`;
  const params = { name: "run_shell_command", arguments: { command } };
  server.send({ id: 1, method: "tools/call", params });
  const first = await question();
  write(2);
  write(3);
  agree(first);
  // The command still works.
  const second = await question();
  const cancelled = JSON.stringify(second.params).includes("n2.txt") ? 2 : 3;
  server.send({ method: "notifications/cancelled", params: { requestId: cancelled } });
  agree(await question());
  const left = 5 - cancelled;
  expect(await server.answer(left)).toMatchObject({ result: { structuredContent: { addedLines: 1 } } });
  put("go", "");
  expect(await server.answer(1)).toMatchObject({ result: { structuredContent: { exitCode: 0 } } });
  expect(existsSync(join(root, `n${cancelled}.txt`))).toBe(false);
  server.child.stdin.end();
  expect(await server.ended).toBe(0);
});

it("P2 overwrites a file that was not read only when its user has agreed to the diff, and edits it by its text", async () => {
  put("a.txt", "one\ntwo\n");
  const whole = { file_path: join(root, "a.txt"), content: "three\n" };
  const ruled = await client({ args: ["--allow", "write_file", "--allow", "edit"] });
  expect(await ruled.call("write_file", whole)).toMatchObject({
    isError: true,
    text: expect.stringContaining("it has not been read in full"),
  });
  expect(await readFile(whole.file_path, "utf8")).toBe("one\ntwo\n");
  const change = { file_path: whole.file_path, old_string: "two", new_string: "2" };
  expect(await ruled.call("edit", change)).toMatchObject({ isError: false });
  const asked: string[] = [];
  const says = (message: string) => (asked.push(message) > 0 ? "once" : null);
  const { call } = await client({ says });
  expect(await call("write_file", whole)).toMatchObject({ isError: false });
  expect(asked).toEqual([expect.stringContaining("-one\n-2\n+three")]);
  expect(await readFile(whole.file_path, "utf8")).toBe("three\n");
});
