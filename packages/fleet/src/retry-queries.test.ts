import { expect, it } from "vitest";
import { isFullDisk } from "./retry-queries.ts";

it("knows a full disk by the words of the system, of the database and of git", () => {
  for (const words of [
    "ENOSPC: no space left on device, write",
    'could not extend file "base/5/16396": No space left on device',
    "exit code 128: fatal: unknown write failure on standard output",
  ])
    expect(isFullDisk(new Error(words))).toBe(true);
  expect(isFullDisk(new Error("exit code 128: fatal: not a git repository"))).toBe(false);
});
