import type { Files, Verdict } from "./repository-files.ts";
import { findTestTitles } from "./syntax.ts";

const LIST = "docs/requirements.md";

/** Checks that every number in a test title is in the list and is written so that grep finds it. */
export function checkProofs(files: Files): Verdict {
  const known = readNumbers(files.get(LIST) ?? "");
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!path.endsWith(".test.ts")) continue;
    for (const { line, title } of findTestTitles(path, text)) {
      looked += 1;
      for (const number of findNumbers(title)) {
        if (!known.has(number))
          violations.push(`${path}:${line} "${number}" in "${title}" is not in ${LIST}`);
      }
    }
  }
  return { looked, violations };
}

function readNumbers(page: string): ReadonlySet<string> {
  return new Set([...page.matchAll(/^- \*\*([RXP]\d+)\*\* \S/gm)].map(([, number = ""]) => number));
}

function findNumbers(title: string): ReadonlySet<string> {
  const first = /^(?:[rxp][- ]|[a-z])?\d+(?=[\s,:;]|$)/i.exec(title)?.[0];
  const inside = title.match(/\b[RXP]\d+\b/g) ?? [];
  return new Set(first === undefined ? inside : [first, ...inside]);
}
