import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

describe("docs/command-line.md", () => {
  it("names every command and every option that --help knows", async () => {
    const page = await readFile(new URL("../../../docs/command-line.md", import.meta.url), "utf8");
    const { stdout } = await burin(["--help"], { cwd: tmpdir() });
    const commands = stdout.match(/(?<=^ {7})burin [a-z]+/gm) ?? [];
    const options = stdout.match(/(?<=^ {2}.{0,6})--[a-z-]+/gm) ?? [];
    expect(commands.length).toBeGreaterThan(9);
    expect(options.length).toBeGreaterThan(20);
    const named = (word: string) => new RegExp(`${word}(?![a-z-])`).test(page);
    expect([...commands, ...options].filter((word) => !named(word) && word !== "--help")).toEqual([]);
  });
});
