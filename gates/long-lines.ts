import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";

/** The longest readable line. The formatter does not break longer ones; put each fact into its own row of data. */
const LONGEST = 160;
/** How many lines may be longer: texts for models, and regular expressions. This number may only fall. */
const MAX_LONG = 116;
/** How far the limit may be above the real number, so that two simultaneous changes do not affect each other. */
const SLACK = 5;

export function checkLongLines(files: Files, most = MAX_LONG): Verdict {
  const found: string[] = [];
  let looked = 0;
  for (const [path, text] of files) {
    if (!/^packages\/[^/]+\/src\//.test(path) || !isCode(path) || isTest(path)) continue;
    looked += 1;
    for (const [index, line] of text.split("\n").entries())
      if (line.length > LONGEST) found.push(`${path}:${index + 1} has ${line.length} characters`);
  }
  if (found.length > most) {
    const head = `${found.length} lines have more than ${LONGEST} characters, more than the ${most} of gates/long-lines.ts`;
    return { looked, violations: [head, ...found] };
  }
  const isBehind = found.length < most - SLACK;
  return {
    looked,
    violations: isBehind ? [`gates/long-lines.ts:1 lower the ${most} to ${found.length}`] : [],
  };
}
