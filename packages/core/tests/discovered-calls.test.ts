import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  living,
  makeProjects,
  project,
  readWhenThere,
  toolbox,
  writeDiscovery,
} from "./discovery-project.ts";

makeProjects();

describe("a call that fails", () => {
  const failing = async (call: string, more: object = {}) => {
    const settings = await writeDiscovery([{ name: "do_it" }], call);
    return toolbox({ tools: { ...settings.tools, ...more } });
  };

  it("R22 stdout, stderr, error, exit code and signal, and the error is set", async () => {
    const box = await failing('console.log("half"); console.error("why"); process.exit(4)');
    const { llmContent, error } = await box.call("do_it", {});
    expect(error).toEqual({ type: "discovered_tool_failed", message: "do_it failed with exit code 4." });
    expect(llmContent).toContain("Stdout: half\n");
    expect(llmContent).toContain("Stderr: why\n");
    expect(llmContent).toContain("Error: (none)\nExit Code: 4\nSignal: (none)");
  });

  it("R22 a signal", async () => {
    const settings = await writeDiscovery([{ name: "do_it" }]);
    const box = toolbox({ tools: { ...settings.tools, toolCallCommand: "kill -9 $$ #" } });
    expect((await box.call("do_it", {})).llmContent).toContain("Exit Code: (none)\nSignal: SIGKILL");
  });

  it("R22 one that cannot be started", async () => {
    const box = await failing("");
    await box.ready();
    await rm(project.root, { recursive: true });
    const { error } = await box.call("do_it", {});
    expect(error?.message).toContain("do_it could not be started");
  });

  it("R22 too slow, too loud: ended, told, and nothing of it is left", async () => {
    const slow = await failing(TREE, { toolCallSeconds: 1 });
    expect((await slow.call("do_it", {})).error?.message).toContain("timed out after 1 s");
    await expectAllGone();
    const loud = await failing(
      `for (;;) require("node:fs").writeSync(1, "x".repeat(65536))`.replace(
        "require",
        "process.getBuiltinModule",
      ),
    );
    const { error, llmContent } = await loud.call("do_it", {});
    expect(error?.message).toContain("printed more than 10 MiB");
    expect(String(llmContent).length).toBeLessThan(10_000);
  });

  it("R33 P26 an abort ends the whole tree", async () => {
    const box = await failing(TREE);
    await box.ready();
    const stop = new AbortController();
    const call = box.call("do_it", {}, stop.signal);
    await readWhenThere(join(project.root, "pids"));
    stop.abort();
    expect((await call).error?.type).toBe("cancelled");
    await expectAllGone();
  });
});

/** Starts a child of a child that ignores being asked to end and has left the group. */
const TREE = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
const code = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
const child = spawn(process.execPath, ["-e", code], { detached: true, stdio: "ignore" });
child.once("spawn", () => writeFileSync("pids", JSON.stringify([process.pid, child.pid])));
setInterval(() => {}, 1000);
`;

async function expectAllGone(): Promise<void> {
  const pids: number[] = JSON.parse(await readWhenThere(join(project.root, "pids")));
  expect(pids).toHaveLength(2);
  expect(living(pids)).toEqual([]);
}
