/** Settings of git that stand above those of every file, as variables. */
function asVariables(settings: Readonly<Record<string, string>>): Record<string, string> {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(Object.keys(settings).length) };
  for (const [index, [key, value]] of Object.entries(settings).entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return variables;
}

const ONLY_WHERE_ASKED = {
  // A folder that only looks like a repository is none: its settings came with the files.
  "safe.bareRepository": "explicit",
  // What changed inside a submodule would be looked for in the repository there, whatever that is now.
  "diff.submodule": "short",
};

/** For a line in which git looks beside what a rule allows: nothing that could change what the rule is for. */
export const GIT_BESIDE_OTHERS = { ...asVariables(ONLY_WHERE_ASKED), GIT_OPTIONAL_LOCKS: "0" };

/**
 * For git that may do nothing but look: no hook, no watcher, no network, nobody who is asked for a password. In the
 * sandbox it may try to put its index right, which tells touched files from changed ones, and git-lfs keeps what it
 * compares in the folder for temporary files.
 */
export function gitLooking({ isSandboxed }: { readonly isSandboxed: boolean }): Record<string, string> {
  const settings = {
    ...ONLY_WHERE_ASKED,
    "core.fsmonitor": "false",
    "core.hooksPath": process.platform === "win32" ? "NUL" : "/dev/null",
    "credential.helper": "",
    "diff.autoRefreshIndex": String(isSandboxed),
    "log.showSignature": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    ...(isSandboxed ? { "lfs.storage": "/tmp/.git-lfs" } : {}),
  };
  return {
    ...asVariables(settings),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_SSH_COMMAND: "false",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_EDITOR: "false",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
}
