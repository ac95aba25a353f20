import { type Files, isCode, isTest, type Verdict } from "./repository-files.ts";

/** No formatter breaks what is longer than this, and nobody reads it: a fact is a row of its own, in rows of data. */
const LONGEST = 160;
/** How many lines are longer still: texts for models, and patterns. This only falls. */
const MAX_LONG = 117;
/** By so many it may be behind, or each of two changes at once would have to know of the other. */
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
