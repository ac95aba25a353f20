import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";

const createdFolders: string[] = [];

/** Removes the folders at the end of every test file; see `remove-folders.ts`. */
export function removeFolders(): void {
  for (const folder of createdFolders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/**
 * Creates a folder and returns its real path. It, and what is created next to it, is removed after the file's tests.
 */
export function createTemporaryFolder(): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-")));
  createdFolders.push(top);
  const folder = join(top, "root");
  mkdirSync(folder);
  return folder;
}

/**
 * Creates a folder that commands in the sandbox see. They have another `/tmp`, and the clone may be below `/tmp` too.
 */
export function createVisibleFolder(): string {
  const modules = join(process.cwd(), "node_modules");
  const place = /^\/(?:var\/)?tmp\//.test(realpathSync(modules)) ? homedir() : modules;
  const folder = realpathSync(mkdtempSync(join(place, ".burin-visible-")));
  createdFolders.push(folder);
  return folder;
}

/** Writes a file and the folders above it, and returns its path. */
export function createFile(root: string, name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Creates a folder with these files. */
export function createTree(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = createTemporaryFolder();
  for (const [name, content] of Object.entries(files)) createFile(root, name, content);
  return root;
}

/** Blocks this whole process until the time is over and the file exists. */
export function blockProcess(path: string, milliseconds: number): void {
  const end = performance.now() + milliseconds;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (performance.now() < end || !existsSync(path)) Atomics.wait(cell, 0, 0, 20);
}

/** Folders for a test: a root and a separate home, so that no git setting of this computer applies. */
export interface GitHome {
  /** The folder above root and home. */
  readonly base: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Writes a file below `base` and returns its path. */
  write(path: string, text: string, mode?: number): string;
  git(folder: string, ...words: string[]): string;
  /** Turns a folder into a repository, with everything in it as the first commit. */
  makeRepository(folder: string): string;
}

export function createGitHome(): GitHome {
  const root = createTemporaryFolder();
  const base = dirname(root);
  const environment = { PATH: process.env.PATH, HOME: join(base, "home"), GIT_CONFIG_NOSYSTEM: "1" };
  const home: GitHome = {
    base,
    root,
    environment,
    write(path, text, mode = 0o644) {
      const written = createFile(base, path, text);
      chmodSync(written, mode);
      return written;
    },
    git: (folder, ...words) =>
      execFileSync("git", words, { cwd: folder, encoding: "utf8", env: environment, stdio: "pipe" }),
    makeRepository(folder) {
      createFile(folder, "file.txt", "text\n");
      home.git(folder, "init", "-q");
      home.git(folder, "add", "-A");
      home.git(folder, "commit", "-q", "-m", "first");
      return folder;
    },
  };
  home.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = a@example.org\n");
  return home;
}
