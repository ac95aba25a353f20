import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "../files/paths.ts";
import { findHelper, helperPath } from "../processes/helper-program.ts";
import { waitForOutput } from "../processes/run-process.ts";
import { lstatOf } from "./sandbox-place.ts";

const LONGEST_MS = 1000;
const MOST_BYTES = 256 * 1024;

/**
 * Keys with which git runs nothing, whatever their values. What is not among them may name a program, or a
 * file that does.
 */
const HARMLESS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|worktree|sparsecheckout|sparsecheckoutcone|autocrlf|eol|safecrlf|abbrev|compression|quotepath|longpaths|sharedrepository|untrackedcache|preloadindex|bigfilethreshold)|remote\..*\.(?:url|pushurl|fetch|push|mirror|prune|prunetags|tagopt|promisor|partialclonefilter)|remote\.pushdefault|branch\..*\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)|branch\.(?:autosetup\w+|sort)|submodule\.(?:.*\.)?(?:url|active|branch|fetchrecursesubmodules|ignore|recurse|alternatelocation|alternateerrorstrategy|shallow)|extensions\.(?:partialclone|worktreeconfig|objectformat|refstorage|noop|relativeworktrees)|user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|merge\.(?:conflictstyle|ff)|rebase\.(?:autosquash|autostash|updaterefs)|fetch\.(?:prune|prunetags|recursesubmodules|parallel)|gc\.(?:auto|autodetach|pruneexpire)|receive\.deny\w+|(?:index|status|advice|color|column)\..*|commit\.(?:verbose|cleanup|status)|lfs\.repositoryformatversion)$/;
const HARMLESS_UPDATE = /^submodule\..*\.update\n(?:checkout|rebase|merge|none)$/;

/** Keys whose values name programs that git starts by itself, in everyday commands. */
const PROGRAMS =
  /^(?:core\.(?:fsmonitor|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)|pager\..*|sequence\.editor|interactive\.difffilter|diff\.external|diff\..*\.(?:textconv|command)|filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|gc\.recentobjectshook)$/;
const INCLUDES = /^include(?:if\..*)?\.path$/;

/** Why git might run something because of this file of configuration; null when it does not. */
export function programInConfig(file: string): string | null {
  const stats = lstatOf(file);
  if (stats === null) return null;
  if (!stats.isFile() || stats.size > MOST_BYTES) return "its configuration is no ordinary file";
  const listed = askGit(["config", "--file", file, "--no-includes", "--list", "-z"], { cwd: "/" });
  if (listed === null) return "git cannot read its configuration";
  const entry = listed
    .split("\0")
    .find((one) => one !== "" && !HARMLESS.test(keyOf(one)) && !HARMLESS_UPDATE.test(one));
  return entry === undefined ? null : `its configuration sets ${keyOf(entry)}`;
}

function keyOf(entry: string): string {
  const end = entry.indexOf("\n");
  return end === -1 ? entry : entry.slice(0, end);
}

interface Repository {
  readonly workTree: string;
  /** Its git folder, or the file or link that leads there. */
  readonly link: string;
}

interface Known {
  readonly named: readonly string[];
  readonly files: readonly string[];
  readonly signature: string;
}

const known = new Map<string, Known>();

/** The files and folders that the configuration of a repository, with all that it includes, makes git run or read. */
export function namedByRepository(repository: Repository): readonly string[] {
  const before = known.get(repository.link);
  if (before !== undefined && before.signature === signatureOf(before.files)) return before.named;
  const { named, files } = askForNamed(repository);
  known.set(repository.link, { named, files, signature: signatureOf(files) });
  return named;
}

function signatureOf(files: readonly string[]): string {
  const each = files.map((file) => {
    const stats = lstatOf(file);
    return stats === null ? "-" : `${stats.ino}:${stats.ctimeMs}:${stats.size}`;
  });
  return each.join(" ");
}

function askForNamed({ workTree, link }: Repository): Omit<Known, "signature"> {
  const { HOME = homedir(), XDG_CONFIG_HOME = join(HOME, ".config") } = process.env;
  const usual = [link, join(link, "config"), join(link, "config.worktree"), join(HOME, ".gitconfig")];
  const files = [...usual, join(XDG_CONFIG_HOME, "git/config")];
  const listed = askGit(["config", "--includes", "--show-origin", "--list", "-z"], {
    cwd: workTree,
    env: { HOME, XDG_CONFIG_HOME, GIT_DIR: link },
  });
  const fields = (listed ?? "").split("\0");
  const named: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const origin = resolve(workTree, (fields[index] ?? "").replace(/^file:/, ""));
    if (!files.includes(origin)) files.push(origin);
    const entry = fields[index + 1] ?? "";
    const value = entry.slice(keyOf(entry).length + 1).replace(/^~(?=\/)/, HOME);
    named.push(...namedBy(keyOf(entry), value, { workTree, origin }));
  }
  return { named, files };
}

function namedBy(
  key: string,
  value: string,
  at: { readonly workTree: string; readonly origin: string },
): string[] {
  if (value === "") return [];
  const hooks = resolve(at.workTree, value);
  if (key === "core.hookspath") return isWithin(at.workTree, hooks) ? [] : [hooks];
  if (INCLUDES.test(key)) return [resolve(dirname(at.origin), value)];
  if (!PROGRAMS.test(key)) return [];
  const words = value.split(/[\s"'`;|&()<>=]+/).map((word) => resolve(at.workTree, word));
  return words.filter((path) => lstatOf(path)?.isFile() === true);
}

interface Asking {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Only commands that start nothing are asked with this; null when git fails. */
export function askGit(args: readonly string[], { cwd, env }: Asking): string | null {
  const git = findHelper("git");
  if (git === null) return null;
  const { output, fault } = waitForOutput(git, args, {
    cwd,
    longestMs: LONGEST_MS,
    env: {
      PATH: helperPath(),
      LC_ALL: "C",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_NO_LAZY_FETCH: "1",
      GIT_ALLOW_PROTOCOL: "none",
      GIT_TERMINAL_PROMPT: "0",
      ...(env ?? { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" }),
    },
  });
  return fault === null ? output.toString() : null;
}
