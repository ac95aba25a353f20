/** Two spellings of one command: a rule for the second also covers the first. */
interface SameCommand {
  readonly wording: string;
  readonly as: string;
  /** A rule that forbids something, and a command that it forbids through this row. */
  readonly example: readonly [rule: string, command: string];
}

function createSameCommand(wording: string, as: string, ...example: SameCommand["example"]): SameCommand {
  return { wording, as, example };
}

/** The inner commands of git behind those that users know, new names of old ones, and programs with several names. */
export const SAME_COMMANDS: readonly SameCommand[] = [
  createSameCommand("git send-pack", "git push", "git push", "git send-pack origin main"),
  createSameCommand(
    "git send-pack",
    "git push",
    "git push --force",
    "git -C sub send-pack --force origin main",
  ),
  createSameCommand("git http-push", "git push", "git push", "git http-push https://example.org/a main"),
  createSameCommand("git subtree push", "git push", "git push", "git subtree push --prefix=a origin main"),
  createSameCommand("git lfs push", "git push", "git push", "git lfs push origin main"),
  createSameCommand("git svn dcommit", "git push", "git push", "git svn dcommit"),
  createSameCommand("git p4 submit", "git push", "git push", "git p4 submit"),
  createSameCommand("git fetch-pack", "git fetch", "git fetch", "git fetch-pack https://example.org/a main"),
  createSameCommand("git http-fetch", "git fetch", "git fetch", "git http-fetch main https://example.org/a"),
  createSameCommand("git remote update", "git fetch", "git fetch", "git remote update"),
  createSameCommand("git pull", "git fetch", "git fetch", "git pull --rebase"),
  createSameCommand("git commit-tree", "git commit", "git commit", "git commit-tree -m a HEAD^{tree}"),
  createSameCommand("git fast-import", "git commit", "git commit", "git fast-import"),
  createSameCommand("git stage", "git add", "git add", "git stage a.txt"),
  createSameCommand("git update-index", "git add", "git add", "git update-index --add a.txt"),
  createSameCommand("git read-tree", "git reset --hard", "git reset --hard", "git read-tree -u --reset HEAD"),
  createSameCommand("git update-ref", "git reset", "git reset", "git update-ref HEAD HEAD~1"),
  createSameCommand("git update-ref", "git branch -D", "git branch -D", "git update-ref -d refs/heads/a"),
  createSameCommand("git update-ref", "git tag -d", "git tag", "git update-ref refs/tags/a HEAD"),
  createSameCommand("git checkout-index", "git checkout", "git checkout", "git checkout-index -f a.txt"),
  createSameCommand("git restore", "git checkout", "git checkout", "git restore a.txt"),
  createSameCommand("git switch", "git checkout", "git checkout", "git switch main"),
  createSameCommand("python -m pip", "pip", "pip install", "python -m pip install flask"),
  createSameCommand("python3 -m pip", "pip", "pip install", "python3 -m pip install flask"),
  createSameCommand("pip3", "pip", "pip install", "pip3 install flask"),
  createSameCommand("pip", "pip3", "pip3 install", "pip install flask"),
  createSameCommand("npx", "npm exec", "npm exec", "npx tsc"),
  createSameCommand("npm x", "npm exec", "npm exec", "npm x tsc"),
  createSameCommand("npm run-script", "npm run", "npm run", "npm run-script build"),
  createSameCommand("docker container", "docker", "docker run", "docker container run alpine"),
  createSameCommand("docker image", "docker", "docker push", "docker image push a/b"),
  createSameCommand("podman container", "podman", "podman run", "podman container run alpine"),
  createSameCommand("apt", "apt-get", "apt-get install", "apt install git"),
  createSameCommand("apt-get", "apt", "apt install", "apt-get install git"),
  createSameCommand("nodejs", "node", "node", "nodejs a.js"),
  createSameCommand("gmake", "make", "make", "gmake all"),
];

type Words = readonly (string | null)[];

const ROWS = SAME_COMMANDS.map(({ wording, as }) => ({ wording: wording.split(" "), as: as.split(" ") }));

/**
 * Returns the words and their equivalent spellings. They start with a plain program name; git's start with its
 * subcommand.
 */
export function expandWordings(words: Words): readonly Words[] {
  // In git's folder of internal commands, each subcommand is a program of its own.
  const own = /^git-(.+)$/.exec(words[0] ?? "")?.[1];
  const plain = own === undefined ? words : ["git", own, ...words.slice(1)];
  const others = ROWS.filter(({ wording }) => wording.every((word, at) => plain[at] === word));
  return [plain, ...others.map(({ wording, as }) => [...as, ...plain.slice(wording.length)])];
}
