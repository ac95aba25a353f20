// What people really work in: nothing of it may cost a question.
import { join } from "node:path";

/** @typedef {import("./arena.mjs").Arena} Arena */
/** @typedef {{ name: string, folders?: readonly string[], root?: string, make: (arena: Arena) => void }} Ordinary */

/** @type {readonly Ordinary[]} */
export const ORDINARY = [
  { name: "a plain repository", make: (arena) => arena.makeRepository() },
  {
    name: "hooks of husky, an own editor, a key and a helper",
    make: (arena) => {
      arena.makeRepository();
      arena.git(".", "config", "core.hooksPath", ".husky/_");
      arena.git(".", "config", "core.editor", "vim");
      arena.git(".", "config", "core.sshCommand", "ssh -i key");
      arena.git(".", "config", "credential.helper", "store");
      arena.git(".", "config", "remote.origin.url", "https://example.org/x.git");
      arena.git(".", "config", "branch.main.remote", "origin");
    },
  },
  {
    name: "git-lfs set up in the repository",
    make: (arena) => {
      arena.makeRepository();
      arena.git(".", "config", "filter.lfs.clean", "git-lfs clean -- %f");
      arena.git(".", "config", "filter.lfs.smudge", "git-lfs smudge -- %f");
      arena.git(".", "config", "filter.lfs.process", "git-lfs filter-process");
      arena.git(".", "config", "filter.lfs.required", "true");
    },
  },
  {
    name: "a submodule",
    folders: ["libs/other"],
    make: (arena) => {
      arena.makeRepository("../outside/other");
      arena.makeRepository();
      arena.git(".", "submodule", "--quiet", "add", join(arena.base, "outside/other"), "libs/other");
      arena.git(".", "commit", "-q", "-am", "with a submodule");
    },
  },
  {
    name: "a linked work tree whose repository lies elsewhere",
    root: "tree",
    make: (arena) => {
      arena.makeRepository();
      arena.git(".", "worktree", "add", "-q", join(arena.base, "tree"));
    },
  },
  {
    name: "a folder of a larger repository",
    root: "root/src",
    make: (arena) => {
      arena.makeRepository();
      arena.write("root/src/a.txt", "alpha\nbeta\n");
      arena.write("root/src/src/c.txt", "gamma\n");
      arena.git(".", "add", "-A");
      arena.git(".", "commit", "-q", "-m", "third");
    },
  },
  {
    name: "a repository within the project",
    folders: ["vendor/lib"],
    make: (arena) => {
      arena.makeRepository();
      arena.makeRepository("vendor/lib");
    },
  },
];
