import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createSession, createToolbox, type Toolbox } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

let base: string;
let root: string;
let toolbox: Toolbox;

beforeEach(async () => {
  base = createTemporaryFolder();
  root = join(base, "project");
  await mkdir(root);
  toolbox = createToolbox({ root, approvalMode: "yolo", environment: environment() });
});

afterEach(async () => {
  await toolbox.close();
});

const environment = () => ({ ...process.env, BURIN_HOME: join(base, "home") });
const shell = (args: Record<string, unknown>) => toolbox.call("run_shell_command", args);

describe("the commands of a session, for the person", () => {
  it("P8 are listed with what they print, and ended, by the same id as for the model", async () => {
    expect(await toolbox.commands.list()).toEqual([]);
    expect(existsSync(join(base, "home"))).toBe(false);
    await shell({ command: "echo up; sleep 300", is_background: true });
    const [one] = await toolbox.commands.list();
    expect(one).toMatchObject({
      id: "bg_1",
      command: "echo up; sleep 300",
      directory: root,
      state: "background",
    });
    expect(one?.processes).toBeGreaterThan(0);
    expect(await toolbox.commands.output("bg_1")).toBe("up\n");
    expect((await shell({ action: "list" })).llmContent).toContain("bg_1: Running");
    expect((await shell({ action: "output", background_id: "bg_1" })).llmContent).toContain("up");
    expect(await toolbox.commands.end("bg_1")).toBe(true);
    expect(await toolbox.commands.list()).toMatchObject([{ id: "bg_1", state: "ended", processes: 0 }]);
    expect((await shell({ action: "output", background_id: "bg_1" })).llmContent).toContain("Ended");
  });

  it("knows none by an id that was never given", async () => {
    expect(await toolbox.commands.output("bg_7")).toBeNull();
    expect(await toolbox.commands.end("bg_7")).toBe(false);
    expect(await toolbox.commands.toBackground("run_7")).toBe(false);
  });

  it("P8 a command that is waited for can be let go on in the background, and ends with the session", async () => {
    const answer = shell({ command: "echo first; while [ ! -e go ]; do sleep 0.05; done; echo second" });
    await vi.waitUntil(async () => (await toolbox.commands.list())[0]?.outputBytes, 20_000);
    expect(await toolbox.commands.list()).toMatchObject([{ id: "run_1", state: "foreground" }]);
    expect(await toolbox.commands.toBackground("run_1")).toBe(true);
    const { llmContent, error } = await answer;
    expect(error).toBeUndefined();
    expect(llmContent).toContain("Moved to the background by the user; it keeps running as bg_1.");
    expect(llmContent).toContain("first");
    await shell({ command: "touch go" });
    await vi.waitUntil(async () => (await toolbox.commands.list())[0]?.state === "ended", 20_000);
    expect(await toolbox.commands.output("bg_1")).toBe("first\nsecond\n");
  });

  it("P11 one that a person ends answers like any other that ended", async () => {
    const answer = shell({ command: "sleep 300" });
    await vi.waitUntil(async () => (await toolbox.commands.list()).length === 1, 20_000);
    await toolbox.commands.end("run_1");
    expect((await answer).llmContent).toMatch(/^(?:Signal: SIG(?:TERM|KILL)|Exit code: 1(?:43|37))/);
  });

  it("a session has them too", async () => {
    const call = { name: "run_shell_command", args: { command: "sleep 300", is_background: true } };
    const model = scriptedModel([{ calls: [call] }, { text: "started" }]);
    const session = createSession({ root, model, approvalMode: "yolo", environment: environment() });
    for await (const event of session.run("go")) expect(event.type).not.toBe("notice");
    expect(await session.commands.list()).toMatchObject([{ id: "bg_1", state: "background" }]);
    await session.close();
    expect(await session.commands.list()).toMatchObject([{ id: "bg_1", state: "ended" }]);
  });
});
