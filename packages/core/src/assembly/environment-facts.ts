import { arch, type } from "node:os";
import { dirname, join } from "node:path";
import { readText } from "@burin/machine/disk/regular-file";
import { chooseShell, findProgram } from "@burin/machine/processes/shell-program";

const MOST_HEAD_BYTES = 1024;
/** A branch as people name them; whoever wrote another name may want to be read as an instruction. */
const BRANCH = /^ref: refs\/heads\/([\w./@+-]{1,100})\s*$/;

/**
 * What the model could only guess of the place it works in, in one line. Told once, when a session begins, so that
 * the beginning of its requests stays the same.
 */
export function environmentFacts(root: string, { PATH }: NodeJS.ProcessEnv, now = new Date()): string {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  const shell = chooseShell(process.platform, (name) => findProgram(name, PATH));
  const branch = branchOf(root);
  const git = branch === null ? "" : `, git on ${branch} when this began`;
  return `Today is ${day}. ${type()} ${arch()}, shell ${shell.title}${git}.`;
}

/** null where there is no repository. */
function branchOf(folder: string): string | null {
  for (let place = folder; ; place = dirname(place)) {
    const head = readHead(join(place, ".git", "HEAD"));
    if (head !== null) {
      const branch = BRANCH.exec(head)?.[1];
      return branch === undefined ? "no branch" : `the branch ${branch}`;
    }
    if (dirname(place) === place) return null;
  }
}

function readHead(path: string): string | null {
  try {
    return readText(path, MOST_HEAD_BYTES);
  } catch {
    return null;
  }
}
