import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { readSmallFile, tryRealPath } from "../disk/disk-looks.ts";

export type GitExcludes = ReturnType<typeof readGitExcludes>;

/**
 * Reads the excludes of the repository and of the user, which git applies besides `.gitignore` files, and whether names
 * are case-insensitive, which git notes for such disks.
 */
export function readGitExcludes(top: string | null, environment: NodeJS.ProcessEnv) {
  const core = top === null ? {} : readCoreSettings(join(top, ".git", "config"));
  const texts = [top === null ? null : readInfoExclude(top), readUserExcludes(top, core, environment)];
  const ignoresCase = /^(?:true|yes|on|1)$/i.test(core.ignorecase ?? "");
  return { excludes: texts.filter((text) => text !== null), ignoresCase };
}

/** Returns the text of `info/exclude`, also of a linked work tree, in which `.git` is a file. */
function readInfoExclude(top: string): string | null {
  let folder = join(top, ".git");
  const link = /^gitdir: (.+)/.exec(readSmallFile(folder, true) ?? "")?.[1]?.trim();
  if (link !== undefined) {
    folder = resolve(top, link);
    const common = readSmallFile(join(folder, "commondir"), true)?.trim();
    if (common !== undefined && common !== "") folder = resolve(folder, common);
  }
  return readSmallFile(join(folder, "info", "exclude"), true);
}

/** Returns the text of the user's own excludes: where git's settings say, otherwise git's default. */
function readUserExcludes(top: string | null, core: CoreSettings, environment: NodeJS.ProcessEnv) {
  const home = environment.HOME || homedir();
  const config = environment.XDG_CONFIG_HOME || join(home, ".config");
  const named = environment.GIT_CONFIG_GLOBAL;
  const files = named === undefined ? [join(config, "git", "config"), join(home, ".gitconfig")] : [named];
  let path = join(config, "git", "ignore");
  for (const file of files) path = readCoreSettings(file).excludesfile || path;
  if (path.startsWith("~/")) path = join(home, path.slice(2));
  const { excludesfile: own } = core;
  // A path from the repository's config counts only inside the repository: an untrusted one may name any file.
  if (own && top !== null && tryRealPath(own)?.startsWith(join(tryRealPath(top) ?? top, "/"))) path = own;
  return isAbsolute(path) ? readSmallFile(path, true) : null;
}

/** Keys are in lower case. */
type CoreSettings = Readonly<Partial<Record<"excludesfile" | "ignorecase", string>>>;

/** A value ends before a comment, unless it is in quotes. */
const SETTING = /^\s*(?:\[[^\]]*\]\s*)?(excludesfile|ignorecase)\s*=\s*("(?:[^"\\]|\\.)*"|[^#;]*)/i;

/** The last values of settings of `[core]` in a git config file. */
function readCoreSettings(file: string): CoreSettings {
  const settings: Record<string, string> = {};
  let isCore = false;
  for (const line of readSmallFile(file, true)?.split(/\r?\n/) ?? []) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) isCore = section.trim().toLowerCase() === "core";
    const [, name = "", value = ""] = (isCore && SETTING.exec(line)) || [];
    if (name !== "")
      settings[name.toLowerCase()] = value
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .replace(/\\(["\\])/g, "$1");
  }
  return settings;
}
