/** The demo's project: a small program with a bug, and a test that shows it. */

export const SOURCE = "src/tally.js";
export const TEST_COMMAND = "node test.js";

/** One replacement in a file. */
export interface DemoFolder {
  readonly old_string: string;
  readonly new_string: string;
}

export const SAMPLE: Readonly<Record<string, string>> = {
  "README.md": "# tally\n\nCounts the words of a text.\n",
  [SOURCE]: `/** Counts the words of a text. */
export function tally(text) {
  const words = text.split(/\\s+/);
  return words.length;
}

/** The longest of some words. */
export function longest(words) {
  return words.reduce((one, other) => (other.length > one.length ? other : one), "");
}

if (process.argv[2] !== undefined) {
  console.log(tally(process.argv[2]));
}
`,
  "test.js": `import { tally } from "./src/tally.js";

const cases = [["", 0], ["two words", 2]];
for (const [text, count] of cases) {
  const found = tally(text);
  const isRight = found === count;
  console.log(\`\${isRight ? "ok" : "FAIL"}  tally(\${JSON.stringify(text)}) = \${found}\${isRight ? "" : \`, not \${count}\`}\`);
  if (!isRight) process.exitCode = 1;
}
`,
  "package.json": '{ "name": "tally", "type": "module", "scripts": { "test": "node test.js" } }\n',
};

const MISTAKE = "  const words = text.split(/\\s+/);";

/** Two ways to fix the bug. The second is for a user who refuses the first. */
export const FIX: readonly DemoFolder[] = [
  { old_string: MISTAKE, new_string: "  const words = text.split(/\\s+/).filter(Boolean);" },
  { old_string: MISTAKE, new_string: "  const words = text.match(/\\S+/g) ?? [];" },
];

/** A second replacement in the same edit, unrelated to the bug. The user can leave it out. */
export const GREETING: DemoFolder = {
  old_string: "  console.log(tally(process.argv[2]));",
  new_string: '  console.log(tally(process.argv[2]), "words");',
};
