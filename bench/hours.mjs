// A session of thousands of turns with reads, edits and commands: what a turn costs at its end, what memory it takes, and
// how long it takes to take it up again. npm run bench -- hours [turns]
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, printResult } from "./measure.mjs";

const WORK = fileURLToPath(new URL("session/work-for-hours.mjs", import.meta.url));
const RESUME = fileURLToPath(new URL("session/resume-once.mjs", import.meta.url));
const TURNS = 5000;
const RESUMES = 5;

/** @param {readonly string[]} args */
export async function run([turns = String(TURNS)]) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-bench-hours-")));
  try {
    const places = [join(top, "project"), join(top, "home")];
    for (const folder of places) mkdirSync(folder);
    const worked = execFileSync(process.execPath, ["--expose-gc", WORK, ...places, turns], {
      encoding: "utf8",
    });
    const { id, parts, megabytes, failed } = JSON.parse(worked);
    if (failed > 0) throw new Error(`${failed} calls failed.`);
    const resumes = Array.from({ length: RESUMES }, () =>
      Number(execFileSync(process.execPath, [RESUME, ...places, id], { encoding: "utf8" })),
    );
    const [first] = parts;
    console.log(`${turns} turns; a turn in each tenth, ms: ${parts.map(oneDigit).join(" ")}`);
    console.log(
      `memory at the end of each tenth, after a collection, MB: ${megabytes.map(Math.round).join(" ")}`,
    );
    printResult({
      what: "a turn at the end",
      value: parts.at(-1) / first,
      unit: "x the beginning",
      most: 1.2,
    });
    const growth = megabytes.at(-1) / megabytes[1];
    printResult({ what: "memory at the end", value: growth, unit: "x after two tenths", most: 1.2 });
    printResult({ what: "taking it up again", value: median(resumes), unit: "ms", most: 400 });
  } finally {
    rmSync(top, { recursive: true });
  }
}

/** @param {number} value */
function oneDigit(value) {
  return value.toFixed(1);
}
