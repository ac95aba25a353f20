import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { isInsideAnyFolder, isWorkTreeTop } from "@burin/files/disk/disk-looks";

/** The shell that commands are written for. */
export interface ShellProgram {
  readonly kind: "bash" | "sh" | "powershell" | "cmd";
  /** The shell's name for the model. */
  readonly title: string;
  readonly path: string;
  /** The arguments between the program and the command. */
  readonly args: readonly string[];
  /** true if the command must reach the program unchanged, without the quoting of Windows' argument lists. */
  readonly isVerbatim: boolean;
}

type FindProgram = (name: string) => string | null;

/**
 * Chooses the shell: bash if there is one, otherwise sh; on Windows PowerShell, the newer before the older, otherwise
 * cmd.
 */
export function chooseShell(platform: NodeJS.Platform, find: FindProgram): ShellProgram {
  return platform === "win32" ? findWindowsShell(find) : findUnixShell(find);
}

function findUnixShell(find: FindProgram): ShellProgram {
  const bash = find("bash");
  // A command may begin with a hyphen without being an option.
  const plain = { args: ["-c", "--"], isVerbatim: false };
  if (bash !== null) return { kind: "bash", title: "bash", path: bash, ...plain };
  return { kind: "sh", title: "sh (POSIX, not bash)", path: find("sh") ?? "/bin/sh", ...plain };
}

function findWindowsShell(find: FindProgram): ShellProgram {
  const newer = find("pwsh.exe");
  const path = newer ?? find("powershell.exe");
  if (path !== null) {
    const title = newer === null ? "Windows PowerShell 5 (no && and ||)" : "PowerShell 7";
    const args = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand"];
    return { kind: "powershell", title, path, args, isVerbatim: false };
  }
  const cmd = find("cmd.exe") ?? "cmd.exe";
  return { kind: "cmd", title: "cmd.exe", path: cmd, args: ["/d", "/s", "/c"], isVerbatim: true };
}

/** Folders that are searched before PATH, because a package runner puts the project's own folder first in PATH. */
export const SYSTEM_FOLDERS = ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/**
 * Splits PATH into absolute folders in their order, with the project's folders separate. System folders never count as
 * the project's.
 */
export function splitPathFolders(path: string, roots: readonly string[]) {
  const folders = path.split(delimiter).filter(isAbsolute);
  const places = roots.flatMap((root) => [root, ...listProjectFolders(root)]);
  const own = folders.filter(
    (folder) => !SYSTEM_FOLDERS.includes(folder) && isInsideAnyFolder(folder, places),
  );
  return { own, others: folders.filter((folder) => !own.includes(folder)) };
}

/**
 * Lists what belongs to the same project above a root: the repository and enclosing packages. A package runner that is
 * started in a subfolder puts their programs first in PATH. A home folder under version control is not a project.
 */
function listProjectFolders(root: string): string[] {
  const above = dirname(root);
  if (above === root) return [];
  const isProject = isWorkTreeTop(above) && !isInsideAnyFolder(homedir(), [above]);
  return [isProject ? above : join(above, "node_modules"), ...listProjectFolders(above)];
}

/** Returns the first executable file with that name in the system's folders and in PATH's, without the project's. */
export function findProgram(name: string, path = "", roots: readonly string[] = []): string | null {
  return (
    findFirstProgram(name, SYSTEM_FOLDERS) ?? findFirstProgram(name, splitPathFolders(path, roots).others)
  );
}

/** Returns the first executable file with that name in the given folders. */
export function findFirstProgram(name: string, folders: readonly string[]): string | null {
  const isProgram = (file: string) => withFallback(false, () => accessSync(file, constants.X_OK) ?? true);
  const files = folders.filter(isAbsolute).map((folder) => join(folder, name));
  return files.find(isProgram) ?? null;
}

/**
 * Formats a command for the shell. PowerShell gets UTF-16 in base64, so that nothing is changed on the way; cmd strips
 * exactly one pair of quotes.
 */
export function buildShellArguments(shell: ShellProgram, command: string): string[] {
  switch (shell.kind) {
    case "powershell": {
      const utf8 =
        "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); $ProgressPreference = 'SilentlyContinue'; ";
      const exit =
        "\n$ok = $?; if ($ok) { exit 0 } elseif ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 }";
      return [...shell.args, Buffer.from(`${utf8}${command}${exit}`, "utf16le").toString("base64")];
    }
    case "cmd":
      return [...shell.args, `"${command}"`];
    default:
      return [...shell.args, command];
  }
}
