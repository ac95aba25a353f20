import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Confirmation, createToolbox, type Toolbox } from "@burin/core";
import type { GrantScope } from "@burin/core/internal";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let base: string;
let asked: Confirmation[];
const open: Toolbox[] = [];

beforeEach(() => {
  base = createTemporaryFolder();
  for (const name of ["one", "two"]) mkdirSync(join(base, name));
  asked = [];
});

afterEach(async () => {
  for (const toolbox of open.splice(0)) await toolbox.close();
});

/** A new one stands for a new process: it shares nothing with the others but what is on disk. */
function toolbox(project: string, scope?: GrantScope, settings = {}): Toolbox {
  const made = createToolbox({
    root: join(base, project),
    environment: { ...process.env, BURIN_HOME: join(base, "home") },
    settings: { sandbox: { mode: "off" }, ...settings },
    confirm: (question) => {
      asked.push(question);
      return Promise.resolve(scope === undefined ? { outcome: "cancel" } : { outcome: "always", scope });
    },
  });
  open.push(made);
  return made;
}

const run = (box: Toolbox, command: string) => box.call("run_shell_command", { command });

describe("always", () => {
  it("P22 the same command in a new process does not ask; what was allowed anyway is in no rule", async () => {
    await run(toolbox("one", "project"), "ls | tee copy && touch made");
    expect(asked.map(({ grants }) => grants)).toEqual([
      ["run_shell_command(tee copy;)", "run_shell_command(touch *)"],
    ]);
    expect((await run(toolbox("one"), "ls | tee copy && touch made")).error).toBeUndefined();
    expect((await run(toolbox("one"), "touch made && rm made")).error?.type).toBe("cancelled");
    expect(asked[1]?.grants).toEqual(["run_shell_command(rm made;)"]);
  });

  it("P22 for this project: bound to where the folder really is", async () => {
    await run(toolbox("one", "project"), "touch made");
    expect((await run(toolbox("two"), "touch made")).error?.type).toBe("cancelled");
    symlinkSync(join(base, "one"), join(base, "link"));
    expect((await run(toolbox("link"), "touch made")).error).toBeUndefined();
  });

  it("P22 everywhere, and for this session alone", async () => {
    await run(toolbox("one", "everywhere"), "rm -f a");
    expect((await run(toolbox("two"), "rm -f a")).error).toBeUndefined();
    const session = toolbox("one", "session");
    await run(session, "rm -f b");
    await run(session, "rm -f b");
    expect(asked).toHaveLength(2);
    expect((await run(toolbox("one"), "rm -f b")).error?.type).toBe("cancelled");
  });

  it("P21 what settings forbid or ask about stays so", async () => {
    await run(toolbox("one", "everywhere"), "touch a");
    const rule = ["run_shell_command(touch)"];
    expect(
      (await run(toolbox("one", undefined, { permissions: { deny: rule } }), "touch a")).error?.type,
    ).toBe("denied");
    await run(toolbox("one", undefined, { permissions: { ask: rule } }), "touch a");
    expect(asked.at(-1)?.grants).toEqual([]);
  });

  it("P22 a broken grants.json grants nothing, is named in the question, and the answer still counts here", async () => {
    mkdirSync(join(base, "home"));
    writeFileSync(join(base, "home/grants.json"), "{ broken");
    const box = toolbox("one", "everywhere");
    const calls: string[] = [];
    await box.run(
      "run_shell_command",
      { command: "touch a" },
      {
        onCall: (call) => {
          if (call.status === "awaiting_approval") calls.push(call.reason);
          if (call.status === "executing" && call.notice) calls.push(call.notice);
        },
      },
    );
    expect(calls).toEqual([
      expect.stringContaining("grants.json is not valid"),
      expect.stringMatching(/"always" holds for this session only: .*left as it is/),
    ]);
    expect((await run(box, "touch a")).error).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(readFileSync(join(base, "home/grants.json"), "utf8")).toBe("{ broken");
  });
});
