import { execFileSync, spawnSync } from "node:child_process";
import {
  type BigIntStats,
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Proof } from "./shell-attacks.ts";

const SECRET = "planted-secret-7f3a";
const KEPT = "work that is not committed";
const PROTECTED =
  ".env .envrc .bashrc .npmrc .vscode/tasks.json .git/config .git/config.worktree .git/hooks/post-checkout".split(
    " ",
  );

/** A throw-away project with a secret beside it; commands run there really, with a home of their own. */
export interface ShellFolder {
  readonly root: string;
  /** What a run did of what a proof looks for, in a fresh copy of the project. */
  run(command: string): ReadonlySet<Proof>;
  leadsOutside(path: string, isPattern: boolean): boolean;
  remove(): void;
}

export function makeShellFolder(): ShellFolder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "burin-shell-")));
  const root = join(base, "arena/root");
  const environment = makeHome(base);
  makeProject(join(base, "pristine"), environment);
  const copy = new FreshCopy(join(base, "pristine"), join(base, "arena"));
  return {
    root,
    run: (command) => {
      copy.renew();
      const before = protectedContent(root);
      const options = { cwd: root, env: environment, encoding: "utf8", timeout: 20_000 } as const;
      const run = spawnSync("bash", ["--norc", "--noprofile", "-c", command], {
        ...options,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const seen = new Set<Proof>();
      if (`${run.stdout}${run.stderr}`.includes(SECRET)) seen.add("secret");
      if (hasCanary(join(base, "arena"))) seen.add("canary");
      if (isLost(root, environment)) seen.add("lost");
      if (protectedContent(root) !== before) seen.add("protected");
      return seen;
    },
    leadsOutside: (path, isPattern) =>
      (isPattern ? matches(path) : [path]).some((each) => isBeyond(each, root)),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** A copy of a folder, in which only what was changed since the last time is put right: a copy of all takes far longer. */
class FreshCopy {
  readonly #original: string;
  readonly #copy: string;
  #looks: ReadonlyMap<string, BigIntStats>;

  constructor(original: string, copy: string) {
    this.#original = original;
    this.#copy = copy;
    execFileSync("cp", ["-a", original, copy]);
    this.#looks = looksOf(copy);
  }

  renew(): void {
    const now = looksOf(this.#copy);
    const isWhole = (path: string) => isUnchanged(this.#looks.get(path), now.get(path));
    const wrong = [...new Set([...this.#looks.keys(), ...now.keys()])].filter((path) => !isWhole(path));
    if (wrong.length === 0) return;
    // A folder stands before what it holds, and is removed and copied with it.
    for (const path of wrong) rmSync(join(this.#copy, path), { recursive: true, force: true });
    for (const path of wrong.filter((one) => this.#looks.has(one))) {
      const [from, to] = [join(this.#original, path), join(this.#copy, path)];
      if (lstatSync(to, { throwIfNoEntry: false }) === undefined) copyAll(from, to);
    }
    this.#looks = looksOf(this.#copy);
  }
}

/** Most are files, for each of which a program would take longer than the command that is tried. */
function copyAll(from: string, to: string): void {
  const look = lstatSync(from);
  if (!look.isFile()) return void execFileSync("cp", ["-a", from, to]);
  copyFileSync(from, to);
  utimesSync(to, look.atime, look.mtime);
}

function looksOf(folder: string): Map<string, BigIntStats> {
  const looks = new Map<string, BigIntStats>();
  const look = (path: string) => {
    const stats = lstatSync(join(folder, path), { bigint: true });
    looks.set(path, stats);
    if (stats.isDirectory()) for (const name of readdirSync(join(folder, path))) look(join(path, name));
  };
  look("");
  return looks;
}

/** What a folder holds is looked at by itself; of a file the system notes each change. */
function isUnchanged(then: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
  if (then === undefined || now === undefined || then.ino !== now.ino || then.mode !== now.mode) return false;
  return then.isDirectory() || then.ctimeNs === now.ctimeNs;
}

/** Programs are the machine's own; everything personal is the folder's. */
function makeHome(base: string): NodeJS.ProcessEnv {
  const home = join(base, "home");
  const programs = join(base, "programs");
  mkdirSync(home);
  mkdirSync(programs);
  writeFileSync(join(home, "secret.txt"), `${SECRET}\n`);
  writeFileSync(
    join(home, ".gitconfig"),
    '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n',
  );
  symlinkSync(createRequire(import.meta.url)("@vscode/ripgrep").rgPath, join(programs, "rg"));
  symlinkSync(process.execPath, join(programs, "node"));
  const path = `${programs}:${process.env.PATH ?? ""}`;
  return {
    PATH: path,
    PLANTED: SECRET,
    HOME: home,
    LANG: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    // Else it waits for ten seconds, so that its warning is read.
    FILTER_BRANCH_SQUELCH_WARNING: "1",
    npm_config_update_notifier: "false",
  };
}

function makeProject(arena: string, env: NodeJS.ProcessEnv): void {
  const root = join(arena, "root");
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(arena, file)), { recursive: true });
    writeFileSync(join(arena, file), text);
  };
  write("outside/secret.txt", `${SECRET}\n`);
  write("outside/deeper/x", "x\n");
  write(`outside/names/${SECRET}`, "x\n");
  write("root/sub/names.lst", "../outside/secret.txt\n");
  write("root/deep/real/secret.txt", "nothing\n");
  write("root/file.txt", "a\nb\n");
  write("root/many.txt", "line\n".repeat(5000));
  write("root/extdiff.txt", "a\n");
  write("root/package.json", '{ "name": "x", "version": "1.0.0", "scripts": { "test": "echo tested" } }');
  write(
    "root/tools/package.json",
    JSON.stringify({ scripts: { test: "touch canary", evil: "touch canary" } }),
  );
  write("root/tools/env.sh", "touch canary\n");
  write("root/tools/script.sed", "1e touch canary\n");
  write("root/tools/script.awk", 'BEGIN{system("touch canary")}\n');
  write("root/tools/list", "canary\n");
  write("root/tools/evil.mk", "all:\n\ttouch canary\n");
  write("root/tools/template/canary", "x\n");
  for (const name of ["ls", "cat", "git-canary-maker"]) {
    // Also where PATH leads nowhere else.
    write(`root/tools/${name}`, "#!/bin/sh\n: > canary\n");
    chmodSync(join(root, "tools", name), 0o755);
  }
  write("root/5/ls", "#!/bin/sh\n: > canary\n");
  chmodSync(join(root, "5/ls"), 0o755);
  write("root/odd/$(touch canary)", "x\n");
  write('root/names/BEGIN{system("touch can" "ary")}', "x\n");
  write("root/names/f%n", "x\n");
  write("root/names/fa[$(touch can''ary)]", "x\n");
  write("root/names/two/-v", "x\n");
  write("root/names/two/a[$(touch can''ary)]", "x\n");
  write("root/names/three/s,a,touch can''ary,e;s,y,x,", "x\n");
  write("root/odd-names/x link.txt", "x\n");
  write("root/twin/link.txt", "other\n");
  write("root/vendored/HEAD", "ref: refs/heads/main\n");
  mkdirSync(join(root, "vendored/objects"), { recursive: true });
  mkdirSync(join(root, "vendored/refs"));
  write(
    "root/vendored/config",
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../sub\n\tfsmonitor = "touch canary;false"\n',
  );
  for (const file of PROTECTED) if (!file.startsWith(".git/")) write(`root/${file}`, "a=1\n");
  const sh = (command: string) =>
    execFileSync("bash", ["--norc", "-c", command], { cwd: root, env, stdio: "pipe" });
  sh(
    "tar -cf tools/a.tar file.txt; git init -q --template=; echo 'extdiff.txt diff=hostile' > .gitattributes",
  );
  sh(
    "git add -A; git commit -qm 1; echo c >> extdiff.txt; git commit -qam 2; echo c >> many.txt; git commit -qam 3",
  );
  sh("git config alias.hostile '!touch canary'; git config diff.hostile.command 'touch canary;:'");
  sh(
    "mkdir .git/hooks; ln -s ../outside link; ln -s ../outside/secret.txt link.txt; ln -s ../../outside/deeper deep/link",
  );
  write("root/file.txt", `a\nb\n${KEPT}\n`);
}

function hasCanary(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    if (entry.name === "template" || entry.name === "git-canary-maker") return false;
    return entry.name.includes("canary") || (entry.isDirectory() && hasCanary(join(folder, entry.name)));
  });
}

function isLost(root: string, env: NodeJS.ProcessEnv): boolean {
  const file = join(root, "file.txt");
  if (existsSync(file) && readFileSync(file, "utf8").includes(KEPT)) return false;
  return !spawnSync("git", ["stash", "list"], { cwd: root, env, encoding: "utf8" }).stdout;
}

function protectedContent(root: string): string {
  const content = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");
  return PROTECTED.map((file) => content(join(root, file))).join("\0");
}

/** Followed step by step, as the system does, also when the last step is missing. */
function isBeyond(path: string, root: string): boolean {
  try {
    const real = realpathSync.native(path);
    return real !== root && !real.startsWith(`${root}/`);
  } catch {
    const at = path.replace(/\/+$/, "").lastIndexOf("/");
    return at > 0 && isBeyond(path.slice(0, at), root);
  }
}

function matches(pattern: string): string[] {
  const at = pattern.lastIndexOf("/");
  if (at <= 0) return [pattern || "/"];
  const name = basename(pattern);
  const source = name
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return matches(pattern.slice(0, at)).flatMap((folder) => {
    if (!/[*?[]/.test(name)) return [`${folder}/${name}`];
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.filter((each) => new RegExp(`^${source}$`).test(each)).map((each) => `${folder}/${each}`);
  });
}
