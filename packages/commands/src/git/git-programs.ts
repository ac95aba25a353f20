import { createWordSet } from "@burin/contract/text/words";
import type { GitUse } from "@burin/shell-judge";
import { type ProgramOutput, runProgramSync } from "../processes/wait-for-output.ts";

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
export function parseSettings(output: Buffer): GitSetting[] | null {
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

/**
 * Settings that name a program, or that make git fetch missing objects from a place of the repository's choice: the
 * last part of their names, before which a `*` stands for any letters, and an example.
 */
export const PROGRAM_SETTINGS: readonly (readonly [name: string, example: string])[] = [
  ["*command", "diff.jpg.command"],
  ["*cmd", "mergetool.meld.cmd"],
  ["*program", "gpg.ssh.program"],
  ["*helper", "credential.helper"],
  ["*driver", "merge.ours.driver"],
  ["*textconv", "diff.pdf.textconv"],
  ["*clean", "filter.lfs.clean"],
  ["*smudge", "filter.lfs.smudge"],
  ["*process", "filter.lfs.process"],
  ["*editor", "sequence.editor"],
  ["*pager", "core.pager"],
  ["*askpass", "core.askpass"],
  ["*gitproxy", "core.gitproxy"],
  ["*monitor", "core.fsmonitor"],
  ["*filesystem", "core.virtualfilesystem"],
  ["*external", "diff.external"],
  ["*filter", "interactive.difffilter"],
  ["*agent", "ssh.agent"],
  ["*hook", "gc.recentobjectshook"],
  ["vcs", "remote.origin.vcs"],
  ["uploadpack", "remote.origin.uploadpack"],
  ["receivepack", "remote.origin.receivepack"],
  ["promisor", "remote.origin.promisor"],
  ["partialclone", "extensions.partialclone"],
];

export function isProgramSetting(key: string): boolean {
  const [, last = ""] = /\.([a-z-]+)$/.exec(key) ?? [];
  return PROGRAM_SETTINGS.some(([name]) =>
    name.startsWith("*") ? last.endsWith(name.slice(1)) : last === name,
  );
}

/** Sections and settings that git uses only when it changes something or talks to other machines. */
const UNUSED_WHEN_READING = createWordSet(`
  credential sequence interactive difftool mergetool browser man web sendemail gui guitool instaweb rebase
  core.editor core.sshcommand core.askpass core.gitproxy`);

function isSettingUnusedWhenReading(key: string): boolean {
  return UNUSED_WHEN_READING.has(key) || UNUSED_WHEN_READING.has(/^([a-z]+)\./.exec(key)?.[1] ?? "");
}

/** Settings that name the path of a program, or that allow a remote's address to be a command. */
const UNUSED_PATHS = /^(?:difftool|mergetool|man|browser)\..*\.path$|^protocol\.(?:ext\.)?allow$/s;

/** Settings whose names only look like the ones above, or that only `git cvsserver` reads. */
const HARMLESS_SETTINGS = /^(?:color|column|http|advice|feature|gitcvs)\./;

/** Pagers, and settings of git-lfs that start programs other than its own. */
const PROGRAM_SECTIONS = /^(?:lfs\.(?:customtransfer|extension)|pager)\./;

/** As `git lfs install` writes them; the program is the user's. */
const LFS = /^git-lfs (?:(?:clean|smudge(?: --skip)?) -- %f|filter-process(?: --skip)?)$/;

/** The end of a program name such as `git-credential-store`, which the repository cannot provide. */
const CREDENTIAL_HELPER = /^[a-z-]+$/;

/** Programs with such names do nothing, and most settings with such values are on/off switches. */
const SWITCH_VALUE = /^(?:true|false|yes|no|on|off|never|)$/i;

/** Returns the setting of a repository that makes git run a program, or null. */
export function findProgramSetting(settings: readonly GitSetting[], use: SettingsUse): GitSetting | null {
  return settings.find((setting) => runsProgram(setting, use)) ?? null;
}

function runsProgram({ key, value }: GitSetting, { changes, subcommand }: SettingsUse): boolean {
  // An included file can change before the command runs.
  if (key.startsWith("includeif.")) return true;
  if (key.startsWith("alias.")) return key.replace(/\.command$/, "") === `alias.${subcommand.toLowerCase()}`;
  if (/\.(?:promisor|partialclone|partialclonefilter)$/.test(key)) return value !== "false";
  if (value === undefined || SWITCH_VALUE.test(value)) return false;
  if (PROGRAM_SECTIONS.test(key)) return true;
  if (!changes && isSettingUnusedWhenReading(key)) return false;
  if (changes && (value.startsWith("!") || UNUSED_PATHS.test(key))) return true;
  if (/^filter\.lfs\.[a-z]+$/.test(key) && LFS.test(value)) return false;
  if (/^credential\..*helper$/s.test(key) && CREDENTIAL_HELPER.test(value)) return false;
  return !HARMLESS_SETTINGS.test(key) && isProgramSetting(key);
}

/** Returns git settings as variables, which override those of every file. */
function toGitVariables(settings: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(settings);
  const numbered = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(numbered) };
}

const NO_BARE_REPOSITORY = {
  // Ignore a bare repository inside the work tree: its settings came with the files.
  "safe.bareRepository": "explicit",
  // For changes inside a submodule, git would run in that repository, whatever it contains by then.
  "diff.submodule": "short",
};

/** Fetches nothing, asks for nothing, and takes no lock that others may need. */
export const LOCAL_ONLY_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_TERMINAL_PROMPT: "0",
};

/** A slower answer counts as none. Git takes a few milliseconds, but a busy machine may let it wait. */
const TIMEOUT_MS = 3000;

/** Runs git and returns its output. Only for commands that start nothing. */
export function runGit(
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
  const all = { ...env, ...LOCAL_ONLY_ENVIRONMENT, LC_ALL: "C", LANGUAGE: "" };
  return runProgramSync(git, words, { cwd, env: all, longestMs: TIMEOUT_MS, ...(input && { input }) });
}

/** The environment for git in a command that an allow rule covers: git changes nothing beyond what the rule is for. */
export const ALLOWED_GIT_ENVIRONMENT = { ...toGitVariables(NO_BARE_REPOSITORY), GIT_OPTIONAL_LOCKS: "0" };

/**
 * The environment for git that must only read: no hooks, no file watcher, no network, no password prompt, and no
 * signature checks, which a log format in the repository could ask for. In the sandbox, git may refresh its index, so
 * that it can tell touched files from changed ones, and git-lfs uses the temporary folder. Git that only shows settings
 * follows none of them, and must show the user's own.
 */
export function buildReadOnlyEnvironment({
  isSandboxed,
  showsSettings = false,
}: {
  readonly isSandboxed: boolean;
  readonly showsSettings?: boolean;
}): Record<string, string> {
  const settings = {
    ...NO_BARE_REPOSITORY,
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
    ...(showsSettings ? {} : toGitVariables(settings)),
    ...LOCAL_ONLY_ENVIRONMENT,
    GIT_SSH_COMMAND: "false",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_EDITOR: "false",
    GIT_PAGER: "cat",
  };
}
