import { type Files, isCode, type Verdict } from "./repository-files.ts";

const HOOK = /^(?:before|after)(?:Each|All)\(/;
/** Loaded again for each test file: the setup for all tests, and helpers of tests that run in their own process. */
const LOADED_ANEW = ["packages/testing/src/remove-folders.ts", "packages/cli/tests/"];

/**
 * Checks that test helpers register no hooks. Several test files run in one process, which loads a helper only once, so
 * its hooks would apply only to the first file.
 */
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
