import type { GitUse } from "@burin/shell-judge";
import { type ProgramOutput, waitForOutput } from "../processes/wait-for-output.ts";

/** One setting of a repository as git prints it: section and name in lower case. */
export interface GitSetting {
  readonly key: string;
  /** Absent when there is only the name, which means true. */
  readonly value: string | undefined;
  /** The file that it comes from, as git names it, and its scope. */
  readonly origin: string;
  readonly scope: string;
}

export const LIST_SETTINGS = ["config", "--list", "-z", "--show-scope", "--show-origin"];

/** Parses scope, origin and setting, each ended by NUL; null for anything else. */
export function settingsOf(output: Buffer): GitSetting[] | null {
  const fields = output.toString("utf8").split("\0");
  if (fields.pop() !== "" || fields.length % 3 !== 0) return null;
  const settings: GitSetting[] = [];
  for (let at = 0; at < fields.length; at += 3) {
    const [scope = "", origin = "", entry = ""] = fields.slice(at, at + 3);
    const end = entry.indexOf("\n");
    const key = (end === -1 ? entry : entry.slice(0, end)).toLowerCase();
    settings.push({ key, value: end === -1 ? undefined : entry.slice(end + 1), origin, scope });
  }
  return settings;
}

type SettingsUse = Omit<GitUse, "readsFiles">;

/** They name a program, or make git fetch missing objects from a place that the repository chooses. */
const NAMES_A_PROGRAM =
  /\.(?:[a-z-]*(?:command|cmd|program|helper|driver|textconv|clean|smudge|process|editor|pager|askpass|gitproxy|monitor|filesystem|external|filter|agent|hook)|vcs|uploadpack|receivepack|promisor|partialclone)$/;

/** Sections and settings that git uses only when it changes something or talks to other machines. */
const ONLY_CHANGING =
  /^(?:credential|sequence|interactive|difftool|mergetool|browser|man|web|sendemail|gui|guitool|instaweb|rebase)\.|^core\.(?:editor|sshcommand|askpass|gitproxy)$/;

/** Paths of programs, and what lets the address of a remote be a command. */
const OTHERS_CHANGING = /^(?:difftool|mergetool|man|browser)\..*\.path$|^protocol\.(?:ext\.)?allow$/s;

/** They have such endings and mean something else, or only `git cvsserver` reads them. */
const NO_PROGRAM = /^(?:color|column|http|advice|feature|gitcvs)\./;

/** Pagers, and settings of git-lfs that start programs other than its own. */
const ALWAYS_PROGRAMS = /^(?:lfs\.(?:customtransfer|extension)|pager)\./;

/** As `git lfs install` writes them; the program is the user's. */
const LFS = /^git-lfs (?:(?:clean|smudge(?: --skip)?) -- %f|filter-process(?: --skip)?)$/;

/** The end of a program name such as `git-credential-store`, which the repository cannot provide. */
const CREDENTIAL_HELPER = /^[a-z-]+$/;

/** A program with such a name does nothing, and most settings with such values are switches. */
const SAYS_YES_OR_NO = /^(?:true|false|yes|no|on|off|never|)$/i;

/** Returns the setting of a repository that makes git run a program, or null. */
export function programIn(settings: readonly GitSetting[], use: SettingsUse): GitSetting | null {
  return settings.find((setting) => runsProgram(setting, use)) ?? null;
}

function runsProgram({ key, value }: GitSetting, { changes, subcommand }: SettingsUse): boolean {
  // The settings that these include can change before the command runs.
  if (key.startsWith("includeif.")) return true;
  if (key.startsWith("alias.")) return key.replace(/\.command$/, "") === `alias.${subcommand.toLowerCase()}`;
  if (/\.(?:promisor|partialclone|partialclonefilter)$/.test(key)) return value !== "false";
  if (value === undefined || SAYS_YES_OR_NO.test(value)) return false;
  if (ALWAYS_PROGRAMS.test(key)) return true;
  if (!changes && ONLY_CHANGING.test(key)) return false;
  if (changes && (value.startsWith("!") || OTHERS_CHANGING.test(key))) return true;
  if (/^filter\.lfs\.[a-z]+$/.test(key) && LFS.test(value)) return false;
  if (/^credential\..*helper$/s.test(key) && CREDENTIAL_HELPER.test(value)) return false;
  return !NO_PROGRAM.test(key) && NAMES_A_PROGRAM.test(key);
}

/** Returns git settings as variables, which override those of every file. */
function asVariables(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings);
  const numbered = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(numbered) };
}

const ONLY_WHERE_ASKED = {
  // A bare repository inside the work tree is not used: its settings came with the files.
  "safe.bareRepository": "explicit",
  // For changes inside a submodule, git would look in the repository there, whatever that is now.
  "diff.submodule": "short",
};

/** Fetches nothing, asks for nothing, and takes no lock that others may need. */
export const ONLY_HERE = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
};

/** A slower answer counts as none; git only reads a few small files for it. */
const LONGEST_MS = 1000;

/** Runs git and returns its output. Only for commands that start nothing. */
export function askGit(
  words: readonly string[],
  asking: {
    readonly git: string | null;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input?: string;
  },
): ProgramOutput {
  const { git, cwd, env, input } = asking;
  if (git === null) return { output: Buffer.alloc(0), fault: "there is no git outside the project" };
  const all = { ...env, ...ONLY_HERE, LC_ALL: "C", LANGUAGE: "" };
  return waitForOutput(git, words, { cwd, env: all, longestMs: LONGEST_MS, ...(input && { input }) });
}

/** For a command that an allow rule covers and in which git only looks: changes nothing that the rule is for. */
export const GIT_BESIDE_OTHERS = { ...asVariables(ONLY_WHERE_ASKED), GIT_OPTIONAL_LOCKS: "0" };

/**
 * For git that may only look: no hook, no file watcher, no network, no password prompt, and no signature is checked,
 * which a format that the repository names may ask for. In the sandbox it may try to refresh its index, which tells
 * touched files from changed ones, and git-lfs keeps what it compares in the temporary folder.
 */
export function gitLooking({ isSandboxed }: { readonly isSandboxed: boolean }): Record<string, string> {
  const settings = {
    ...ONLY_WHERE_ASKED,
    "core.fsmonitor": "false",
    "core.hooksPath": process.platform === "win32" ? "NUL" : "/dev/null",
    "credential.helper": "",
    "diff.autoRefreshIndex": String(isSandboxed),
    "log.showSignature": "false",
    ...{ "gpg.program": "false", "gpg.ssh.program": "false", "gpg.x509.program": "false" },
    "gc.auto": "0",
    "maintenance.auto": "false",
    ...(isSandboxed ? { "lfs.storage": "/tmp/.git-lfs" } : {}),
  };
  return {
    ...asVariables(settings),
    ...ONLY_HERE,
    GIT_SSH_COMMAND: "false",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_EDITOR: "false",
    GIT_PAGER: "cat",
  };
}
