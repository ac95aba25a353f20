import { spawn } from "node:child_process";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, waitForExit } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

beforeEach(() => {
  put("a.txt", "alpha\n");
});

/** `script` of bash, in which "$@" is Burin with these arguments. */
async function inBash(script: string, args: readonly string[], env: Record<string, string> = {}) {
  const whole = ["-c", script, "bash", process.execPath, BURIN, ...args];
  return waitForExit(spawn("bash", whole, { cwd: root, env: buildEnvironment(root, env), stdio: "pipe" }));
}

describe("P12 input without an end has one", () => {
  it.each([
    ["-p", ["-p", "what is this?"]],
    ["a prompt on stdin alone", ["-p"]],
    ["call -", ["call", "list_directory", "-"]],
  ])("%s", async (_what, args) => {
    const env = await modelEnv({ text: "never asked" });
    const { code, stderr } = await inBash('yes word | "$@"', args, env);
    expect(code).toBe(2);
    expect(stderr).toContain("stdin has more than 67108864 bytes");
    expect(server.requests).toHaveLength(0);
  });

  it("a schema", async () => {
    const env = await modelEnv({ text: "never asked" });
    const { code, stderr } = await inBash('"$@"', ["-p", "go", "--json-schema", "/dev/zero"], env);
    expect(code).toBe(2);
    expect(stderr).toContain("/dev/zero: it is larger than 1048576 bytes");
  });

  it("a line of a program: it is left out, and the next one counts", async () => {
    const env = await modelEnv({ text: "It is well." });
    const long = "head -c 80000000 /dev/zero | tr '\\0' x";
    const said = JSON.stringify({ type: "user", text: "go" });
    const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
    const { code, stdout } = await inBash(`{ ${long}; echo; echo '${said}'; } | "$@"`, args, env);
    const events = stdout.trimEnd().split("\n");
    expect(stdout).toContain("line 1 of stdin: it is longer than 67108864 bytes");
    expect(JSON.parse(events.at(-1) ?? "{}")).toMatchObject({ type: "done", result: "It is well." });
    expect(code).toBe(2);
  });

  it("a short line behind which nothing comes is one, as before", async () => {
    const env = await modelEnv({ text: "One." });
    const said = JSON.stringify({ type: "user", text: `words ${"w".repeat(100_000)}` });
    put("said.txt", said);
    const args = ["-p", "--input-format", "stream-json", "--output-format", "text"];
    const { code, stdout } = await inBash(`"$@" < ${join(root, "said.txt")}`, args, env);
    expect([code, stdout]).toEqual([0, "One.\n"]);
  });
});
