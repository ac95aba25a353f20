import { type Files, isCode, type Verdict } from "./repository-files.ts";

const HOOK = /^(?:before|after)(?:Each|All)\(/;
/** Loaded anew for each file of tests: a file for all of them, and helpers whose tests have a process of their own. */
const LOADED_ANEW = ["packages/testing/src/remove-folders.ts", "packages/cli/tests/"];

/** Several files of tests run in one process, which loads a helper once: its hooks would be for the first of them. */
export function checkTestHelpers(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!isCode(path) || !text.includes('from "vitest"') || path.includes(".test.")) continue;
    if (LOADED_ANEW.some((place) => path.startsWith(place))) continue;
    looked += 1;
    for (const [index, line] of text.split("\n").entries()) {
      if (HOOK.test(line))
        violations.push(
          `${path}:${index + 1} sets up tests when it is loaded: export a function for each file of tests to call`,
        );
    }
  }
  return { looked, violations };
}
