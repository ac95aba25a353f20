// Repositories built to show what lies outside of them, when somebody only looks at them.
import { appendFileSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { plantInRepository, plantSetting, SECRET } from "./arena.mjs";

/** @typedef {import("./arena.mjs").Arena} Arena */
/** @typedef {import("./hostile.mjs").Hostile} Hostile */

/** A repository outside whose text is nobody's business here. @param {Arena} arena */
function makeSecretRepository(arena) {
  arena.makeRepository("../outside/private");
  cpSync(join(arena.base, "outside/secret.txt"), join(arena.base, "outside/private/a.txt"));
  arena.git("../outside/private", "commit", "-q", "-am", "secret");
}

/** In git's own folder, a link to the secret or to another file outside. @param {string} path @param {(arena: Arena) => string} [text] @returns {(arena: Arena) => void} */
const plantLink = (path, text) => (arena) => {
  arena.makeRepository();
  arena.git(".", "worktree", "add", "-q", "tree");
  const file = join(arena.root, ".git", path);
  const target = text === undefined ? "outside/secret.txt" : "outside/text";
  if (text !== undefined) arena.write(target, text(arena));
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  symlinkSync(join(arena.base, target), file);
};

/** A link in the place of a folder that the index knows. @param {Arena} arena */
function plantLinkedFolder(arena) {
  arena.write("outside/src/c.txt", `alpha ${SECRET}\n`);
  renameSync(join(arena.root, "src"), join(arena.base, "outside/moved"));
  symlinkSync(join(arena.base, "outside/src"), join(arena.root, "src"));
}

/** A merge that stops at the same line. @param {Arena} arena */
function makeConflict(arena) {
  arena.makeRepository();
  arena.git(".", "commit", "-q", "-am", "one");
  arena.git(".", "checkout", "-q", "-b", "other", "HEAD~1");
  arena.write("root/src/c.txt", "gamma\nless\n");
  arena.git(".", "commit", "-q", "-am", "two");
  try {
    arena.git(".", "merge", "-q", "main");
  } catch {
    // That is what was wanted.
  }
}

/** @type {readonly Hostile[]} */
export const OUTSIDE = [
  {
    name: "git's folder outside, by a file",
    folders: ["sub"],
    proof: "cd sub && git show",
    make: (arena) => {
      makeSecretRepository(arena);
      arena.makeRepository();
      arena.write("root/sub/.git", `gitdir: ${join(arena.base, "outside/private/.git")}\n`);
    },
  },
  {
    name: "git's folder outside, by a link",
    proof: "git show",
    make: (arena) => {
      makeSecretRepository(arena);
      symlinkSync(join(arena.base, "outside/private/.git"), join(arena.root, ".git"));
    },
  },
  {
    name: "a work tree that belongs to others",
    proof: "git show",
    make: (arena) => {
      makeSecretRepository(arena);
      arena.git("../outside/private", "worktree", "add", "-q", join(arena.base, "outside/tree"));
      arena.write("root/.git", `gitdir: ${join(arena.base, "outside/private/.git/worktrees/tree")}\n`);
    },
  },
  {
    name: "commondir outside",
    proof: "git show",
    make: (arena) => {
      makeSecretRepository(arena);
      arena.makeRepository();
      arena.write("root/.git/commondir", `${join(arena.base, "outside/private/.git")}\n`);
    },
  },
  {
    name: "objects of others",
    proof: "git log -p",
    make: (arena) => {
      makeSecretRepository(arena);
      arena.makeRepository();
      arena.write(
        "root/.git/objects/info/alternates",
        `${join(arena.base, "outside/private/.git/objects")}\n`,
      );
      const head = arena.git("../outside/private", "rev-parse", "HEAD");
      arena.write("root/.git/HEAD", head);
    },
  },
  {
    name: "a work tree outside",
    proof: "git diff",
    make: plantInRepository((arena) => {
      arena.write("outside/a.txt", "secret-words-0815\n");
      arena.git(".", "config", "core.worktree", join(arena.base, "outside"));
    }),
  },
  {
    name: "names to be ignored in a file outside",
    proof: "git check-ignore -v secret-words-0815",
    make: plantSetting("core.excludesFile", "../outside/secret.txt"),
  },
  {
    name: "a folder of the index that leads outside",
    proof: "git grep alpha",
    make: plantInRepository(plantLinkedFolder),
  },
  {
    name: "a conflict in a folder that leads outside",
    proof: "git diff",
    make: (arena) => {
      makeConflict(arena);
      plantLinkedFolder(arena);
    },
  },
  {
    name: "a rebase that stands in a file outside",
    proof: "git status",
    make: (arena) => {
      plantLink("rebase-merge/done")(arena);
      for (const name of ["interactive", "git-rebase-todo"])
        arena.write(`root/.git/rebase-merge/${name}`, "");
    },
  },
  {
    name: "a work tree whose place stands in a file outside",
    proof: "git worktree list",
    make: plantLink("worktrees/tree/gitdir"),
  },
  {
    name: "the log of a branch outside",
    proof: "git reflog show main",
    make: plantLink("logs/refs/heads/main", (arena) => {
      const head = arena.git(".", "rev-parse", "HEAD").trim();
      return `${head} ${head} Ada <ada@example.org> 1700000000 +0000\t${SECRET}\n`;
    }),
  },
  {
    name: "an address that the user's settings give a password",
    proof: "git remote -v",
    make: plantInRepository((arena) => {
      const settings = `[url "https://ada:${SECRET}@example.org/"]\n\tinsteadOf = https://example.org/\n`;
      appendFileSync(join(arena.base, "home/.gitconfig"), settings);
      arena.git(".", "remote", "add", "origin", "https://example.org/x");
    }),
  },
];
