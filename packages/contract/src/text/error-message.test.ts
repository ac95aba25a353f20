import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, readFileSync, readSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { describeError } from "./error-message.ts";

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

it("says what the system refused in words, without the call and the path that the text around it has", async () => {
  const folder = createTemporaryFolder();
  const [isMissing] = await once(spawn(join(folder, "none")), "error");
  const [isNoProgram] = await once(spawn(folder), "error");
  const { error: hasNoFolder } = spawnSync("true", { cwd: join(folder, "none") });
  expect(
    [
      thrown(() => readFileSync(join(folder, "a, b 'c'\nd"))),
      thrown(() => readFileSync(folder)),
      thrown(() => linkSync(join(folder, "a"), join(folder, "b"))),
      thrown(() => rmdirSync(join(folder, ".."))),
      thrown(() => readSync(9999, Buffer.alloc(1))),
      isMissing,
      isNoProgram,
      hasNoFolder,
      thrown(() => spawn("true", ["x".repeat(4_000_000)])),
    ].map(describeError),
  ).toEqual([
    "no such file or directory (ENOENT)",
    "illegal operation on a directory (EISDIR)",
    "no such file or directory (ENOENT)",
    "directory not empty (ENOTEMPTY)",
    "bad file descriptor (EBADF)",
    `there is no program "${join(folder, "none")}", or no folder to run it in (ENOENT)`,
    `"${folder}" may not be run; check its permissions (EACCES)`,
    'there is no program "true", or no folder to run it in (ENOENT)',
    "it could not be started (E2BIG)",
  ]);
  expect(["E1: a, b", "ENOENT: said by somebody", "Error: EROFS: x, open 'y'"].map(describeError)).toEqual([
    "E1: a, b",
    "ENOENT: said by somebody",
    "Error: EROFS: x, open 'y'",
  ]);
});
