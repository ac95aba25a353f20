import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSession, createToolbox } from "@burin/core";
import { scriptedModel } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";

const HOMES: readonly (readonly [string, () => string])[] = [
  ["below /proc", () => "/proc/nope/home"],
  ["below a device", () => "/dev/null/home"],
  [
    "a file",
    () => {
      const file = join(createTemporaryFolder(), "file");
      writeFileSync(file, "");
      return file;
    },
  ],
];

describe.each(HOMES)("a home that cannot be made: %s", (_where, homeOf) => {
  it("P44 keeps no command from running, and no file from being written", async () => {
    const root = createTemporaryFolder();
    const environment = { ...process.env, BURIN_HOME: homeOf() };
    const toolbox = createToolbox({ root, approvalMode: "yolo", environment });
    const ran = await toolbox.call("run_shell_command", { command: "echo words > a.txt; cat a.txt" });
    expect(ran.error).toBeUndefined();
    expect(String(ran.llmContent)).toContain("words");
    const wrote = await toolbox.call("write_file", { file_path: join(root, "b.txt"), content: "b\n" });
    expect(wrote.error).toBeUndefined();
    await toolbox.close();
  });

  it("P44 ends a recorded session with an error, and one without a record with success", async () => {
    for (const record of [true, false]) {
      const session = createSession({
        root: createTemporaryFolder(),
        model: scriptedModel([{ text: "Done." }]),
        environment: { ...process.env, BURIN_HOME: homeOf() },
        record,
      });
      const events = await collectEvents(session.run("go"));
      await session.close().catch(() => {});
      const end = events.at(-1);
      if (record)
        expect(end).toMatchObject({ type: "done", status: "error", error: { type: "not_recorded" } });
      else expect(end).toMatchObject({ type: "done", status: "success" });
    }
  });
});

it("P44 a folder for temporary files that is not there keeps no command from running", async () => {
  const before = process.env.TMPDIR;
  const root = createTemporaryFolder();
  process.env.TMPDIR = "/proc/nope";
  try {
    const toolbox = createToolbox({ root, approvalMode: "yolo" });
    const ran = await toolbox.call("run_shell_command", { command: "echo words" });
    expect(String(ran.llmContent)).toContain("words");
    await toolbox.close();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});
