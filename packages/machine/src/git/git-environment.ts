import { type ProgramOutput, waitForOutput } from "../processes/wait-for-output.ts";

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
  },
): ProgramOutput {
  const { git, cwd, env } = asking;
  if (git === null) return { output: Buffer.alloc(0), fault: "there is no git outside the project" };
  const all = { ...env, ...ONLY_HERE, LC_ALL: "C", LANGUAGE: "" };
  return waitForOutput(git, words, { cwd, env: all, longestMs: LONGEST_MS });
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
