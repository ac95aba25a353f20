// The project in which generated commands run: links that lead in and out, odd names, a secret beside it.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** @param {string} base */
export function makeTree(base) {
  const root = join(base, "root");
  const home = join(base, "home");
  const programs = join(base, "programs");
  for (const folder of [home, programs]) mkdirSync(folder);
  const files = {
    "root/a.txt": "alpha\nbeta\n",
    "root/b.txt": "beta\ngamma\n",
    "root/package.json": '{"name":"x","scripts":{"test":"true"}}\n',
    "root/src/a.ts": "export const foo = 1;\n",
    "root/src/b.ts": "// NOTE foo\n",
    "root/src/deep/c.ts": "foo\n",
    "root/lists/names.txt": "../outside/secret.txt\n",
    "root/mixed/plain.txt": "plain\n",
    "root/mixed/a.txt": "alpha\n",
    "root/odd/x link.txt": "x\n",
    "root/odd/-rf": "x\n",
    "root/odd/$(touch canary)": "x\n",
    "root/5/ls": "#!/bin/sh\n: > canary\n",
    "root/bin/ls": "#!/bin/sh\n: > canary\n",
    "root/bin/onlyhere": "#!/bin/sh\n: > canary\n",
    "root/bin/tree": "#!/bin/sh\n: > canary\n",
    "outside/secret.txt": "secret\n",
    "outside/deeper/x.txt": "secret\n",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, file)), { recursive: true });
    writeFileSync(join(base, file), text);
  }
  for (const name of ["5/ls", "bin/ls", "bin/onlyhere", "bin/tree"]) chmodSync(join(root, name), 0o755);
  symlinkSync("../outside", join(root, "link"));
  symlinkSync("../outside/secret.txt", join(root, "link.txt"));
  symlinkSync("../../outside/secret.txt", join(root, "mixed/out.txt"));
  symlinkSync("../src", join(root, "mixed/in"));
  symlinkSync("a.txt", join(root, "alias.txt"));
  symlinkSync(createRequire(import.meta.url)("@vscode/ripgrep").rgPath, join(programs, "rg"));
  const environment = {
    PATH: `${programs}:/usr/bin:/bin:${join(root, "bin")}`,
    HOME: home,
    TMPDIR: join(base, "tmp"),
    LANG: "C.UTF-8",
    USER: "ada",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    MY_SECRET: "secret",
  };
  mkdirSync(environment.TMPDIR);
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  const git = (/** @type {string[]} */ ...args) => execFileSync("git", args, { cwd: root, env: environment });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "one");
  return { root, environment };
}
