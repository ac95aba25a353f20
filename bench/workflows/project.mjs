// The project that a workflow starts from, in one of four places.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FILES = {
  "package.json": `${JSON.stringify(
    {
      name: "shop",
      version: "1.0.0",
      private: true,
      scripts: {
        test: "node --test test/ > /dev/null && echo passed",
        build: "mkdir -p dist && cat src/*.js > dist/all.js",
        lint: "test ! -e src/bad.txt",
        hello: "node -e \"console.log('hello', process.argv.slice(1).join(' '))\" --",
      },
    },
    null,
    2,
  )}\n`,
  "src/sum.js": "exports.sum = (a, b) => a + b;\n",
  "src/util.js": "exports.twice = (a) => 2 * a;\n",
  "test/sum.test.js":
    'const { sum } = require("../src/sum.js");\nrequire("node:test")("sum", () => {\n  if (sum(1, 2) !== 3) throw new Error("sum");\n});\n',
  "README.md": "# Shop\n\nA sum of things.\n",
  ".gitignore": "node_modules/\ndist/\n*.log\n.env\n",
  ".env.example": "PORT=3000\n",
};

/**
 * @typedef {{ root: string, home: string, outside: string, folder: string, env: NodeJS.ProcessEnv }} Project
 * @param {string} folder
 * @param {string} place
 * @param {{ base: "folder" | undefined, home: string }} how `home`: the new home folder of the user
 * @returns {Project}
 */
export function makeProject(folder, place, { base, home }) {
  const [outside, repository] = ["outside", "shop"].map((name) => join(folder, name));
  if (outside === undefined || repository === undefined) throw new Error("unreachable");
  for (const path of [home, outside, repository]) mkdirSync(path, { recursive: true });
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = A B\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n",
  );
  const { PATH, LANG, TMPDIR, npm_config_userconfig, HOME } = process.env;
  const env = {
    PATH,
    LANG,
    ...(TMPDIR ? { TMPDIR } : {}),
    // Its notice of a newer version comes once a day.
    npm_config_update_notifier: "false",
    // Where this machine's npm finds its registry.
    npm_config_userconfig: npm_config_userconfig ?? join(HOME ?? "", ".npmrc"),
    HOME: home,
    OUTSIDE: outside,
    BURIN_HOME: join(home, ".burin"),
  };
  const inner = place === "subfolder" ? join(repository, "packages/shop") : repository;
  mkdirSync(inner, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(inner, name)), { recursive: true });
    writeFileSync(join(inner, name), text);
    chmodSync(join(inner, name), 0o644);
  }
  if (base === "folder" && place !== "subfolder") return { root: inner, home, outside, folder, env };
  const git = (/** @type {string[]} */ ...words) =>
    execFileSync("git", words, { cwd: repository, env, stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "First");
  if (place !== "linked") return { root: inner, home, outside, folder, env };
  const linked = join(folder, "linked");
  git("switch", "-qc", "parked");
  git("worktree", "add", "-q", linked, "main");
  return { root: linked, home, outside, folder, env };
}
