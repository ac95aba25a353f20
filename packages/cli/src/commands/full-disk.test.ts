import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PromptHistory } from "../state/prompt-history.ts";
import type { CommandDesk } from "./command-desk.ts";
import { exportCommands } from "./export-session.ts";

let disk: string;

function fill(): void {
  for (const bytes of [4096, 64, 1]) {
    try {
      for (;;) appendFileSync(join(disk, "filler"), Buffer.alloc(bytes));
    } catch {
      // The disk is as full as pieces of this size can make it.
    }
  }
}

// Only an administrator can mount a small disk.
describe.runIf(process.platform === "linux" && process.getuid?.() === 0)("on a full disk", () => {
  beforeEach(() => {
    disk = join(createTemporaryFolder(), "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]);
  });
  afterEach(() => void execFileSync("umount", [disk]));

  it("P44 /export says why, leaves no half of it, and works under that name once there is room", async () => {
    const notes: string[] = [];
    const parts = [{ text: "x".repeat(20_000) }];
    const session = { id: "one", history: [{ role: "model", parts }] };
    const note = (text: string) => void notes.push(text);
    const desk = { session, options: { root: disk }, settings: null, note } as unknown as CommandDesk;
    const write = exportCommands.find(({ name }) => name === "export")?.run;
    writeFileSync(join(disk, "filler"), Buffer.alloc(50_000));
    await write?.(desk, "a.md");
    expect(notes.at(-1)).toMatch(/a\.md was not written: .*no space/);
    expect(readdirSync(disk)).toEqual(["filler"]);
    rmSync(join(disk, "filler"));
    await write?.(desk, "a.md");
    expect(readFileSync(join(disk, "a.md"), "utf8")).toBe(`${parts[0]?.text}\n`);
  });

  it("P44 the history of prompts keeps no half of one, which would take the next with it", () => {
    new PromptHistory(disk).add("first");
    writeFileSync(join(disk, "room"), Buffer.alloc(4096));
    fill();
    rmSync(join(disk, "room"));
    const long = "y".repeat(15_000);
    new PromptHistory(disk).add(long);
    rmSync(join(disk, "filler"));
    new PromptHistory(disk).add("last");
    const history = new PromptHistory(disk);
    expect([history.step(-1, ""), history.step(-1, ""), history.step(-1, "")]).toEqual([
      "last",
      "first",
      null,
    ]);
  });
});
