import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, createSession, defineTool, type SessionOptions } from "@burin/core";
import { type ScriptLine, scriptedModel } from "@burin/core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { file, home, makeFolders, root } from "./folder.ts";

makeFolders();

const shell = (command: string): ScriptLine => ({
  calls: [{ name: "run_shell_command", args: { command } }],
});
const writing = (name: string, content = "x\n"): ScriptLine => {
  return { calls: [{ name: "write_file", args: { file_path: join(root, name), content } }] };
};
type Proof = Extract<AgentEvent, { type: "done" }>["proof"];
const TEST = "npm test";

beforeEach(() => {
  file("package.json", JSON.stringify({ scripts: { test: "exit 0", lint: "exit 0", write: "exit 0" } }));
  file("src/hello.js", "hello();\n");
  file(".gitignore", "coverage/\n*.log\n");
});

async function proofOf(script: readonly ScriptLine[], more: Partial<SessionOptions> = {}): Promise<Proof> {
  const environment = { BURIN_HOME: home, PATH: process.env.PATH };
  const model = scriptedModel([...script, { text: "Done." }]);
  const options = { approvalMode: "yolo" as const, overwriteUnread: true, ...more };
  const session = createSession({ root, environment, model, ...options });
  const end = (await collectEvents(session.run("go"))).at(-1);
  await session.close();
  if (end?.type !== "done") throw new Error("It has no end.");
  expect(end.status).toBe("success");
  return end.proof;
}

describe("the proof of work", () => {
  it.each([
    ["a file that it writes", 'echo "syntax error(((" > src/hello.js'],
    [
      "the same size and an old time",
      "printf 'jello();\\n' > src/hello.js; touch -d 2020-01-01 src/hello.js",
    ],
    ["a file that it removes", "rm src/hello.js"],
    ["a file that it moves", "mv src/hello.js src/other.js"],
    ["a new file", "touch src/new.js"],
    ["a mode", "chmod +x src/hello.js"],
    ["words that look like a check", "echo 'npm test' > src/hello.js"],
  ])("P44 counts a check as old after a command that changes %s", async (_what, command) => {
    const proof = await proofOf([writing("a.txt"), shell(TEST), shell(command)]);
    expect(proof).toMatchObject({ checked: [], notSince: [TEST] });
    expect(proof?.changed.some((path) => path.startsWith(join(root, "src")))).toBe(true);
  });

  it("P44 counts it as old without a sandbox too, and after a command in the background", async () => {
    const settings = { sandbox: { mode: "off" as const } };
    const plain = [writing("a.txt"), shell(TEST), shell("echo x > src/hello.js")];
    expect(await proofOf(plain, { settings })).toMatchObject({ checked: [], notSince: [TEST] });
    const args = { command: "echo y > src/hello.js; sleep 5", is_background: true };
    const late = [writing("b.txt"), shell(TEST), { calls: [{ name: "run_shell_command", args }] }];
    expect(await proofOf([...late, shell("sleep 0.5")])).toMatchObject({ checked: [], notSince: [TEST] });
  });

  it("P44 keeps a check that is followed by reading, by writes to ignored files, or by nothing", async () => {
    const after = ["cat src/hello.js; ls", "mkdir -p coverage && echo x > coverage/a.txt; echo y > b.log"];
    for (const command of after) {
      const proof = await proofOf([writing("a.txt"), shell(TEST), shell(command)]);
      expect(proof).toMatchObject({ checked: [{ command: TEST, exitCode: 0 }], notSince: [] });
    }
  });

  it("P44 keeps a check that writes ignored files itself, and one that has changed files last", async () => {
    const covered = `${TEST} && mkdir -p coverage && date > coverage/a.txt`;
    expect(await proofOf([writing("a.txt"), shell(covered)])).toMatchObject({ notSince: [] });
    const fixing = "date > src/hello.js; npm run lint";
    const proof = await proofOf([writing("b.txt"), shell(TEST), shell(fixing)]);
    expect(proof).toMatchObject({ checked: [{ command: fixing, exitCode: 0 }], notSince: [TEST] });
  });

  it("P44 takes a check that ran again as current", async () => {
    const proof = await proofOf([
      shell("echo x > src/hello.js"),
      shell(TEST),
      shell("rm src/hello.js"),
      shell(TEST),
    ]);
    expect(proof).toMatchObject({ checked: [{ command: TEST, exitCode: 0 }], notSince: [] });
    expect(proof?.changed).toEqual([join(root, "src/hello.js")]);
  });

  it("P44 sees what somebody else changed meanwhile", async () => {
    const meddling: ScriptLine = {
      calls: [{ name: "meddle", args: {} }],
    };
    const meddle = defineTool({
      name: "meddle",
      description: "Changes a file.",
      parameterSchema: { type: "object" },
      kind: "read",
      execute: () => {
        writeFileSync(join(root, "src/hello.js"), "other();\n");
        return "done";
      },
    });
    const proof = await proofOf([writing("a.txt"), shell(TEST), meddling], { tools: [meddle] });
    expect(proof).toMatchObject({ checked: [], notSince: [TEST] });
  });

  it("P44 has nothing to say where commands change nothing", async () => {
    expect(await proofOf([shell(TEST), shell("ls")])).toBe(undefined);
  });
});
