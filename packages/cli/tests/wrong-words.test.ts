import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

describe("a command line that cannot be meant", () => {
  it.each([
    ["sessions --root nowhere", "{}/nowhere does not exist."],
    ["import --root a.txt", "{}/a.txt is not a folder."],
    ["undo --root=", '"" does not exist.'],
    ["tools --include-directories nowhere", "{}/nowhere does not exist."],
    ["trust yes nowhere", "{}/nowhere does not exist."],
    ["help fleet run", 'burin help takes fewer words. If it is a prompt, say so: burin -p "help ..."'],
    ["explain ls -la", "quote the command"],
    ["explain", "name a command"],
    ["tools --jsn", "See burin help tools."],
    ["call read_file {} --yes --approval-mode plan", "cannot be combined with plan"],
  ])("P54 is refused with what to write, and nothing happens: burin %s", async (line, message) => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, "a.txt"), "");
    const { code, stdout, stderr } = await burin(line.split(" "), { cwd, env: { HOME: cwd } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message.replace("{}", cwd));
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("a folder that is gone can be forgotten, and no plugin is said to be there", async () => {
    const cwd = temporaryFolder();
    const run = (...words: string[]) => burin(words, { cwd, env: { HOME: cwd } });
    expect(await run("trust", "forget", "gone")).toMatchObject({ code: 0 });
    expect((await run("plugins", "update")).stdout).toContain("No plugins installed.");
  });
});
