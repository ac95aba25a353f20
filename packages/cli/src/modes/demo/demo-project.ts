/** What the demo works on: a small program with a mistake, and a test that shows it. */

export const SOURCE = "src/tally.js";
export const TEST_COMMAND = "node test.js";

/** One place of a file, and what it becomes. */
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

/** Two ways to put it right: the second is for a user who does not want the first. */
export const FIX: readonly DemoFolder[] = [
  { old_string: MISTAKE, new_string: "  const words = text.split(/\\s+/).filter(Boolean);" },
  { old_string: MISTAKE, new_string: "  const words = text.match(/\\S+/g) ?? [];" },
];

/** A second place of the same edit, which has nothing to do with the mistake: it can be left out. */
export const GREETING: DemoFolder = {
  old_string: "  console.log(tally(process.argv[2]));",
  new_string: '  console.log(tally(process.argv[2]), "words");',
};
