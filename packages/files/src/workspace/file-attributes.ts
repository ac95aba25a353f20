import { type BigIntStats, fstatSync } from "node:fs";
import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { messageOf } from "@burin/contract/text/error-message";
import type { TargetFolder } from "../paths/target-folder.ts";

/** A file that is replaced by another file next to it. */
export interface Replaced {
  readonly folder: TargetFolder;
  /** The path as it was requested; only for messages. */
  readonly file: string;
  readonly stats: BigIntStats;
  /** Where to look for programs besides the system's own folders. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly helpers: FileHelpers;
}

/** The attributes of a file besides owner, mode and content, or those that a new file in its folder would get. */
interface Attributes {
  readonly some: boolean;
  readonly context: boolean;
}

/** Headers come before the content, and those of a file without attributes are short. */
const MOST_HEADER_BYTES = 64 * 1024;
const LONGEST_MS = 30_000;
const MOST_KNOWN = 1000;
const LOOK = ["--format=posix", "--acls", "--selinux", "--xattrs", "--xattrs-include=*", "--no-recursion"];
/** Of security.*, any write removes capabilities, and the system sets the rest. */
const ATTRIBUTE = /\d SCHILY\.(?:acl\.|xattr\.(?!security\.))/;
const CONTEXT = /\d RHT\.security\.selinux=([^\n]*)/g;
const NONE: Attributes = { some: false, context: false };

/** Shared by sessions: facts by identity and time of change. Files that this process has written without attributes, and folders that pass on none, each as it was then. */
const plain = new Map<string, string>();

/**
 * Keeps access control lists, user attributes and security contexts when a file is replaced. Node cannot read them,
 * but tar can: it does not run again while neither the file nor its folder was changed by another program.
 */
export class KeptAttributes {
  readonly #replaced: Replaced;
  readonly #asked: Promise<Attributes>;
  #hasSome = false;

  /** Create this before anything is created in the folder. tar answers while the new content goes to the disk. */
  constructor(replaced: Replaced) {
    this.#replaced = replaced;
    const isPlain = [replaced.stats, statsOf(replaced.folder.descriptor)].every(isKnown);
    this.#asked = isPlain || process.platform !== "linux" ? Promise.resolve(NONE) : look(replaced);
    // A failure is reported where the answer is needed.
    this.#asked.catch(() => {});
  }

  /** Sets them on the new file; throws when that fails. Returns whether there were any. */
  async giveTo(name: string): Promise<boolean> {
    const { some, context } = await this.#asked;
    this.#hasSome = some || context;
    if (!this.#hasSome) return false;
    const { folder, file } = this.#replaced;
    const kinds = context ? "mode,xattr,context" : "mode,xattr";
    const words = ["--attributes-only", `--preserve=${kinds}`, "--", `./${folder.name}`, `./${name}`];
    const { fault } = await run("cp", words, this.#replaced);
    if (fault === null) return true;
    throw new WorkspaceError(
      "io_error",
      `${file} has an access control list or extended attributes that could not be kept (${fault}), so nothing was written.`,
    );
  }

  /** Call when the new file has replaced the old one, with its stats. */
  settle(written: BigIntStats): void {
    if (this.#hasSome) return;
    if (plain.size >= MOST_KNOWN) plain.clear();
    for (const stats of [written, statsOf(this.#replaced.folder.descriptor)])
      plain.set(idOf(stats), String(stats.ctimeNs));
  }
}

function statsOf(descriptor: number): BigIntStats {
  return fstatSync(descriptor, { bigint: true });
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Setting attributes always changes the file's ctime. */
function isKnown(stats: BigIntStats): boolean {
  return plain.get(idOf(stats)) === String(stats.ctimeNs);
}

async function look(replaced: Replaced): Promise<Attributes> {
  const { folder, file } = replaced;
  const looked = await run("tar", [...LOOK, "-cf", "-", "--", ".", `./${folder.name}`], replaced);
  if (looked.isLate) {
    const message = `${file}: its access control list and attributes could not be read, so nothing was written.`;
    throw new WorkspaceError("io_error", message);
  }
  // A system whose tar cannot read attributes has no better program either.
  const contexts = [...looked.output.matchAll(CONTEXT)].map(([, context]) => typeIn(context));
  return { some: ATTRIBUTE.test(looked.output), context: new Set(contexts).size > 1 };
}

/** A new file gets the type of its folder, whatever the rest of its context is. */
function typeIn(context = ""): string | undefined {
  return context.split(":")[2];
}

/** Runs a program in exactly that folder, wherever its path leads. Never rejects. */
async function run(
  command: string,
  args: readonly string[],
  { folder, helpers, environment = {} }: Replaced,
) {
  const place = { cwd: folder.path("."), env: { LC_ALL: "C", PATH: environment.PATH } };
  const limits = { signal: AbortSignal.timeout(LONGEST_MS), mostBytes: MOST_HEADER_BYTES };
  try {
    const request = { command, args, ...place, ...limits };
    const { exitCode, output, errors, stopped } = await helpers.runProgram(request);
    const fault = exitCode === 0 ? null : errors.trim() || "it failed";
    return { output: output.toString("latin1"), fault, isLate: stopped === "abort" };
  } catch (error) {
    return { output: "", fault: messageOf(error), isLate: false };
  }
}
