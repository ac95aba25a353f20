import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { quoteShellWord } from "@burin/contract/text/shell-words";
import { makeFolders } from "@burin/files/disk/own-files";
import type { Guard } from "./sandbox-guard.ts";

/** Where the command sees the folder with the script that git runs in place of its hook. */
const PLACE = "/run/burin-hooks";
const SETTING = `'core.hooksPath=${PLACE}'`;

/** Names in a git folder with which a hook could lead git to other settings. */
const LEADING_NAMES = "commondir config.worktree";

interface HookLimits {
  readonly bubblewrap: string;
  /** Arguments of bubblewrap about the rights that the hook keeps. */
  readonly capabilities: readonly string[];
  readonly temporary: string;
}

/**
 * The words before a hook that runs in namespaces of its own: it cannot open or signal the git that has started it, and
 * all that it starts ends with it, before git could change a file and so remove the read-only mount.
 */
export function buildHookWords(
  { bubblewrap, capabilities }: Pick<HookLimits, "bubblewrap" | "capabilities">,
  readOnly: readonly string[],
): readonly [string, ...string[]] {
  const mounts = readOnly.flatMap((path) => ["--ro-bind", path, path]);
  const spaces = ["--unshare-user", "--unshare-pid", "--die-with-parent", ...capabilities];
  return [bubblewrap, ...spaces, "--dev-bind", "/", "/", ...mounts, "--"];
}

/** Makes git run its hook where files that git itself may write are read-only. Ends the guard where that fails. */
export async function confineHook(guard: Guard, limits: HookLimits) {
  const { hook, opened } = guard;
  if (hook === null) return { mounts: [], env: {} };
  const folder = join(limits.temporary, `hooks-${hook}`);
  try {
    makeFolders(folder);
    writeFileSync(join(folder, hook), buildScript(buildHookWords(limits, opened)), { mode: 0o700 });
  } catch (error) {
    await guard.release();
    throw error;
  }
  return { mounts: ["--ro-bind", folder, PLACE], env: { GIT_CONFIG_PARAMETERS: SETTING } };
}

/** Finds the hook as git would without this script, and fails if the hook made git read other settings from now on. */
function buildScript(words: readonly string[]): string {
  return `#!/bin/sh
own=${quoteShellWord(SETTING)}
GIT_CONFIG_PARAMETERS=\${GIT_CONFIG_PARAMETERS#"$own"}
GIT_CONFIG_PARAMETERS=\${GIT_CONFIG_PARAMETERS# }
[ -n "$GIT_CONFIG_PARAMETERS" ] || unset GIT_CONFIG_PARAMETERS
hook=$(git rev-parse --git-path hooks)/\${0##*/}
[ -x "$hook" ] || exit 0
folders=$(git rev-parse --path-format=absolute --git-dir --git-common-dir)
list() {
  printf '%s\\n' "$folders" | while IFS= read -r folder; do
    for name in ${LEADING_NAMES}; do ls -d "$folder/$name" 2>/dev/null; done
  done
}
before=$(list)
${words.map(quoteShellWord).join(" ")} "$hook" "$@"
code=$?
[ "$(list)" = "$before" ] && exit $code
echo "The sandbox stopped git: the hook \${0##*/} led it to other settings." >&2
exit 1
`;
}
