import { type BigIntStats, fstatSync, lstatSync } from "node:fs";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { runProgram } from "../processes/supervisor.ts";
import type { TargetFolder } from "./target-folder.ts";

/** A file that is replaced by another one beside it. */
export interface Replaced {
  readonly folder: TargetFolder;
  /** As it was asked for; only messages use it. */
  readonly file: string;
  /** Where programs are looked for, instead of this process's own. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

/** What a file has beside owner, mode and content, or that a file made in its folder would have. */
interface Attributes {
  readonly some: boolean;
  readonly context: boolean;
}

/** Headers come before content, and those of a file without attributes are short. */
const MOST_HEADER_BYTES = 64 * 1024;
const MOST_KNOWN = 1000;
const LOOK = ["--format=posix", "--acls", "--selinux", "--xattrs", "--xattrs-include=*", "--no-recursion"];
/** Of security.*, capabilities are taken away by any write, and the rest is the system's to set. */
const ATTRIBUTE = /\d SCHILY\.(?:acl\.|xattr\.(?!security\.))/;
const CONTEXT = /\d RHT\.security\.selinux=([^\n]*)/g;
const NONE: Attributes = { some: false, context: false };

/** Files that this process has put in place without attributes, and folders that hand on none: as they were then. */
const plain = new Map<string, string>();

/**
 * Access lists, user attributes and security contexts of a file, on their way to the file that replaces it.
 * Node cannot read them. An archiver can: it is asked while the new content goes to the disk, and not again
 * as long as neither the file nor its folder was touched by anybody else.
 */
export class KeptAttributes {
  readonly #replaced: Replaced;
  readonly #found: Promise<Attributes>;

  /** To be made before anything is made in the folder. */
  constructor(replaced: Replaced) {
    const { folder } = replaced;
    this.#replaced = replaced;
    const target = lstatSync(folder.path(folder.name), { bigint: true, throwIfNoEntry: false });
    const isPlain = target !== undefined && isKnown(target) && isKnown(statsOf(folder.descriptor));
    this.#found = isPlain || process.platform !== "linux" ? Promise.resolve(NONE) : look(replaced);
  }

  /** Gives them to the new file; throws when that cannot be done. Says whether there were any. */
  async giveTo(name: string): Promise<boolean> {
    const found = await this.#found;
    if (!found.some && !found.context) return false;
    const { folder, file } = this.#replaced;
    const kinds = found.context ? "mode,xattr,context" : "mode,xattr";
    const words = ["--attributes-only", `--preserve=${kinds}`, "--", `./${folder.name}`, `./${name}`];
    const end = await run("cp", words, this.#replaced);
    if (end?.exitCode === 0) return true;
    const reason = end === null ? "cp could not be started" : end.errors.trim() || "cp failed";
    throw new WorkspaceError(
      "io_error",
      `${file} has an access control list or extended attributes that could not be kept (${reason}), so nothing was written.`,
    );
  }

  /** The new file stands in the place of the old. */
  async settle(descriptor: number): Promise<void> {
    const found = await this.#found;
    if (found.some || found.context) return;
    if (plain.size >= MOST_KNOWN) plain.clear();
    for (const stats of [statsOf(descriptor), statsOf(this.#replaced.folder.descriptor)]) {
      plain.set(idOf(stats), String(stats.ctimeNs));
    }
  }
}

function statsOf(descriptor: number): BigIntStats {
  return fstatSync(descriptor, { bigint: true });
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Attributes cannot be set without the system noting the time. */
function isKnown(stats: BigIntStats): boolean {
  return plain.get(idOf(stats)) === String(stats.ctimeNs);
}

async function look(replaced: Replaced): Promise<Attributes> {
  const words = [...LOOK, "-cf", "-", "--", ".", `./${replaced.folder.name}`];
  let headers = "";
  const onOutput = (bytes: Buffer) => {
    headers += bytes.toString("latin1");
    return headers.length < MOST_HEADER_BYTES;
  };
  // A system whose archiver knows nothing of attributes has no better program for them either.
  await run("tar", words, { ...replaced, onOutput });
  const contexts = [...headers.matchAll(CONTEXT)].map(([, context]) => typeIn(context));
  return { some: ATTRIBUTE.test(headers), context: new Set(contexts).size > 1 };
}

/** A new file has the type of its folder, whatever else its context says. */
function typeIn(context = ""): string | undefined {
  return context.split(":")[2];
}

interface Running extends Replaced {
  readonly onOutput?: (bytes: Buffer) => boolean;
}

/** Runs in the very folder, whatever its path leads to. null when it could not be started. */
function run(command: string, args: readonly string[], running: Running) {
  const { folder, environment = process.env, onOutput = () => true } = running;
  const { signal } = new AbortController();
  const env = { LC_ALL: "C", PATH: environment.PATH };
  const request = { command, args, cwd: folder.path("."), env, signal, onOutput };
  return runProgram(request).catch(() => null);
}
