import { WorkspaceError } from "@burin/contract/machine/workspace";

/** The failure of a file operation in words, with a code of ours. Anything unexpected keeps its own message. */
export function asWorkspaceError(error: unknown, path: string): Error {
  switch (codeOf(error)) {
    case "ENOENT":
      return new WorkspaceError("not_found", `${path} does not exist.`);
    case "ENOTDIR":
      return new WorkspaceError(
        "not_a_directory",
        `${path} is not a directory, or a part of its path is not.`,
      );
    case "EISDIR":
      return new WorkspaceError("is_a_directory", `${path} is a directory, not a file.`);
    case "EACCES":
    case "EPERM":
      return new WorkspaceError("permission_denied", `No permission for ${path}.`);
    case "ELOOP":
      return new WorkspaceError("invalid_path", `${path} goes through a circle of links.`);
    case "ENAMETOOLONG":
      return new WorkspaceError("invalid_path", `${path} is longer than the file system allows.`);
    case "EROFS":
      return new WorkspaceError("read_only", `${path} is on a read-only file system; nothing was written.`);
    case "ENOSPC":
    case "EDQUOT":
      return new WorkspaceError(
        "no_space",
        `No space is left to write ${path}; what was there is unchanged.`,
      );
    case "EFBIG":
      return new WorkspaceError("too_large", `${path} would be larger than the system allows.`);
    case "ENXIO":
      return notRegular(path);
    case "HELD":
      return new WorkspaceError("io_error", String((error as Error).message));
    default:
      return error instanceof Error ? error : new Error(String(error));
  }
}

export function notRegular(path: string): WorkspaceError {
  return new WorkspaceError("not_a_regular_file", `${path} is a pipe, socket or device, not a regular file.`);
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
