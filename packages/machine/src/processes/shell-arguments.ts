import type { ShellProgram } from "./shell-program.ts";

/** PowerShell gets base64 of UTF-16, so that nothing in it changes; cmd removes exactly one pair of quotes. */
export function shellArguments(shell: ShellProgram, command: string): string[] {
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
