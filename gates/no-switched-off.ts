import { type Files, isCode, type Verdict } from "./repository-files.ts";

/** Each pattern has one letter in brackets, so that this file does not match itself. */
const SWITCHES: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /biome-ignor[e]/, instead: "write the code so that the rule holds" },
  { pattern: /@ts-(?:ignor[e]|expect-erro[r]|nochec[k])/, instead: "give the value its true type" },
  {
    pattern: /\b(?:it|test|describe|suite)(?:\.\w+)*\.(?:skip|only|todo|fails)\b|\.(?:skip|only)\s*[(]/,
    instead: "every test runs, finish it or delete it",
  },
  { pattern: /\b(?:ski[p]|onl[y]|tod[o]): true\b/, instead: "say which program the test needs: needs.ts" },
  { pattern: /\b(?:TOD[O]|FIXM[E])\b/, instead: "finish it, or open an issue" },
];

/** Checks that nothing in the sources disables a rule, a type check or a test, or postpones work. */
export function checkNothingSwitchedOff(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!isCode(path)) continue;
    looked += 1;
    for (const [index, line] of text.split("\n").entries()) {
      for (const { pattern, instead } of SWITCHES) {
        const found = pattern.exec(line)?.[0];
        if (found !== undefined) violations.push(`${path}:${index + 1} has "${found}": ${instead}`);
      }
    }
  }
  return { looked, violations };
}
