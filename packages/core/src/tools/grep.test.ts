import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { createTree } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { createToolbox } from "../create-session.ts";
import { Grep } from "./grep.ts";

async function grep(root: string, params: Record<string, unknown>): Promise<string> {
  return String((await createToolbox({ root }).call("search_file_content", params)).llmContent);
}

const EXAMPLE = {
  "src/utils.ts": `${"\n".repeat(14)}export function myFunction() {\n${"\n".repeat(6)}  myFunction.call();\n}\n`,
  "src/index.ts": `${"\n".repeat(4)}import { myFunction } from './utils';\n`,
  "README.md": "myFunction\n",
};

describe("search_file_content", () => {
  it("R84 R85 lays the hits out by file, in the order of the paths", async () => {
    expect(await grep(createTree(EXAMPLE), { pattern: "myFunction", include: "*.ts" })).toBe(
      [
        'Found 3 matches for pattern "myFunction" in path "." (filter: "*.ts"):',
        "---",
        "File: src/index.ts",
        "L5: import { myFunction } from './utils';",
        "---",
        "File: src/utils.ts",
        "L15: export function myFunction() {",
        "L22:   myFunction.call();",
        "---",
      ].join("\n"),
    );
  });

  it("R88 a relative path works and is echoed; one hit is 1 match, none is said so", async () => {
    const root = createTree(EXAMPLE);
    expect(await grep(root, { pattern: "import", path: "src" })).toBe(
      'Found 1 match for pattern "import" in path "src":\n---\nFile: index.ts\nL5: import { myFunction } from \'./utils\';\n---',
    );
    expect(await grep(root, { pattern: "absent", path: "src", include: "*.md" })).toBe(
      'No matches found for pattern "absent" in path "src" (filter: "*.md").',
    );
    expect(await grep(root, { pattern: "MYFUNCTION", path: join(root, "README.md") })).toBe(
      `Found 1 match for pattern "MYFUNCTION" in path "${join(root, "README.md")}":\n---\nFile: README.md\nL1: myFunction\n---`,
    );
    expect(await grep(root, { pattern: "MYFUNCTION", case_sensitive: true })).toContain("No matches found");
  });

  it("R82 R86 X10 gives 20 hits unless told otherwise, and warns only when some were left out", async () => {
    const root = createTree({ "a.txt": "hit\n".repeat(21), "b/c.txt": "hit\n".repeat(79) });
    const text = await grep(root, { pattern: "hit" });
    expect(text.split("\n").filter((line) => line.startsWith("L"))).toHaveLength(20);
    expect(text.startsWith('Found 20 matches for pattern "hit" in path ".":')).toBe(true);
    expect(text).toMatch(
      /\n---\n\nWARNING: Results truncated to prevent context overflow\. To see more results:\n- Use a more specific pattern to reduce matches\n- Add file filters with the 'include' parameter \(e\.g\., "\*\.js", "src\/\*\*"\)\n- Specify a narrower 'path' to search in a subdirectory\n- Increase 'maxResults' parameter if you need more matches \(current: 20\)$/,
    );
    const all = await grep(root, { pattern: "hit", maxResults: 100 });
    expect(all).toContain("Found 100 matches");
    expect(all).not.toContain("WARNING");
  });

  it.each([0, 101, -1, 1.5])("R82 maxResults %s is refused and the range named", async (maxResults) => {
    const text = await grep(createTree({}), { pattern: "a", maxResults });
    expect(text).toContain("1 to 100");
  });

  it("R81 include and exclude take globs with and without folders", async () => {
    const root = createTree({
      "a.js": "hit",
      "src/b.ts": "hit",
      "src/x/c.tsx": "hit",
      "src/x/c.test.tsx": "hit",
    });
    const files = async (params: Record<string, unknown>) =>
      (await grep(root, { pattern: "hit", names_only: true, ...params })).split("\n").slice(1);
    expect(await files({ include: "*.js" })).toEqual(["a.js"]);
    expect(await files({ include: "src/**/*.{ts,tsx}" })).toEqual([
      "src/b.ts",
      "src/x/c.test.tsx",
      "src/x/c.tsx",
    ]);
    expect(await files({ include: "src/**", exclude: "*.test.tsx" })).toEqual(["src/b.ts", "src/x/c.tsx"]);
    for (const exclude of ["src/**", "src", "src/", "./src", join(root, "src")]) {
      expect(await files({ exclude })).toEqual(["a.js"]);
    }
    expect(await files({ include: join(root, "src/*.ts") })).toEqual(["src/b.ts"]);
    expect(await files({ include: "src/x/" })).toEqual(["src/x/c.test.tsx", "src/x/c.tsx"]);
    for (const include of ["/elsewhere/*.ts", "../*.ts"]) {
      expect(await grep(root, { pattern: "hit", include })).toContain(`The pattern "${include}"`);
    }
  });

  it("R88 context lines are marked with a hyphen, gaps with dots", async () => {
    const root = createTree({ "a.txt": "1\nhit\n3\n4\n5\n6\nhit\n" });
    expect(await grep(root, { pattern: "hit", context: 1 })).toContain(
      "File: a.txt\nL1- 1\nL2: hit\nL3- 3\n...\nL6- 6\nL7: hit\n---",
    );
  });

  it("R88 bad patterns are validation errors that name the fault; fixed_strings takes them", async () => {
    const root = createTree({ "a.txt": "call foo( now\n" });
    const tool = new Grep(openWorkspace(root));
    expect(tool.validateToolParams({ pattern: "foo(" })).toContain("never closed");
    expect(tool.validateToolParams({ pattern: "(?=x)" })).toContain("look-around");
    expect(tool.validateToolParams({ pattern: "" })).toContain("pattern");
    expect(tool.validateToolParams({ pattern: "a", include: "!(x)" })).toContain("glob");
    expect(await grep(root, { pattern: "foo(", fixed_strings: true })).toContain("L1: call foo( now");
  });

  it("P40 P41 a wrong path is an error with a hint, never no matches", async () => {
    const root = createTree({ "source/a.txt": "hit" });
    const result = await createToolbox({ root }).call("search_file_content", {
      pattern: "hit",
      path: "sorce",
    });
    expect(result.error?.type).toBe("not_found");
    expect(String(result.llmContent)).toContain(join(root, "source"));
    expect(await grep(root, { pattern: "hit", path: ".." })).toContain("outside the root");
  });

  it("P40 a file that is not searched is said so, never no matches alone", async () => {
    const root = createTree({ "a.bin": "x\0x", "b.txt": "none" });
    execFileSync("mkfifo", [join(root, "pipe")]);
    const named = (path: string) => grep(root, { pattern: "x", path });
    expect(await named("pipe")).toContain("pipe, socket or device");
    expect(await named("a.bin")).toContain("[Incomplete: The file is binary");
    expect(await named("b.txt")).toBe('No matches found for pattern "x" in path "b.txt".');
  });

  it("R88 says that git's ignoring may have hidden all that match, and only where nothing is found", async () => {
    const root = createTree({
      ".gitignore": "gen/\n*.log\n",
      "src/gen/a.js": "needle\n",
      "b.log": "pin\n",
      "c.ts": "thread\n",
    });
    const hidden = '[Files that git ignores have matches. Set "respect_git_ignore" to false to search them.]';
    for (const pattern of ["needle", "pin"]) {
      expect(await grep(root, { pattern })).toBe(
        `No matches found for pattern "${pattern}" in path ".".\n${hidden}`,
      );
      expect(await grep(root, { pattern, respect_git_ignore: false })).toContain(`L1: ${pattern}`);
    }
    expect(await grep(root, { pattern: "needle|thread" })).not.toContain("git ignores");
    expect(await grep(createTree({ "a.ts": "thread\n" }), { pattern: "needle" })).not.toContain(
      "git ignores",
    );
  });

  it("R88 says nothing of ignored files where nothing matches anywhere, or only what a search never shows", async () => {
    const root = createTree({
      ".gitignore": "gen/\n*.log\n",
      ".burinignore": "own.log\n",
      "gen/a.js": "needle\n",
      "gen/node_modules/m/a.js": "module\n",
      "own.log": "hidden\n",
      "b.log": "pin\n",
      "c.ts": "thread\n",
    });
    for (const params of [
      { pattern: "rope" },
      { pattern: "hidden" },
      { pattern: "module" },
      { pattern: "needle", include: "*.log" },
      { pattern: "needle", exclude: "gen/**" },
      { pattern: "pin", path: "gen" },
    ]) {
      expect(await grep(root, params)).toMatch(/^No matches found [^\n]+$/);
    }
    expect(await grep(root, { pattern: "needle", include: "*.js" })).toContain("git ignores have matches");
  });

  it("R88 says that ignored files were not searched where they are too many to look at", async () => {
    const root = createTree({ ".gitignore": "gen/\n", "a.ts": "thread\n", "gen/a.js": "made\n" });
    for (let number = 0; number < 5000; number += 1) writeFileSync(join(root, "gen", `${number}.js`), "");
    expect(await grep(root, { pattern: "rope" })).toContain("[Files that git ignores were not searched. ");
  });

  it("P38 a link to a file outside is refused, one to a folder inside works", async () => {
    const outside = createTree({ "secret.txt": "needle" });
    const root = createTree({ "real/a.txt": "needle" });
    symlinkSync(join(outside, "secret.txt"), join(root, "out.txt"));
    symlinkSync(join(root, "real"), join(root, "alias"));
    expect(await grep(root, { pattern: "needle", path: "out.txt" })).toContain("outside the root");
    expect(await grep(root, { pattern: "needle", path: "alias" })).toContain("File: a.txt");
    expect(await grep(root, { pattern: "needle" })).toContain("Found 1 match ");
  });

  it("R87 needs no confirmation", async () => {
    const tool = new Grep(openWorkspace(createTree({})));
    expect(await tool.shouldConfirmExecute({ pattern: "a" }, new AbortController().signal)).toBe(false);
  });
});
