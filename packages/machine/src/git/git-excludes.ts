import { constants } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { messageOf } from "@burin/contract/text/error-message";
import { lstatOf, realOf } from "../disk/disk-looks.ts";
import { readText, TOO_LARGE } from "../disk/regular-file.ts";
import { codeOf } from "../disk/system-error.ts";

const LARGEST = 4 * 1024 * 1024;

/** null for none. Throws for a file that is too large: half of its rules would show what the other half hides. */
export function readSmallFile(path: string, followLinks: boolean): string | null {
  if (lstatOf(path) === null) return null;
  try {
    return readText(path, LARGEST, followLinks ? 0 : constants.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) !== TOO_LARGE) return null;
    throw new WorkspaceError("too_large", `${path} is not followed: ${messageOf(error)}. Make it shorter.`);
  }
}

export function isGitTop(folder: string): boolean {
  return lstatOf(join(folder, ".git")) !== null;
}

/** Returns the top of the git work tree that contains the folder, or null. */
export function gitTopOf(folder: string): string | null {
  if (isGitTop(folder)) return folder;
  return dirname(folder) === folder ? null : gitTopOf(dirname(folder));
}

/** Returns the text of `info/exclude`, also of a linked work tree, in which `.git` is a file. */
export function infoExclude(top: string): string | null {
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
export function personalExcludes(top: string | null, environment: NodeJS.ProcessEnv): string | null {
  const home = environment.HOME || homedir();
  const config = environment.XDG_CONFIG_HOME || join(home, ".config");
  const named = environment.GIT_CONFIG_GLOBAL;
  const files = named === undefined ? [join(config, "git", "config"), join(home, ".gitconfig")] : [named];
  let path = join(config, "git", "ignore");
  for (const file of files) path = coreSetting(file, "excludesFile") || path;
  if (path.startsWith("~/")) path = join(home, path.slice(2));
  const own = top === null ? null : coreSetting(join(top, ".git", "config"), "excludesFile");
  // What a repository names counts only inside it: a folder from elsewhere may name any file.
  if (own && top !== null && realOf(own)?.startsWith(join(realOf(top) ?? top, "/"))) path = own;
  return isAbsolute(path) ? readSmallFile(path, true) : null;
}

/** Whether git takes the letters of both cases for the same here, as it notes where the disk does. */
export function ignoresCase(top: string): boolean {
  return /^(?:true|yes|on|1)$/i.test(coreSetting(join(top, ".git", "config"), "ignoreCase") ?? "");
}

/** The last value of a setting of `[core]` in a git config file. It ends before a comment, unless it is in quotes. */
function coreSetting(file: string, name: string): string | null {
  const setting = new RegExp(
    `^\\s*(?:\\[[^\\]]*\\]\\s*)?${name}\\s*=\\s*("(?:[^"\\\\]|\\\\.)*"|[^#;]*)`,
    "i",
  );
  let found: string | null = null;
  let isCore = false;
  for (const line of readSmallFile(file, true)?.split(/\r?\n/) ?? []) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) isCore = section.trim().toLowerCase() === "core";
    const value = isCore ? setting.exec(line)?.[1]?.trim() : undefined;
    if (value !== undefined) found = value.replace(/^"(.*)"$/, "$1").replace(/\\(["\\])/g, "$1");
  }
  return found;
}
