import { cp, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { burin } from "./burin.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));

let top: string;

beforeEach(() => {
  top = temporaryFolder();
});

/** The commands of a page's shell block, as a newcomer would type them. */
async function commandsOf(page: string): Promise<string[][]> {
  const text = await readFile(join(REPOSITORY, page), "utf8");
  const block = /```sh\n(.*?)```/s.exec(text)?.[1] ?? "";
  return block
    .split("\n")
    .filter((line) => line.startsWith("burin "))
    .map((line) =>
      [...line.replace(/ +#.*/, "").matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? "",
      ),
    )
    .map(([, ...words]) => words);
}

describe("docs/discovery.md", () => {
  it("R18 R20 R26 its five minutes work as written", async () => {
    const folder = join(top, "example");
    await cp(join(REPOSITORY, "examples/discovery-command"), folder, { recursive: true });
    const env = { BURIN_HOME: join(top, "home"), PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const outputs: string[] = [];
    for (const words of await commandsOf("docs/discovery.md")) {
      const { code, stdout, stderr } = await burin(words, { cwd: folder, env });
      expect(`${code} ${stderr}`).toBe("0 ");
      outputs.push(stdout);
    }
    expect(outputs).toHaveLength(4);
    expect(outputs[0]).toContain("run, to discover tools: node tools.mjs");
    expect(outputs[1]).toContain("is trusted. Its settings may:");
    expect(outputs[2]).toContain("count_words  (discovery command)");
    expect(outputs[3]).toBe("2 words, 1 lines\n");
  });
});

describe("docs/mcp.md", () => {
  it("R24 R26 its five minutes work as written", async () => {
    const folder = join(top, "example");
    await cp(join(REPOSITORY, "examples/mcp-server"), folder, { recursive: true });
    const env = { BURIN_HOME: join(top, "home"), PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const outputs: string[] = [];
    for (const words of await commandsOf("docs/mcp.md")) {
      const { code, stdout, stderr } = await burin(words, { cwd: folder, env });
      expect(`${code} ${stderr}`).toBe("0 ");
      outputs.push(stdout);
    }
    expect(outputs).toHaveLength(5);
    expect(outputs[0]).toContain("node server.mjs");
    expect(outputs[2]).toBe("words  node server.mjs  connected, 1 tool\n");
    expect(outputs[3]).toContain("words__count_words");
    expect(outputs[4]).toContain("2 words");
  });
});
