import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";

/** The longest readable line. The formatter does not break longer ones; put each fact into its own row of data. */
const LONGEST = 160;

export function checkLongLines(files: Files): Verdict {
  const violations: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!/^packages\/[^/]+\/src\//.test(path) || !isCode(path) || isTest(path)) continue;
    looked += 1;
    for (const [index, line] of text.split("\n").entries())
      if (line.length > LONGEST)
        violations.push(`${path}:${index + 1} has ${line.length} characters, more than ${LONGEST}`);
  }
  return { looked, violations };
}
