/** Two ways to say the same: what a rule says about the second holds for the first too. */
interface SameCommand {
  readonly wording: string;
  readonly as: string;
  /** A rule that forbids something, and a command that it forbids through this row. */
  readonly example: readonly [rule: string, command: string];
}

function same(wording: string, as: string, ...example: SameCommand["example"]): SameCommand {
  return { wording, as, example };
}

/** The inner commands of git behind those that users know, new names of old ones, and programs with several names. */
export const SAME_COMMANDS: readonly SameCommand[] = [
  same("git send-pack", "git push", "git push", "git send-pack origin main"),
  same("git send-pack", "git push", "git push --force", "git -C sub send-pack --force origin main"),
  same("git http-push", "git push", "git push", "git http-push https://example.org/a main"),
  same("git subtree push", "git push", "git push", "git subtree push --prefix=a origin main"),
  same("git lfs push", "git push", "git push", "git lfs push origin main"),
  same("git svn dcommit", "git push", "git push", "git svn dcommit"),
  same("git p4 submit", "git push", "git push", "git p4 submit"),
  same("git fetch-pack", "git fetch", "git fetch", "git fetch-pack https://example.org/a main"),
  same("git http-fetch", "git fetch", "git fetch", "git http-fetch main https://example.org/a"),
  same("git remote update", "git fetch", "git fetch", "git remote update"),
  same("git pull", "git fetch", "git fetch", "git pull --rebase"),
  same("git commit-tree", "git commit", "git commit", "git commit-tree -m a HEAD^{tree}"),
  same("git fast-import", "git commit", "git commit", "git fast-import"),
  same("git stage", "git add", "git add", "git stage a.txt"),
  same("git update-index", "git add", "git add", "git update-index --add a.txt"),
  same("git read-tree", "git reset --hard", "git reset --hard", "git read-tree -u --reset HEAD"),
  same("git update-ref", "git reset", "git reset", "git update-ref HEAD HEAD~1"),
  same("git update-ref", "git branch -D", "git branch -D", "git update-ref -d refs/heads/a"),
  same("git update-ref", "git tag -d", "git tag", "git update-ref refs/tags/a HEAD"),
  same("git checkout-index", "git checkout", "git checkout", "git checkout-index -f a.txt"),
  same("git restore", "git checkout", "git checkout", "git restore a.txt"),
  same("git switch", "git checkout", "git checkout", "git switch main"),
  same("python -m pip", "pip", "pip install", "python -m pip install flask"),
  same("python3 -m pip", "pip", "pip install", "python3 -m pip install flask"),
  same("pip3", "pip", "pip install", "pip3 install flask"),
  same("pip", "pip3", "pip3 install", "pip install flask"),
  same("npx", "npm exec", "npm exec", "npx tsc"),
  same("npm x", "npm exec", "npm exec", "npm x tsc"),
  same("npm run-script", "npm run", "npm run", "npm run-script build"),
  same("docker container", "docker", "docker run", "docker container run alpine"),
  same("docker image", "docker", "docker push", "docker image push a/b"),
  same("podman container", "podman", "podman run", "podman container run alpine"),
  same("apt", "apt-get", "apt-get install", "apt install git"),
  same("apt-get", "apt", "apt install", "apt-get install git"),
  same("nodejs", "node", "node", "nodejs a.js"),
  same("gmake", "make", "make", "gmake all"),
];

type Words = readonly (string | null)[];

const ROWS = SAME_COMMANDS.map(({ wording, as }) => ({ wording: wording.split(" "), as: as.split(" ") }));

/** The words themselves, and the other ways to say the same. They begin with a plain name, and git's with its subcommand. */
export function wordingsOf(words: Words): readonly Words[] {
  // In the folder of git's inner commands each has a name of its own.
  const own = /^git-(.+)$/.exec(words[0] ?? "")?.[1];
  const plain = own === undefined ? words : ["git", own, ...words.slice(1)];
  const others = ROWS.filter(({ wording }) => wording.every((word, at) => plain[at] === word));
  return [plain, ...others.map(({ wording, as }) => [...as, ...plain.slice(wording.length)])];
}
