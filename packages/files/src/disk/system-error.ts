import { WorkspaceError, type WorkspaceErrorCode } from "@burin/contract/machine/workspace";

type ErrorMessage = readonly [code: WorkspaceErrorCode, words: string];

const PERMISSION_DENIED: ErrorMessage = ["permission_denied", "No permission for {}."];
const TOO_MANY_OPEN: ErrorMessage = ["io_error", "Too many files are open at once; {} was left as it is."];
const NO_SPACE: ErrorMessage = ["no_space", "No space is left to write {}; what was there is unchanged."];

/** System error codes that say something about a path. */
const ERROR_MESSAGES: Readonly<Record<string, ErrorMessage>> = {
  ENOENT: ["not_found", "{} does not exist."],
  ENOTDIR: ["not_a_directory", "{} is not a directory, or a part of its path is not."],
  EISDIR: ["is_a_directory", "{} is a directory, not a file."],
  EACCES: PERMISSION_DENIED,
  EPERM: PERMISSION_DENIED,
  ELOOP: ["invalid_path", "{} goes through a loop of symbolic links."],
  ENAMETOOLONG: ["invalid_path", "{} is longer than the file system allows."],
  EROFS: ["read_only", "{} is on a read-only file system; nothing was written."],
  ENOSPC: NO_SPACE,
  EDQUOT: NO_SPACE,
  EMFILE: TOO_MANY_OPEN,
  ENFILE: TOO_MANY_OPEN,
  EIO: ["io_error", "The disk failed at {}."],
  EFBIG: ["too_large", "{} would be larger than the system allows."],
  ENXIO: ["not_a_regular_file", "{} is a pipe, socket or device, not a regular file."],
};

/**
 * Turns the error of a file operation into a message with one of our codes. Unexpected errors keep their own message.
 */
export function toWorkspaceError(error: unknown, path: string): Error {
  const code = readErrorCode(error) ?? "";
  if (code === "HELD") return new WorkspaceError("io_error", String((error as Error).message));
  const failure = Object.hasOwn(ERROR_MESSAGES, code) ? ERROR_MESSAGES[code] : undefined;
  if (failure !== undefined)
    return new WorkspaceError(
      failure[0],
      failure[1].replace("{}", () => path),
    );
  return error instanceof Error ? error : new Error(String(error));
}

export function createNotRegularError(path: string): Error {
  return toWorkspaceError(Object.assign(new Error(), { code: "ENXIO" }), path);
}

export function readErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
