import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, readFileSync, readSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { messageOf } from "./error-message.ts";

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

it("says what the system refused in words, without the call and the path that the text around it has", async () => {
  const folder = temporaryFolder();
  const [cannotStart] = await once(spawn(join(folder, "none")), "error");
  expect(
    [
      thrown(() => readFileSync(join(folder, "a, b 'c'\nd"))),
      thrown(() => readFileSync(folder)),
      thrown(() => linkSync(join(folder, "a"), join(folder, "b"))),
      thrown(() => rmdirSync(join(folder, ".."))),
      thrown(() => readSync(9999, Buffer.alloc(1))),
      cannotStart,
    ].map(messageOf),
  ).toEqual([
    "no such file or directory (ENOENT)",
    "illegal operation on a directory (EISDIR)",
    "no such file or directory (ENOENT)",
    "directory not empty (ENOTEMPTY)",
    "bad file descriptor (EBADF)",
    `${join(folder, "none")} could not be started (ENOENT)`,
  ]);
  expect(["E1: a, b", "ENOENT: said by somebody", "Error: EROFS: x, open 'y'"].map(messageOf)).toEqual([
    "E1: a, b",
    "ENOENT: said by somebody",
    "Error: EROFS: x, open 'y'",
  ]);
});
