import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";

const PACKAGES = new URL("../packages/", import.meta.url).pathname;

const PATHS = readdirSync(PACKAGES, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".test.ts") && !path.includes("node_modules"),
);

/** What the tests of that name say, with the answers of services that one of them runs. */
function textOf(name: string): string {
  const found = PATHS.filter((path) => basename(path) === name).map((path) =>
    readFileSync(join(PACKAGES, path), "utf8"),
  );
  const answers = name === "public-refusals.test.ts" ? "models/tests/public-refusals.jsonl" : null;
  return [...found, ...(answers === null ? [] : [readFileSync(join(PACKAGES, answers), "utf8")])].join("\n");
}

/** The last cell of each row of the page that names a test: the file, and how the title begins. */
function rowsOf(page: string): string[][] {
  return [...page.matchAll(/\| `([\w-]+\.test\.ts)`[^:|]*: ([^|]+?)\s*\|$/gm)].map((row) => row.slice(1));
}

describe("each habit of a service on the page has the test that it names:", () => {
  const rows = rowsOf(readFileSync(new URL("../docs/models.md", import.meta.url), "utf8"));

  it("there are rows", () => {
    expect(rows.length).toBeGreaterThan(35);
  });

  it.each(rows)("%s: %s", (name = "", title = "") => {
    // A title may be put together of what a `describe` and an `it` say.
    const [, number = "", words = ""] = /^(P\d+ )?(?:goes on: )?(.*)$/.exec(title) ?? [];
    const text = textOf(name);
    expect(text).toContain(number.trim());
    expect(text).toContain(words);
  });
});
