// Repositories built to run a program, or to show what lies outside, when somebody only looks at them.
import { appendFileSync, chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { plantInRepository, plantSetting } from "./arena.mjs";
import { OUTSIDE } from "./hostile-outside.mjs";

/** @typedef {import("./arena.mjs").Arena} Arena */
/**
 * `proof` is a command that has the effect when git runs it as it is, in a shell of its own.
 * @typedef {{ name: string, folders?: readonly string[], proof: string | null, make: (arena: Arena) => void }} Hostile
 */

/** @param {(evil: string) => string} text @returns {(arena: Arena) => void} */
const plantSettings = (text) =>
  plantInRepository((arena) => appendFileSync(join(arena.root, ".git/config"), text(arena.evil)));

/** Without a work tree, under a name of its own, as it can be committed. @param {string} place @param {(evil: string) => string} config */
const plantBareRepository = (place, config) => (/** @type {Arena} */ arena) => {
  arena.makeRepository("made");
  mkdirSync(join(arena.root, place, ".."), { recursive: true });
  renameSync(join(arena.root, "made/.git"), join(arena.root, place));
  rmSync(join(arena.root, "made"), { recursive: true });
  arena.write(`root/${place}/info/attributes`, "* diff=evil\n");
  arena.write(`root/${place}/config`, config(arena.evil));
  if (place !== ".git") arena.makeRepository();
};

/** @param {string} name @returns {(arena: Arena) => void} */
const plantHook = (name) =>
  plantInRepository((arena) => {
    cpSync(arena.evil, join(arena.root, ".git/hooks", name));
    chmodSync(join(arena.root, ".git/hooks", name), 0o755);
  });

/** @param {string} key @param {string | null} proof @returns {Hostile} */
const createSettingAttack = (key, proof) => ({ name: key, proof, make: plantSetting(key) });

const TEXTCONV = (/** @type {string} */ evil) =>
  `[core]\n\tbare = true\n[diff "evil"]\n\ttextconv = ${evil}\n`;
/** Its files are those of a folder of the root. */
const WATCHED = (/** @type {string} */ evil) =>
  `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${join(evil, "../../src")}\n\tfsmonitor = ${evil}\n`;

/** @param {Arena} arena @param {string} key */
function plantSubmodule(arena, key) {
  arena.makeRepository("../outside/other");
  arena.makeRepository();
  arena.git(".", "submodule", "--quiet", "add", join(arena.base, "outside/other"), "sub");
  arena.git(".", "commit", "-q", "-am", "with a submodule");
  arena.git("sub", "config", key, arena.evil);
  arena.write("root/sub/a.txt", "changed there\n");
}

/** What git needs to see to take a folder for a repository. @param {Arena} arena @param {string} folder */
function plantLookalike(arena, folder) {
  arena.write(`root/${folder}/HEAD`, "ref: refs/heads/main\n");
  mkdirSync(join(arena.root, folder, "objects"), { recursive: true });
  mkdirSync(join(arena.root, folder, "refs"), { recursive: true });
  mkdirSync(join(arena.root, "src"), { recursive: true });
  arena.write(`root/${folder}/config`, WATCHED(arena.evil));
}

/** @type {readonly Hostile[]} */
const BARE = [
  {
    name: "a bare repository as docs",
    folders: ["docs"],
    proof: "cd docs && git show",
    make: plantBareRepository("docs", TEXTCONV),
  },
  {
    name: "a bare repository deep down",
    folders: ["x/y/z", "x/y/z/refs"],
    proof: "cd x/y/z/refs && git log -p",
    make: plantBareRepository("x/y/z", TEXTCONV),
  },
  {
    name: "a bare repository with files and a watcher",
    folders: ["docs"],
    proof: "cd docs && git status",
    make: plantBareRepository("docs", WATCHED),
  },
  {
    name: "HEAD, objects and refs, and settings",
    folders: ["docs"],
    proof: "cd docs && git status",
    make: plantInRepository((arena) => plantLookalike(arena, "docs")),
  },
  { name: "the root as a bare repository", proof: "git status", make: (arena) => plantLookalike(arena, ".") },
  {
    name: "a folder that is named like one of git's",
    folders: ["sub/git", "GIT_DIR"],
    proof: "cd GIT_DIR && git status",
    make: plantInRepository((arena) => {
      plantLookalike(arena, "sub/git");
      plantLookalike(arena, "GIT_DIR");
    }),
  },
];

/** @type {readonly Hostile[]} */
const SETTINGS = [
  createSettingAttack("core.fsmonitor", "git status"),
  createSettingAttack("diff.external", "git diff"),
  createSettingAttack("diff.evil.textconv", "git log -p"),
  createSettingAttack("diff.evil.command", "git diff HEAD~1"),
  createSettingAttack("filter.evil.clean", "touch src/c.txt; git status; git diff"),
  createSettingAttack("filter.evil.process", "touch src/c.txt; git status; git diff"),
  createSettingAttack(
    "merge.evil.driver",
    "git stash -q; git checkout -q -b x HEAD~1; echo z > a.txt; git commit -qam z; git merge main",
  ),
  createSettingAttack("core.editor", "git commit --allow-empty"),
  createSettingAttack("core.sshCommand", "git ls-remote ssh://nowhere.invalid/x"),
  createSettingAttack("credential.helper", "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill"),
  createSettingAttack("gpg.program", "git commit --allow-empty -S -m x"),
  createSettingAttack("trailer.x.cmd", "echo | git interpret-trailers --trailer x=1"),
  createSettingAttack("core.alternateRefsCommand", null),
  createSettingAttack("core.pager", null),
  createSettingAttack("pager.log", null),
  createSettingAttack("gpg.ssh.defaultKeyCommand", null),
  createSettingAttack("hook.x.command", null),
  createSettingAttack("uploadpack.packObjectsHook", null),
  {
    name: "an alias in the place of a command",
    proof: "git go",
    make: plantSetting("alias.go", "!tools/evil.sh"),
  },
  {
    name: "an alias that is named like a command",
    proof: null,
    make: plantSetting("alias.status", "!tools/evil.sh"),
  },
  {
    name: "hooks in a folder of the project",
    proof: "git status; touch a.txt; git status",
    make: plantInRepository((arena) => {
      arena.write("root/hooks/.keep", "");
      cpSync(arena.evil, join(arena.root, "hooks/post-index-change"));
      arena.git(".", "config", "core.hooksPath", "hooks");
    }),
  },
  {
    name: "the hook post-index-change",
    proof: "touch src/c.txt; git status",
    make: plantHook("post-index-change"),
  },
  { name: "the hook pre-commit", proof: "git commit -qam x", make: plantHook("pre-commit") },
  {
    name: "the hook fsmonitor-watchman",
    proof: "git status",
    make: (arena) => {
      plantHook("fsmonitor-watchman")(arena);
      arena.git(".", "config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman");
    },
  },
  {
    name: "a promised object that a program of the repository brings",
    proof: null,
    make: plantInRepository((arena) => {
      arena.git(".", "config", "remote.origin.url", arena.root);
      arena.git(".", "config", "remote.origin.promisor", "true");
      arena.git(".", "config", "remote.origin.uploadpack", arena.evil);
      arena.git(".", "config", "extensions.partialClone", "origin");
      arena.git(".", "config", "core.repositoryFormatVersion", "1");
      const blob = arena.git(".", "rev-parse", "HEAD:a.txt").trim();
      rmSync(join(arena.root, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
    }),
  },
  {
    name: "a program of git-lfs",
    proof: null,
    make: plantInRepository((arena) => {
      arena.write("root/.lfsconfig", `[lfs "extension.evil"]\n\tclean = ${arena.evil}\n`);
      arena.git(".", "config", "lfs.extension.evil.clean", arena.evil);
      arena.git(".", "config", "filter.lfs.clean", `git-lfs clean -- %f; ${arena.evil}`);
    }),
  },
];

/** @type {readonly (readonly [string, (evil: string) => string])[]} */
const WRITTEN = [
  ["a value over two lines", (evil) => `[core]\n\tfsmonitor = \\\n${evil}\n`],
  ["an odd name", (evil) => `[filter "evil"]\n\tx = y\n[diff "a]b"]\n[filter "evil"]\n\tclean = ${evil}\n`],
  ["a bracket in a name", (evil) => `[core] fsmonitor = ${evil}\n[filter "a]b"]\n\tclean = ${evil}\n`],
  [
    "escapes in a name",
    (evil) => `[filter "a\\"\\\\b"]\n\tclean = x\n[filter "\\evil"]\n\tclean = ${evil}\n`,
  ],
  ["capitals and tabs", (evil) => `[CORE]\tFSMonitor\t=\t${evil}\n`],
  ["CRLF", (evil) => `[core]\r\n\tfsmonitor = ${evil}\r\n`],
  ["comments in between", (evil) => `[core] # [other]\n\tfsmonitor = ${evil} ; false\n`],
  ["an older way of naming", (evil) => `[filter.evil]\n\tclean = ${evil}\n`],
  ["quotes within the value", (evil) => `[core]\n\tfsmonitor = "${evil.slice(0, 5)}"${evil.slice(5)}\n`],
];

/** @type {readonly Hostile[]} */
const SPELLINGS = WRITTEN.map(([name, text]) => ({
  name,
  proof: "touch src/c.txt; git status; git diff",
  make: plantSettings(text),
}));

/** @type {readonly Hostile[]} */
const ELSEWHERE = [
  {
    name: "a mark of byte order before the settings",
    proof: "git status",
    make: plantInRepository((arena) => {
      arena.write("root/.git/config", `\uFEFF[core]\n\tfsmonitor = ${arena.evil}\n`);
    }),
  },
  {
    name: "include",
    proof: "git status",
    make: plantInRepository((arena) => {
      arena.write("root/more", `[core]\n\tfsmonitor = ${arena.evil}\n`);
      arena.git(".", "config", "include.path", "../more");
    }),
  },
  ...["gitdir:**", "gitdir/i:**", "onbranch:**", "hasconfig:remote.*.url:**"].map((condition) => ({
    name: `includeIf ${condition}`,
    proof: "git status",
    make: plantInRepository((arena) => {
      arena.write("root/more", `[core]\n\tfsmonitor = ${arena.evil}\n`);
      arena.git(".", "config", "remote.origin.url", "https://example.org/x");
      arena.git(".", "config", `includeIf.${condition}.path`, "../more");
    }),
  })),
  {
    name: "commondir",
    proof: "git status",
    make: plantInRepository((arena) => {
      cpSync(join(arena.root, ".git"), join(arena.root, "common"), { recursive: true });
      arena.write("root/common/config", `[core]\n\tfsmonitor = ${arena.evil}\n`);
      arena.write("root/.git/commondir", "../common\n");
    }),
  },
  {
    name: "a file that names git's folder",
    folders: ["sub"],
    proof: "cd sub && git status",
    make: plantInRepository((arena) => {
      arena.makeRepository("sub");
      renameSync(join(arena.root, "sub/.git"), join(arena.root, "odd"));
      arena.write("root/sub/.git", "gitdir: ../odd\n");
      arena.write("root/odd/config", `[core]\n\tfsmonitor = ${arena.evil}\n`);
    }),
  },
  {
    name: "a link to git's folder",
    proof: "git status",
    make: plantInRepository((arena) => {
      arena.git(".", "config", "core.fsmonitor", arena.evil);
      renameSync(join(arena.root, ".git"), join(arena.root, "odd"));
      symlinkSync("odd", join(arena.root, ".git"));
    }),
  },
  {
    name: "settings of one work tree",
    proof: "git status",
    make: plantInRepository((arena) => {
      arena.git(".", "config", "extensions.worktreeConfig", "true");
      arena.git(".", "config", "--worktree", "core.fsmonitor", arena.evil);
    }),
  },
  {
    name: "a work tree elsewhere in the root",
    proof: "git status",
    make: plantInRepository((arena) => {
      arena.write("root/files/a.txt", "alpha\n");
      arena.git(".", "config", "core.worktree", "../files");
      arena.git(".", "config", "core.fsmonitor", arena.evil);
    }),
  },
  {
    name: "a submodule with a watcher",
    folders: ["sub"],
    proof: "git status",
    make: (arena) => plantSubmodule(arena, "core.fsmonitor"),
  },
  {
    name: "a submodule with a filter",
    folders: ["sub"],
    proof: "touch sub/src/c.txt; git diff",
    make: (arena) => plantSubmodule(arena, "filter.evil.clean"),
  },
  {
    name: "a gitlink with a planted repository",
    folders: ["sub"],
    proof: "git status",
    make: (arena) => {
      arena.makeRepository("sub");
      arena.makeRepository();
      arena.git("sub", "config", "core.fsmonitor", arena.evil);
    },
  },
  {
    name: "a submodule that is compared as a whole",
    proof: "git log -p --submodule=diff",
    make: (arena) => {
      arena.makeRepository("sub");
      arena.makeRepository();
      arena.git(".", "rm", "-q", "--cached", "sub");
      arena.git(".", "commit", "-q", "-m", "without");
      arena.git(".", "config", "diff.submodule", "diff");
      arena.git("sub", "config", "diff.evil.textconv", arena.evil);
    },
  },
];

export const HOSTILE = [...BARE, ...SETTINGS, ...SPELLINGS, ...ELSEWHERE, ...OUTSIDE];
