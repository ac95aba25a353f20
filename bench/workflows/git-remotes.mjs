// Workflows with remotes, work trees and new repositories; sources as in git.mjs.

const TOOLING = `git switch -qc tooling; mkdir -p .husky .vscode; printf 'npm test\\n' > .husky/pre-commit; chmod +x .husky/pre-commit
printf '{"editor.tabSize":2}\\n' > .vscode/settings.json; printf 'save-exact=true\\n' > .npmrc; git add -A; git commit -qm 'Add tooling'; git switch -q main`;
const REMOTE = `git clone -q --bare . "$OUTSIDE/origin.git"; git remote add origin "$OUTSIDE/origin.git"; git fetch -q origin
git clone -q "$OUTSIDE/origin.git" "$OUTSIDE/other"; (cd "$OUTSIDE/other"; git switch -qc daves; echo 1 > dave.txt; git add -A; git commit -qm 'Dave'; git push -q origin daves; git switch -q main; echo 2 > main.txt; git add -A; git commit -qm 'More'; git push -q origin main)`;

/** @type {import("./run.mjs").Row[]} */
export const ROWS = [
  {
    name: "follow a remote branch",
    from: "flight rules",
    before: REMOTE,
    steps: ["git fetch --all", "git checkout --track origin/daves"],
  },
  {
    name: "switch to a remote branch by name",
    from: "flight rules",
    before: `${REMOTE}; git fetch -q`,
    steps: ["git switch daves", "git branch -vv"],
  },
  {
    name: "checkout -b with a start point",
    from: "flight rules",
    before: `${REMOTE}; git fetch -q`,
    steps: ["git checkout -b topic origin/daves"],
  },
  {
    name: "pull",
    from: "cheat sheet",
    before: `${REMOTE}; git branch -q -u origin/main`,
    steps: ["git pull"],
  },
  {
    name: "fetch and merge",
    from: "cheat sheet",
    before: REMOTE,
    steps: ["git fetch origin", "git merge origin/main"],
  },
  { name: "fetch with prune", from: "flight rules", before: REMOTE, steps: ["git fetch -p"] },
  {
    name: "reset to the remote",
    from: "flight rules",
    before: `${REMOTE}; git fetch -q`,
    steps: ["git reset --hard origin/main"],
  },
  {
    name: "set the upstream",
    from: "flight rules",
    before: `${REMOTE}; git fetch -q`,
    steps: ["git branch -u origin/main", "git status -sb"],
  },
  {
    name: "add and rename a remote",
    from: "cheat sheet",
    steps: [
      "git remote add upstream https://example.org/a.git",
      "git remote rename upstream other",
      "git remote -v",
      "git remote remove other",
    ],
  },
  {
    name: "a linked work tree inside",
    from: "git's handbook",
    before: "echo wt/ >> .git/info/exclude",
    whole: true,
    steps: [
      "git worktree add wt -b topic",
      "git -C wt status --short",
      "git worktree list",
      "git worktree remove wt",
      "git branch -d topic",
    ],
  },
  {
    name: "sparse checkout",
    from: "git's handbook",
    whole: true,
    steps: ["git sparse-checkout set src", "ls", "git sparse-checkout disable", "ls"],
  },
  {
    name: "start a repository",
    from: "cheat sheet",
    base: "folder",
    steps: ["git init", "git add -A", "git commit -m 'First'"],
  },
  {
    name: "start a repository by name",
    from: "cheat sheet",
    base: "folder",
    steps: ["git init demo", "cd demo && echo 1 > a && git add a && git commit -m a"],
  },
  {
    name: "clone a local repository",
    from: "git's handbook",
    before: REMOTE,
    steps: ['git clone "$OUTSIDE/origin.git" copy', "git -C copy log --oneline"],
  },
  {
    name: "switch with hooks of husky",
    from: "husky's installation page",
    before: `${TOOLING}; git merge -q tooling; git config core.hooksPath .husky`,
    steps: ["echo 1 >> README.md", "git commit -am 'Run the hook'"],
  },
];
