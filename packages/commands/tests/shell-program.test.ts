import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { buildShellArguments, chooseShell, findProgram } from "../src/processes/shell-program.ts";

const having =
  (...names: readonly string[]) =>
  (name: string) =>
    names.includes(name) ? `/there/${name}` : null;

describe("chooseShell", () => {
  it.each([
    ["linux", ["bash", "sh"], "bash"],
    ["linux", ["sh"], "sh"],
    ["darwin", ["bash"], "bash"],
    ["win32", ["pwsh.exe", "powershell.exe", "cmd.exe", "bash"], "powershell"],
    ["win32", ["powershell.exe", "cmd.exe"], "powershell"],
    ["win32", ["cmd.exe"], "cmd"],
    ["win32", [], "cmd"],
  ] as const)("P20 on %s with %j it is %s", (platform, names, kind) => {
    expect(chooseShell(platform, having(...names)).kind).toBe(kind);
  });

  it("P20 tells the model which shell it writes for", () => {
    expect(chooseShell("linux", having("sh")).title).toContain("not bash");
    expect(chooseShell("win32", having("pwsh.exe")).title).toBe("PowerShell 7");
    expect(chooseShell("win32", having("powershell.exe")).title).toContain("no &&");
  });
});

describe("shellArguments", () => {
  const command = `echo "a b" 'c' \\ $x %PATH% 漢字\nnext`;

  it("P20 bash and sh get the command as one argument", () => {
    expect(buildShellArguments(chooseShell("linux", having("bash")), command)).toEqual(["-c", "--", command]);
  });

  it("P20 PowerShell gets it so that no quoting can change it", () => {
    const args = buildShellArguments(chooseShell("win32", having("pwsh.exe")), command);
    expect(args.at(-2)).toBe("-EncodedCommand");
    expect(Buffer.from(args.at(-1) ?? "", "base64").toString("utf16le")).toContain(command);
  });

  it("P20 cmd gets it in the one pair of quotes that it takes off", () => {
    const shell = chooseShell("win32", having("cmd.exe"));
    expect(buildShellArguments(shell, 'dir "a b"')).toEqual(["/d", "/s", "/c", '"dir "a b""']);
    expect(shell.isVerbatim).toBe(true);
  });
});

describe("findProgram", () => {
  it("P21 takes the system's program before one that a project brings", async () => {
    const base = createTemporaryFolder();
    const folder = join(base, "project");
    mkdirSync(folder);
    for (const name of ["sh", "only-here"]) {
      writeFileSync(join(folder, name), "#!/bin/false\n");
      chmodSync(join(folder, name), 0o755);
    }
    mkdirSync(join(folder, "relative"));
    expect(findProgram("sh", folder)).not.toBe(join(folder, "sh"));
    expect(findProgram("only-here", `relative:.:${folder}`)).toBe(join(folder, "only-here"));
    expect(findProgram("not-there-at-all", folder)).toBeNull();
    // What a project brings is no program of the machine's, also where nothing else has that name.
    symlinkSync(folder, join(folder, "../linked"));
    for (const path of [folder, join(folder, "../linked"), `${folder}/relative/..`]) {
      expect(findProgram("only-here", path, [folder])).toBeNull();
    }
    expect(findProgram("only-here", folder, [`${folder}-other`])).toBe(join(folder, "only-here"));
  });
});
