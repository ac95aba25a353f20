import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Quirk, ROWS } from "../packages/models/src/request/quirks.ts";
import { findWholeTitles } from "./syntax.ts";

const PACKAGES = fileURLToPath(new URL("../packages/", import.meta.url));

const PAGE = readFileSync(new URL("../docs/models.md", import.meta.url), "utf8");

const PATHS = readdirSync(PACKAGES, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".test.ts") && !path.includes("node_modules"),
);

/**
 * Returns the titles of tests in files with that name. Tests of services' answers take their titles from the answers.
 */
function titlesOf(name: string): readonly string[] {
  const found = PATHS.filter((path) => basename(path) === name);
  const titles = found.flatMap((path) => findWholeTitles(path, readFileSync(join(PACKAGES, path), "utf8")));
  if (!name.startsWith("public-")) return titles;
  const file = name.replace(".test.ts", ".jsonl");
  const lines = readFileSync(join(PACKAGES, "models/tests", file), "utf8")
    .trim()
    .split("\n");
  const answers = lines.map((line) => JSON.parse(line) as { who: string; at: string });
  return titles.flatMap((title) =>
    answers.map(({ who, at }) => title.replace("$who", who).replace("$at", at)),
  );
}

/** Returns the last cell of each row that names a test: the file, and words of the title. */
function rowsOf(page: string): string[][] {
  return [...page.matchAll(/\| `([\w-]+\.test\.ts)`[^:|]*: ([^|]+?)\s*\|$/gm)].map((row) => row.slice(1));
}

/** Whether one title contains everything: the number, and the words in a row. */
function isNamedIn(titles: readonly string[], named: string): boolean {
  const [, number = "", words = ""] = /^([RXP]\d+ )?(.*)$/.exec(named) ?? [];
  return titles.some((title) => `${title} `.includes(number) && title.includes(words));
}

/** What the page says of each lesson that the code can learn from a refusal. A new lesson needs a row. */
const LESSONS: Record<Quirk, string> = {
  "no-stream-options": "`stream_options`",
  "old-output-limit": "know only `max_tokens`",
  "signature-wanted": "requires a signature on calls",
  "no-cache-hour": "keep nothing for an hour",
  "no-cache-control": "`cache_control` on messages",
  "no-extras": "`thinking_blocks`",
  "no-system": "has no system role",
  "reply-before-user": "must alternate",
  "nine-ids": "call ids have nine letters",
  "named-answers": "want the tool's name with its result",
  "calls-alone": "do not accept text beside a call",
  "content-wanted": "a message of calls without content",
  "reasoning-wanted": "want reasoning back with calls",
  "reasoning-refused": "others refuse it",
  "without:reasoning_effort": "others refuse an effort",
  "without:$1": "some refuse a temperature",
  "thinking-wanted": "thoughts that are not signed must come back",
  "no-budget": "think adaptively",
  "no-adaptive": "older ones by a budget",
  "no-thinking": "a budget for thinking only where",
  "no-summary": "no summaries of reasoning",
  "no-phase": "do not know the `phase`",
  "no-reasoning": "reasoning that another model or account encrypted",
  "no-include": "encrypted reasoning to `include`",
  "old-parameters": "`parametersJsonSchema`",
  "no-call-ids": "do not support ids of calls",
  "without:thinkingConfig": "`thinkingConfig`",
};

describe("each habit of a service on the page has the test that it names:", () => {
  const rows = rowsOf(PAGE);

  it("there are rows", () => {
    expect(rows.length).toBeGreaterThan(35);
  });

  it.each(rows)("%s: %s", (name = "", title = "") => {
    expect(titlesOf(name).filter((one) => isNamedIn([one], title))).not.toEqual([]);
  });

  it("P36 every lesson of the code has a row", () => {
    const learned = Object.values(ROWS).flatMap((rows) => rows.map(([quirk]) => quirk));
    expect(new Set(Object.keys(LESSONS))).toEqual(new Set(learned));
    const habits = PAGE.split("\n").filter((line) => /^\|.*`[\w-]+\.test\.ts`/.test(line));
    const missing = Object.entries(LESSONS).filter(([, words]) => !habits.some((row) => row.includes(words)));
    expect(missing).toEqual([]);
  });

  it("a number and words of two titles are none", () => {
    const text = `describe("P1 one", () => {
      it("is so", () => {});
      it.each([["a", 1], ["b", 2]])("is %s", () => {});
    });
    it("P2 other", () => {});
    describe.each(["x"])("P3 %s", () => it.each(ROWS)("$title then", () => {}));
    const ROWS = [{ title: "first" }];`;
    const titles = findWholeTitles("x.test.ts", text);
    expect(titles).toEqual(["P1 one is so", "P1 one is a", "P1 one is b", "P2 other", ...titles.slice(4)]);
    expect(titles).toContain("P3 x first then");
    expect(["P1 is so", "P1 one is b", "P2 other"].map((named) => isNamedIn(titles, named))).toEqual(
      Array(3).fill(true),
    );
    expect(["P2 is so", "P1 other", "P1 is c", "P4 is so"].some((named) => isNamedIn(titles, named))).toBe(
      false,
    );
  });
});
