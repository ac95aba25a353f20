import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { isBeingKilled } from "./process-table.ts";

/** The lines of /proc/PID/status about signals, as the kernel writes them. */
function writeStatus(folder: string, pending: { own?: string; shared?: string }): void {
  const { own = "0000000000000000", shared = "0000000000000000" } = pending;
  mkdirSync(join(folder, "7"), { recursive: true });
  const lines = ["Name:\tcat", "SigQ:\t1/96000", `SigPnd:\t${own}`, `ShdPnd:\t${shared}`];
  writeFileSync(join(folder, "7/status"), `${[...lines, "SigBlk:\t0000000000000100"].join("\n")}\n`);
}

it("P53 a process with a SIGKILL that it has yet to take counts as killed, and no other one does", () => {
  const folder = createTemporaryFolder();
  for (const pending of [{ own: "0000000000000100" }, { shared: "0000000000004102" }]) {
    writeStatus(folder, pending);
    expect(isBeingKilled(folder, 7)).toBe(true);
  }
  for (const pending of [{}, { own: "0000000000000200" }, { shared: "0000000000010001" }]) {
    writeStatus(folder, pending);
    expect(isBeingKilled(folder, 7)).toBe(false);
  }
  expect(isBeingKilled(folder, 8)).toBe(false);
});
