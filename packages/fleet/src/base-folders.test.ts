import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BaseFolders, copyBase, createPatch } from "./base-folders.ts";
import type { Store } from "./store.ts";

const NO_STORE = {} as Store;

let top: string;

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), "burin-bases-"));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(top, { recursive: true });
});

it("P21 runs no hook of a repository or a task, where the user's settings name a folder of hooks in it", async () => {
  const at = (name: string) => join(top, name);
  const [home, repository, bases] = [at("home"), at("repository"), at("bases")];
  const [copy, beside, ran] = [at("copy"), at("beside"), at("ran")];
  for (const folder of [home, join(repository, ".githooks"), bases, beside, ran])
    await mkdir(folder, { recursive: true });
  for (const hook of ["post-checkout", "post-index-change"]) {
    const path = join(repository, ".githooks", hook);
    await writeFile(path, `#!/bin/sh\ntouch ${ran}/$$-${hook}\n`);
    await chmod(path, 0o755);
  }
  const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args], { stdio: "pipe" });
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "one");
  await writeFile(join(home, ".gitconfig"), "[core]\n\thooksPath = .githooks\n");
  vi.stubEnv("HOME", home);
  vi.stubEnv("BURIN_HOME", join(home, "burin"));
  const base = await new BaseFolders(bases, NO_STORE).open(
    { git: repository, revision: "HEAD" },
    new AbortController().signal,
  );
  await copyBase(base, copy);
  await writeFile(join(copy, "new.txt"), "new\n");
  expect(await createPatch(base, copy, beside)).toContain("+new\n");
  expect(await readdir(ran)).toEqual([]);
  git("checkout", "-q", "--detach");
  expect(await readdir(ran)).not.toEqual([]);
});
