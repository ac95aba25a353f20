import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const PROGRAM = fileURLToPath(new URL("./faults/throwing.mjs", import.meta.url));

/** What each failure has to become; the program itself has to live to its end. */
const TOLD: Readonly<Record<string, unknown>> = {
  whole: "ok",
  "validateToolParams throws": /boom/,
  "validateToolParams rejects": /must return a value/,
  "validateToolParams gives garbage": /must return null or a string/,
  "getDescription throws": /boom/,
  "getDescription rejects": /must return a value/,
  "getDescription gives garbage": /must return a string/,
  "ruleSubjects throws": /boom/,
  "ruleSubjects rejects": /must return a value/,
  "ruleSubjects gives garbage": /a list of strings/,
  "shouldConfirmExecute throws": /boom/,
  "shouldConfirmExecute rejects": /boom/,
  "shouldConfirmExecute gives garbage": /must return false or a question/,
  "approvedByUser throws": /boom/,
  "approvedByUser rejects": /must return a value/,
  "execute throws": /boom/,
  "execute rejects": /boom/,
  "execute throws what cannot be put in words": /without a readable message/,
  "execute gives nothing": /returned no result/,
  "execute gives numbers": /returned no result/,
  "execute gives a circle": /returned no result/,
  "execute gives a bigint": /returned no result/,
  "execute gives null parts": /returned no result/,
  "execute gives an error that is none": "boom",
  "kind throws": /boom/,
  "description throws": /boom/,
  "parameterSchema throws": /boom/,
  "displayName throws": /boom/,
  "name throws": /boom/,
  "plainName throws": "ok",
  "missing throws": "ok",
  "confirm throws": /could not be asked: boom/,
  "confirm rejects": /could not be asked: boom/,
  "confirm gives garbage": /must be one of/,
  "confirm gives a getter that throws": /boom/,
  "onCall fails": "success",
  warning: "onCall failed: boom",
  "a tool's updates are garbage": "success: done",
  "stream throws": "error: The model failed: boom",
  "stream gives nothing": /^error: The model failed/,
  "stream throws at once": "error: The model failed: boom",
  "stream throws on its way": "error: The model failed: boom",
  "stream ends without an end": /^error: .*without a reason/,
  "stream gives null": /^error: .*cannot be used/,
  "stream gives a number as text": /^error: .*cannot be used/,
  "stream gives a call of garbage": /^error: .*cannot be used/,
  "stream gives a call with a circle": /^error: .*cannot be used/,
  "stream gives usage of garbage": /^error: .*cannot be used/,
  "stream gives an end of garbage": /^error: .*cannot be used/,
  "stream cannot be left": "success: ",
  "the reader throws": "thrown: boom",
  "a deaf model": "cancelled",
  "sources fail": 4,
  "a hook floods": "needs_approval",
  alive: true,
};

it("nothing that an embedder hands in ends its program: each failure is told as a result or an event", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);
  const told = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { what: string; value: unknown });
  const others = told.filter(({ what }) => what.startsWith("declarations while"));
  expect(others.map(({ value }) => value)).toEqual(Array(7).fill(true));
  const seen = new Map(told.filter((one) => !others.includes(one)).map(({ what, value }) => [what, value]));
  expect([...seen.keys()].sort()).toEqual(Object.keys(TOLD).sort());
  for (const [what, wanted] of Object.entries(TOLD)) {
    const value = seen.get(what);
    if (wanted instanceof RegExp) expect(value, what).toMatch(wanted);
    else expect(value, what).toBe(wanted);
  }
}, 120_000);
