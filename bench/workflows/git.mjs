// Workflows with git, as handbooks and cheat sheets write them: GitHub's cheat sheet ("cheat sheet"), the flight rules
// for git ("flight rules"), and contributing guides. Each row: name, source, steps, and what is there before.

/** Branches of a project under way; `feat` has what feature branches bring. */
const FEAT = `git switch -qc feat; echo 'export const extra = 1;' > src/extra.js; git add -A; git commit -qm 'Add extra'; git switch -q main`;
const TOOLING = `git switch -qc tooling; mkdir -p .husky .vscode; printf 'npm test\\n' > .husky/pre-commit; chmod +x .husky/pre-commit
printf '{"editor.tabSize":2}\\n' > .vscode/settings.json; printf 'save-exact=true\\n' > .npmrc; git add -A; git commit -qm 'Add tooling'; git switch -q main`;
const TEST_ENV = `printf 'PORT=1\\n' > .env.test; git add -f .env.test; git commit -qm 'Add test settings'; git switch -qc ports; printf 'PORT=2\\n' > .env.test; git commit -qam 'Other port'; git switch -q main`;
const DIRTY = `echo '// note' >> src/sum.js`;
/** @type {import("./run.mjs").Row[]} */
export const ROWS = [
  {
    name: "stage and commit a change",
    from: "cheat sheet",
    before: DIRTY,
    steps: [
      "git status",
      "git diff",
      "git add src/sum.js",
      "git diff --staged",
      'git commit -m "Explain sum"',
    ],
  },
  {
    name: "commit everything",
    from: "cheat sheet",
    before: DIRTY,
    steps: ["git add .", "git commit -m 'All'", "git log --oneline"],
  },
  { name: "commit with -am", from: "cheat sheet", before: DIRTY, steps: ["git commit -am 'Tracked only'"] },
  {
    name: "unstage a file",
    from: "cheat sheet",
    before: `${DIRTY}; git add -A`,
    steps: ["git reset src/sum.js", "git status --short"],
  },
  {
    name: "create a branch and switch",
    from: "cheat sheet",
    steps: ["git branch topic", "git checkout topic", "git branch"],
  },
  { name: "switch -c and back", from: "cheat sheet", steps: ["git switch -c topic", "git switch -"] },
  {
    name: "merge a branch",
    from: "cheat sheet",
    before: FEAT,
    steps: ["git merge feat", "git branch -d feat"],
  },
  {
    name: "merge --no-ff",
    from: "flight rules",
    before: FEAT,
    steps: ["git merge --no-ff --no-commit feat", "git commit -m 'Merge feat'"],
  },
  {
    name: "merge --squash",
    from: "flight rules",
    before: FEAT,
    steps: ["git merge --squash feat", "git commit -m 'Feat'"],
  },
  {
    name: "a merge with a conflict, aborted",
    from: "flight rules",
    before: `git switch -qc a; echo a > src/sum.js; git commit -qam a; git switch -q main; echo b > src/sum.js; git commit -qam b`,
    steps: ["git merge a", "git status --short", "git merge --abort"],
  },
  {
    name: "a merge with a conflict, resolved",
    from: "flight rules",
    before: `git switch -qc a; echo a > src/sum.js; git commit -qam a; git switch -q main; echo b > src/sum.js; git commit -qam b`,
    steps: ["git merge a", "echo ab > src/sum.js && git add src/sum.js", "git commit --no-edit"],
  },
  {
    name: "remove a file",
    from: "cheat sheet",
    steps: ["git rm src/util.js", "git commit -m 'Remove util'"],
  },
  {
    name: "remove from the index only",
    from: "cheat sheet",
    steps: ["git rm --cached src/util.js", "git status --short"],
  },
  {
    name: "rename a file",
    from: "cheat sheet",
    steps: ["git mv src/util.js src/tools.js", "git commit -m 'Rename'"],
  },
  {
    name: "list ignored files",
    from: "cheat sheet",
    before: "echo x > debug.log",
    steps: ["git ls-files --other --ignored --exclude-standard"],
  },
  {
    name: "stash and pop",
    from: "cheat sheet",
    before: DIRTY,
    steps: ["git stash", "git stash list", "git stash pop"],
  },
  {
    name: "stash with untracked files",
    from: "flight rules",
    before: `${DIRTY}; echo n > new.txt`,
    steps: ["git stash -u", "git status --short", "git stash apply", "git stash drop"],
  },
  {
    name: "stash one file",
    from: "flight rules",
    before: `${DIRTY}; echo u >> src/util.js`,
    steps: ["git stash push -m 'just sum' src/sum.js", "git stash list"],
  },
  {
    name: "stash -k, reset, pop",
    from: "flight rules",
    before: `${DIRTY}; git add -A; echo u >> src/util.js`,
    steps: ["git stash -k", "git reset --hard", "git stash pop", "git add -A"],
  },
  { name: "stash drop", from: "cheat sheet", before: `${DIRTY}; git stash -q`, steps: ["git stash drop"] },
  {
    name: "move edits to another branch",
    from: "flight rules",
    before: `${FEAT}; ${DIRTY}`,
    steps: ["git stash", "git checkout feat", "git stash pop"],
  },
  {
    name: "look at history",
    from: "cheat sheet",
    before: FEAT,
    steps: ["git log --follow src/sum.js", "git diff main...feat", "git show HEAD"],
  },
  {
    name: "reset softly",
    from: "cheat sheet",
    before: `${DIRTY}; git commit -qam n`,
    steps: ["git reset --soft HEAD^", "git status --short"],
  },
  {
    name: "reset hard",
    from: "cheat sheet",
    before: `${DIRTY}; git commit -qam n`,
    steps: ["git reset --hard HEAD^"],
  },
  {
    name: "reset to ORIG_HEAD",
    from: "flight rules",
    before: `${FEAT}; git merge -q feat`,
    steps: ["git reset --hard ORIG_HEAD"],
  },
  {
    name: "amend the message",
    from: "flight rules",
    before: `${DIRTY}; git commit -qam typo`,
    steps: ["git commit --amend -m 'Right'"],
  },
  {
    name: "amend the author",
    from: "flight rules",
    before: `${DIRTY}; git commit -qam n`,
    steps: ['git commit --amend --no-edit --author "New Name <new@example.org>"'],
  },
  {
    name: "take a file out of a commit",
    from: "flight rules",
    before: `${DIRTY}; git commit -qam n`,
    steps: ["git checkout HEAD^ src/sum.js", "git commit --amend --allow-empty --no-edit"],
  },
  {
    name: "drop a commit with rebase --onto",
    from: "flight rules",
    before: `echo 1 > a.txt; git add -A; git commit -qm a; echo 2 > b.txt; git add -A; git commit -qm b`,
    steps: ["git rebase --onto HEAD~2 HEAD~1"],
  },
  {
    name: "committed to main instead of a branch",
    from: "flight rules",
    before: `${DIRTY}; git commit -qam n`,
    steps: ["git branch my-branch", "git reset --hard HEAD^", "git checkout my-branch"],
  },
  {
    name: "keep a whole file of a branch",
    from: "flight rules",
    before: FEAT,
    steps: ["git checkout feat -- src/extra.js", "git commit -m 'Take extra'"],
  },
  {
    name: "cherry-pick",
    from: "flight rules",
    before: FEAT,
    steps: ["git checkout -b 21", "git cherry-pick feat"],
  },
  {
    name: "revert",
    from: "flight rules",
    before: `${DIRTY}; git commit -qam n`,
    steps: ["git revert --no-edit HEAD"],
  },
  {
    name: "bring back a deleted branch",
    from: "flight rules",
    before: FEAT,
    steps: ["git branch -D feat", "git reflog", "git checkout -b help"],
  },
  { name: "rename the current branch", from: "flight rules", steps: ["git branch -m trunk", "git branch"] },
  {
    name: "rename another branch",
    from: "flight rules",
    before: FEAT,
    steps: ["git branch -m feat feature"],
  },
  {
    name: "rebase a branch and fast-forward",
    from: "flight rules",
    before: `${FEAT}; echo m > m.txt; git add -A; git commit -qm m`,
    steps: ["git checkout feat", "git rebase main", "git checkout main", "git merge --ff-only feat"],
  },
  {
    name: "an interactive rebase by script",
    from: "flight rules",
    before: `echo 1 > a.txt; git add -A; git commit -qm a; echo 2 > a.txt; git commit -qam b`,
    steps: ["GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -i HEAD~2"],
  },
  {
    name: "squash by reset",
    from: "flight rules",
    before: `${FEAT}; git switch -q feat`,
    steps: ["git reset --soft main", "git commit -am 'New feature'"],
  },
  {
    name: "a rebase with a conflict, aborted",
    from: "flight rules",
    before: `git switch -qc a; echo a > src/sum.js; git commit -qam a; git switch -q main; echo b > src/sum.js; git commit -qam b; git switch -q a`,
    steps: ["git rebase main", "git status --short", "git rebase --abort"],
  },
  {
    name: "tags",
    from: "flight rules",
    steps: ["git tag v1", "git tag -a v1.1 -m 'Version 1.1'", "git tag -d v1", "git tag"],
  },
  {
    name: "restore a deleted file",
    from: "flight rules",
    before: "rm src/util.js",
    steps: ["git restore src/util.js"],
  },
  {
    name: "discard all changes",
    from: "flight rules",
    before: DIRTY,
    steps: ["git checkout -- .", "git status --short"],
  },
  {
    name: "clean untracked files",
    from: "flight rules",
    before: "mkdir junk; echo 1 > junk/a",
    steps: ["git clean -nd", "git clean -fd"],
  },
  {
    name: "push.default",
    from: "flight rules",
    steps: ["git config push.default current", "git config --get push.default"],
  },
  {
    name: "bisect by a script",
    from: "contributing guide",
    before: "for i in 1 2 3 4; do echo $i > n.txt; git add -A; git commit -qm $i; done",
    steps: [
      "git bisect start HEAD HEAD~3",
      "git bisect run sh -c 'test $(cat n.txt) -lt 3'",
      "git bisect reset",
    ],
  },
  {
    name: "a patch by mail and back",
    from: "contributing guide",
    before: `${FEAT}`,
    steps: ["git format-patch main..feat -o patches", "git am patches/*.patch"],
    ignore: /\.patch$/,
  },
  {
    name: "check and apply a patch",
    from: "contributing guide",
    before: `${DIRTY}; git diff > fix.patch; git checkout -q src/sum.js`,
    steps: ["git apply --check fix.patch", "git apply fix.patch"],
  },
  { name: "gc and fsck", from: "contributing guide", steps: ["git gc -q", "git fsck"] },
  {
    name: "git notes and describe",
    from: "contributing guide",
    before: "git tag v1",
    steps: ["git notes add -m 'Reviewed'", "git describe --tags"],
  },
  {
    name: "blame and shortlog",
    from: "contributing guide",
    steps: ["git blame src/sum.js", "git shortlog -sn HEAD"],
  },
  {
    name: "switch to a branch that tracks tooling",
    from: "husky's installation page",
    before: TOOLING,
    steps: ["git checkout tooling", "git status --short", "git checkout main"],
  },
  {
    name: "merge a branch that adds tooling",
    from: "husky's installation page",
    before: TOOLING,
    steps: ["git merge tooling", "git status --short"],
  },
  {
    name: "stash changes of tracked tooling",
    from: "husky's installation page",
    before: `${TOOLING}; git merge -q tooling; echo 'npm run lint' >> .husky/pre-commit`,
    steps: ["git stash", "git status --short", "git stash pop"],
  },
  {
    name: "switch where .env.test differs",
    from: "dotenv's README",
    before: TEST_ENV,
    steps: ["git checkout ports", "git status --short", "git checkout main"],
  },
  {
    name: "reset hard over a tracked .npmrc",
    from: "npm's handbook",
    before: `${TOOLING}; git merge -q tooling; echo 'fund=false' >> .npmrc`,
    steps: ["git reset --hard", "git status --short"],
  },
];
