// Workflows as the scripts in package.json files of npm packages and their makefiles have them, and what changes git's
// configuration or other packages of a repository.

const SERVER = { run: `node -e 'setInterval(() => {}, 1000)'`, background: true };
/** Each scripts block is that of a real package; the tools that it builds with are left out. */
const scripts = (/** @type {Record<string, string>} */ all) =>
  `printf '%s' '${JSON.stringify({ name: "shop", version: "1.0.0", scripts: all }).replaceAll("'", "'\\''")}' > package.json`;
const ELSEWHERE = `T=$(git rev-parse --show-toplevel); git switch -qc wide; echo wide > "$T/wide.txt"; echo wide >> src/sum.js; git add -A "$T"; git commit -qm Wide; git switch -q main`;

/** @type {import("./run.mjs").Row[]} */
export const ROWS = [
  {
    name: "a script that amends a release and moves its tag",
    from: "async-function, package.json",
    before: `${scripts({ postversion: "git add CHANGELOG.md && git commit -q --no-edit --amend && git tag -f v1.0.0 > /dev/null" })}; git add -A; git commit -qm v1.0.0; git tag v1.0.0; echo notes > CHANGELOG.md`,
    steps: ["npm run -s postversion", "git status --short"],
  },
  {
    name: "hooks in a folder of the project",
    from: "ip-address, package.json",
    steps: ["git config core.hooksPath hooks || true"],
  },
  {
    name: "clean all but the packages",
    from: "zod, package.json",
    before:
      "mkdir -p node_modules/a coverage; echo 1 > node_modules/a/x.js; echo 1 > coverage/a; echo 1 > a.log",
    steps: ["git clean -xdf . -e node_modules", "ls"],
  },
  {
    name: "a clean script over folders that may not be there",
    from: "diff, package.json",
    before: `mkdir -p dist .nyc_output; echo 1 > dist/a; ${scripts({ clean: "rm -rf libcjs/ libesm/ dist/ coverage/ .nyc_output/" })}`,
    steps: ["npm run -s clean", "ls -A"],
  },
  {
    name: "remove, make and fill a folder",
    from: "eventemitter3, package.json",
    before: "mkdir -p umd/.vscode; echo '{}' > umd/.vscode/settings.json",
    steps: ["rm -rf umd && mkdir umd && cat src/sum.js > umd/sum.js"],
  },
  {
    name: "copy what find finds, with its folders",
    from: "a package.json",
    before: "mkdir -p lib/esm/a; echo 1 > lib/esm/a/x.d.ts",
    steps: ["cd lib/esm/ && find . -type f -name '*.d.ts' -exec cp --parents {} ../ \\;"],
  },
  {
    name: "rename a branch while a server runs",
    from: "flight rules",
    steps: [SERVER, "git branch -m trunk", "git config push.default current", "git remote add up ../up.git"],
  },
  {
    name: "follow a branch of a remote while a server runs",
    from: "cheat sheet",
    before: "git clone -q --bare . .git/up.git; git remote add up .git/up.git; git fetch -q up",
    steps: [SERVER, "git checkout -q -b topic up/main", "git branch -d topic"],
    whole: true,
  },
  {
    name: "a branch that changes what is above",
    from: "contributing guide",
    before: ELSEWHERE,
    steps: ["git checkout wide", "git status --short", "git checkout main", "git merge -q wide"],
  },
  {
    name: "take one folder of a branch that changes more",
    from: "contributing guide",
    before: ELSEWHERE,
    steps: ["git checkout wide -- src", "git status --short ."],
  },
];
