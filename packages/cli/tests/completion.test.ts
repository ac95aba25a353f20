import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { beforeAll, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

let folder: string;

beforeAll(async () => {
  folder = createTemporaryFolder();
});

/** What bash offers for the last of these words. */
async function offered(words: readonly string[]): Promise<string[]> {
  const { stdout } = await burin(["completion", "bash"], { cwd: folder });
  const script = join(folder, "completion.bash");
  const asked = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _burin; printf '%s\\n' "\${COMPREPLY[@]}"`;
  await writeFile(script, stdout);
  const said = execFileSync("bash", ["-c", asked, "bash", script, ...words], {
    encoding: "utf8",
    cwd: folder,
  });
  return said.split("\n").filter((line) => line !== "");
}

describe("burin completion", () => {
  it("bash completes commands, what they can do, options and their values", async () => {
    expect(await offered(["burin", "ex"])).toEqual(["explain"]);
    expect(await offered(["burin", "sessions", ""])).toEqual(["list", "show", "answer", "rm"]);
    expect(await offered(["burin", "fleet", "q"])).toEqual(["questions"]);
    expect(await offered(["burin", "plugins", ""])).toEqual(["add", "update", "list", "remove"]);
    expect(await offered(["burin", "--appr"])).toEqual(["--approval-mode"]);
    expect(await offered(["burin", "--approval-mode", "au"])).toEqual(["auto-edit", "auto"]);
    expect(await offered(["burin", "-p", "--lang", ""])).toEqual(["en", "zh", "ja", "fr", "ru"]);
    expect(await offered(["burin", "--model", ""])).toEqual([]);
    expect(await offered(["burin", "--confirm", ""])).toEqual([]);
    expect(await offered(["burin", "undo", "--js"])).toEqual(["--json", "--json-schema"]);
  });

  it("offers after a command the options of this command, which the others do not have", async () => {
    expect(await offered(["burin", "sessions", "list", "--al"])).toEqual(["--allow", "--all"]);
    expect(await offered(["burin", "mcp", "add", "--sc"])).toEqual(["--scope"]);
    expect(await offered(["burin", "replay", "--to"])).toEqual(["--tools"]);
    expect(await offered(["burin", "undo", "--to"])).toEqual(["--to"]);
    const [zsh, fish] = await Promise.all(
      ["zsh", "fish"].map((shell) => burin(["completion", shell], { cwd: folder })),
    );
    expect(zsh?.stdout).toContain("import) after=() own=(--from --apply --all --project) ;;");
    expect(fish?.stdout).toContain("complete -c burin -n '__fish_seen_subcommand_from undo' -l list\n");
  });

  it("names every command and option of --help for each shell", async () => {
    const { stdout: help } = await burin(["--help"], { cwd: folder });
    const commands = [...help.matchAll(/^ {7}burin ([a-z]+)/gm)].map(([, name = ""]) => name);
    const options = [...help.matchAll(/^ {2}.{0,6}--([a-z-]+)/gm)].map(([, name = ""]) => name);
    const wanted = [...commands, ...options].filter((name) => name !== "help" && name !== "version");
    expect(wanted.length).toBeGreaterThan(30);
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout } = await burin(["completion", shell], { cwd: folder });
      expect(wanted.filter((name) => !new RegExp(`(?<![a-z])${name}(?![a-z])`).test(stdout))).toEqual([]);
    }
  });

  it("says which shells there are", async () => {
    const { code, stderr } = await burin(["completion", "tcsh"], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain("bash, zsh or fish");
  });

  it("--lang takes a language of the app, and lists them for any other", async () => {
    const { code, stderr } = await burin(["-p", "hi", "--lang", "de"], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain('--lang must be one of en, zh, ja, fr, ru, not "de"');
  });
});
