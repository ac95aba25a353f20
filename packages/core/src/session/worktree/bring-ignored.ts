import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { OwnGit } from "@burin/commands/git/git-work";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { tryLstat, tryReadEntries } from "@burin/files/disk/disk-looks";

/** Folders that package managers install from committed files. */
const DEPENDENCIES = new Set(["node_modules", "vendor", ".venv", "venv", "Pods", "bower_components"]);
const MAX_COPIED_BYTES = 1024 * 1024;
const EXACT = { caseSensitive: true };

interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly copies: readonly string[];
  /** A folder on the same disk, in which each is made whole before it gets its name: a kill leaves nothing half there. */
  readonly draft: string;
}

/** Brings ignored files that the work needs into a work tree: small files as copies, installed packages as links. */
export async function copyIgnoredFiles(git: OwnGit, { from, to, copies, draft }: CopyOptions): Promise<void> {
  const words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const names = git.must(words).toString("utf8").split("\0");
  const matchers = copies.map((glob) => createGlobMatcher(glob, EXACT));
  const isCopyWanted = (name: string) => matchers.some((matches) => matches(name) || matches(basename(name)));
  const made = join(draft, "made");
  const giveName = (target: string) => {
    mkdirSync(dirname(target), { recursive: true });
    renameSync(made, target);
  };
  const clear = () => rmSync(draft, { recursive: true, force: true });
  clear();
  mkdirSync(draft);
  for (const name of names) {
    const [source, target] = [join(from, name), join(to, name)];
    if (name === "" || tryLstat(target) !== null) continue;
    if (name.endsWith("/")) {
      if (DEPENDENCIES.has(basename(name)) && cloneOrLinkFolder(source, made)) giveName(target);
    } else if (isCopyWanted(name) && (tryLstat(source)?.size ?? MAX_COPIED_BYTES) < MAX_COPIED_BYTES) {
      copyFileSync(source, made, constants.COPYFILE_FICLONE);
      giveName(target);
    }
  }
  clear();
}

/**
 * Copies a folder by sharing blocks where the disk can do that. Otherwise makes a folder of links, because git would
 * not treat a link as an ignored folder. Returns false for a link.
 */
function cloneOrLinkFolder(source: string, target: string): boolean {
  if (lstatSync(source).isSymbolicLink()) return false;
  try {
    shareBlocks(source, target);
  } catch {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    for (const name of readdirSync(source)) symlinkSync(join(source, name), join(target, name));
  }
  return true;
}

/** Copies a file by sharing its blocks. Throws where the disk cannot do that. */
function shareBlocks(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of tryReadEntries(source)) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) shareBlocks(from, to);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (entry.isFile()) copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE);
  }
}
