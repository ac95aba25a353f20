import type { Files, Verdict } from "./repository-files.ts";
import { testTitles } from "./syntax.ts";

/** The last number of each kind: requirements, extra requirements, pains. */
const LAST: Readonly<Record<string, number>> = { R: 99, X: 16, P: 55 };

/** A number in a test title is one that exists, written so that grep finds it. */
export function proofs(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!path.endsWith(".test.ts")) continue;
    for (const { line, title } of testTitles(path, text)) {
      looked += 1;
      for (const number of wrongNumbers(title)) {
        violations.push(`${path}:${line} "${number}" in "${title}" is none of R1-R99, X1-X16, P1-P55`);
      }
    }
  }
  return { looked, violations };
}

function wrongNumbers(title: string): string[] {
  const first = /^(?:[rxp][- ]|[a-z])?\d+(?=[\s,:;]|$)/i.exec(title)?.[0];
  const inside = title.match(/\b[RXP]\d+\b/g) ?? [];
  const numbers = new Set(first === undefined ? inside : [first, ...inside]);
  return [...numbers].filter((number) => !isProof(number));
}

function isProof(number: string): boolean {
  const [, kind = "", value = ""] = /^([RXP])([1-9]\d*)$/.exec(number) ?? [];
  return value !== "" && Number(value) <= (LAST[kind] ?? 0);
}
