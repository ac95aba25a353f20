import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const top = join(import.meta.dirname, "../../..");
let clone: string;

/** The repository's own manifests without what would have to be downloaded, and a build of one line. */
beforeAll(() => {
  clone = createTemporaryFolder();
  for (const path of ["package.json", "packages/core/package.json", "packages/cli/package.json"]) {
    const { devDependencies, optionalDependencies, ...manifest } = JSON.parse(
      readFileSync(join(top, path), "utf8"),
    );
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), JSON.stringify(manifest));
  }
  const build = `import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
    mkdirSync(new URL("packages/cli/dist", import.meta.url), { recursive: true });
    writeFileSync(new URL("packages/cli/dist/burin.cjs", import.meta.url), "#!/usr/bin/env node\\nconsole.log('it runs')");`;
  writeFileSync(join(clone, "build.mjs"), build);
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

describe("a fresh clone", () => {
  it("has its own burin for npx after npm has installed it", () => {
    const npm = (...args: string[]) => execFileSync("npm", args, { cwd: clone, encoding: "utf8" });
    npm("install", "--offline", "--no-audit", "--no-fund");
    expect(npm("exec", "--offline", "burin")).toBe("it runs\n");
  });

  it("is built by one process at a time, also behind one that was killed", async () => {
    const [lock, log] = [join(clone, "lock"), join(clone, "log")];
    const work = `import { appendFileSync } from "node:fs";
      import { holdAlone } from ${JSON.stringify(pathToFileURL(join(top, "build-alone.mjs")).href)};
      await holdAlone(${JSON.stringify(lock)});
      appendFileSync(${JSON.stringify(log)}, "begun ");
      setTimeout(() => appendFileSync(${JSON.stringify(log)}, "ended "), 300);`;
    const build = () => once(spawn(process.execPath, ["--input-type=module", "-e", work]), "close");
    // No process has this number; and this process has nothing to do with a build of ten minutes ago.
    writeFileSync(lock, "4194305");
    const behindKilled = await build();
    writeFileSync(lock, `${process.pid}`);
    utimesSync(lock, Date.now() / 1000 - 600, Date.now() / 1000 - 600);
    const behindOld = await build();
    const codes = await Promise.all([build(), build(), build()]);
    expect([behindKilled, behindOld, ...codes].map(([code]) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(readFileSync(log, "utf8")).toBe("begun ended ".repeat(5));
    expect(existsSync(lock)).toBe(false);
  });
});
