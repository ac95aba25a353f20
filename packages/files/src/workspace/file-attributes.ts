import { type BigIntStats, fstatSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { describeError } from "@burin/contract/text/error-message";
import type { TargetFolder } from "../paths/target-folder.ts";

/** A file that a new file next to it will replace. */
export interface ReplacedFile {
  readonly folder: TargetFolder;
  /** The path as it was requested; only for messages. */
  readonly file: string;
  readonly stats: BigIntStats;
  /** Where to look for programs besides the system's own folders. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  readonly helpers: FileHelpers;
}

/** Attributes of a file besides owner, mode and content, or those that a new file in its folder would inherit. */
interface Attributes {
  readonly hasAttributes: boolean;
  readonly context: boolean;
}

/** tar prints headers before the content, and those of a file without attributes are short. */
const MAX_HEADER_BYTES = 64 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_KNOWN = 4000;
/** How many files one tar looks at, and how long its answer may be: it prints the contents too. */
const MAX_AT_ONCE = { files: 500, bytes: 16 * 1024 * 1024 };
const TAR_ARGUMENTS = [
  "--format=posix",
  "--acls",
  "--selinux",
  "--xattrs",
  "--xattrs-include=*",
  "--no-recursion",
];
/**
 * Matches attributes that a new file must get. `security.*` attributes are not among them: a write removes
 * capabilities, and the system sets the rest.
 */
const ATTRIBUTE = /\d SCHILY\.(?:acl\.|xattr\.(?!security\.))/;
const CONTEXT = /\d RHT\.security\.selinux=([^\n]*)/g;
const NO_ATTRIBUTES: Attributes = { hasAttributes: false, context: false };

/**
 * Shared by sessions: files that this process has written without attributes, and folders that pass none on, by
 * identity and time of change.
 */
const plainFiles = new Map<string, string>();

/**
 * Keeps access control lists, user attributes and security contexts when a file is replaced. Node cannot read them, so
 * tar does. tar is not run again while no other program has changed the file or its folder.
 */
export class PreservedAttributes {
  readonly #replaced: ReplacedFile;
  readonly #asked: Promise<Attributes>;
  #hasSome = false;

  /**
   * Starts to read the attributes. Create it before anything is created in the folder. tar runs while the new content
   * is written to disk.
   */
  constructor(replaced: ReplacedFile) {
    this.#replaced = replaced;
    const isPlain = [replaced.stats, statDescriptor(replaced.folder.descriptor)].every(
      isKnownWithoutAttributes,
    );
    this.#asked =
      isPlain || process.platform !== "linux" ? Promise.resolve(NO_ATTRIBUTES) : readAttributes(replaced);
    // A failure is reported later, where the attributes are needed.
    this.#asked.catch(() => {});
  }

  /** Sets the attributes on the new file; throws when that fails. Returns whether there were any. */
  async copyAttributes(name: string): Promise<boolean> {
    const { hasAttributes, context } = await this.#asked;
    this.#hasSome = hasAttributes || context;
    if (!this.#hasSome) return false;
    const { folder, file } = this.#replaced;
    const kinds = context ? "mode,xattr,context" : "mode,xattr";
    const words = ["--attributes-only", `--preserve=${kinds}`, "--", `./${folder.name}`, `./${name}`];
    const { fault } = await runHelperInFolder("cp", words, this.#replaced);
    if (fault === null) return true;
    throw new WorkspaceError(
      "io_error",
      `${file} has an access control list or extended attributes that could not be kept (${fault}), so nothing was written.`,
    );
  }

  /** Call when the new file has replaced the old one, with its stats. */
  rememberNoAttributes(written: BigIntStats): void {
    if (this.#hasSome) return;
    for (const stats of [written, statDescriptor(this.#replaced.folder.descriptor)]) rememberStats(stats);
  }
}

/**
 * Finds out for many files at once that they and their folders have no attributes. Replacing each of them then starts
 * no program. Where one has some, or in doubt, nothing is remembered, and each is asked about when it is replaced.
 */
export async function learnPlainFiles(files: readonly string[], helpers: FileHelpers): Promise<void> {
  if (process.platform !== "linux") return;
  for (let at = 0; at < files.length; at += MAX_AT_ONCE.files) {
    const part = files.slice(at, at + MAX_AT_ONCE.files);
    const paths = [...new Set([...part, ...part.map((file) => dirname(file))])];
    const before = paths.map(statPath);
    const present = paths.filter((_, index) => before[index] !== undefined);
    const bytes = before.reduce((sum, stats) => sum + Number(stats?.size ?? 0), 0);
    if (present.length === 0 || bytes > MAX_AT_ONCE.bytes / 2) continue;
    const args = [...TAR_ARGUMENTS, "-P", "-cf", "-", "--", ...present];
    const { output, fault } = await runTool("tar", args, { cwd: "/", maxBytes: MAX_AT_ONCE.bytes, helpers });
    // The words may also stand in a content, which does no harm.
    if (fault !== null || ATTRIBUTE.test(output) || countContexts(output) > 1) continue;
    for (const [index, stats] of before.entries()) {
      const isSame = stats !== undefined && statPath(paths[index] ?? "")?.ctimeNs === stats.ctimeNs;
      if (isSame) rememberStats(stats);
    }
  }
}

function statPath(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function rememberStats(stats: BigIntStats): void {
  if (plainFiles.size >= MAX_KNOWN) plainFiles.clear();
  plainFiles.set(formatFileId(stats), String(stats.ctimeNs));
}

function statDescriptor(descriptor: number): BigIntStats {
  return fstatSync(descriptor, { bigint: true });
}

function formatFileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Setting attributes always changes the file's ctime. */
function isKnownWithoutAttributes(stats: BigIntStats): boolean {
  return plainFiles.get(formatFileId(stats)) === String(stats.ctimeNs);
}

async function readAttributes(replaced: ReplacedFile): Promise<Attributes> {
  const { folder, file } = replaced;
  const looked = await runHelperInFolder(
    "tar",
    [...TAR_ARGUMENTS, "-cf", "-", "--", ".", `./${folder.name}`],
    replaced,
  );
  if (looked.isLate) {
    const message = `${file}: its access control list and attributes could not be read, so nothing was written.`;
    throw new WorkspaceError("io_error", message);
  }
  // If this system's tar cannot read attributes, no other program can either.
  return { hasAttributes: ATTRIBUTE.test(looked.output), context: countContexts(looked.output) > 1 };
}

function countContexts(output: string): number {
  return new Set([...output.matchAll(CONTEXT)].map(([, context]) => parseContextType(context))).size;
}

/** A new file gets its folder's type, whatever the rest of its context is. */
function parseContextType(context = ""): string | undefined {
  return context.split(":")[2];
}

/** Runs a program in exactly that folder, wherever its path leads. Never rejects. */
function runHelperInFolder(
  command: string,
  args: readonly string[],
  { folder, helpers, environment = {} }: ReplacedFile,
) {
  const { PATH } = environment;
  return runTool(command, args, { cwd: folder.path("."), maxBytes: MAX_HEADER_BYTES, helpers, PATH });
}

interface RunToolOptions {
  readonly cwd: string;
  readonly maxBytes: number;
  readonly helpers: FileHelpers;
  readonly PATH?: string | undefined;
}

async function runTool(
  command: string,
  args: readonly string[],
  { cwd, maxBytes, helpers, PATH }: RunToolOptions,
) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const request = { command, args, cwd, env: { LC_ALL: "C", PATH }, signal, maxBytes };
    const { exitCode, output, errors, stopped } = await helpers.runProgram(request);
    const fault = exitCode === 0 ? null : errors.trim() || "it failed";
    return { output: output.toString("latin1"), fault, isLate: stopped === "abort" };
  } catch (error) {
    return { output: "", fault: describeError(error), isLate: false };
  }
}
