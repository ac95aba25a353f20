import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { runGit } from "./run-command.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it("takes no program from the folder of a task, whatever PATH says", async () => {
  const folder = await mkdtemp(join(tmpdir(), "burin-run-command-"));
  try {
    await writeFile(join(folder, "git"), "#!/bin/sh\ntouch taken\n");
    await chmod(join(folder, "git"), 0o755);
    vi.stubEnv("PATH", [".", "", process.env.PATH].join(delimiter));
    await runGit(folder, "git --version");
    expect(await readdir(folder)).toEqual(["git"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
