// Without an argument: which tools there are. With the name of one: runs it on the JSON object on stdin.
import { readFileSync } from "node:fs";

const TOOLS = [
  {
    name: "count_words",
    description: "Counts the words and lines of a text.",
    parameters: {
      type: "object",
      properties: { text: { type: "string", description: "The text to count in." } },
      required: ["text"],
    },
  },
];

const [name] = process.argv.slice(2);
if (name === undefined) {
  console.log(JSON.stringify(TOOLS));
} else if (name === "count_words") {
  const { text } = JSON.parse(readFileSync(0, "utf8"));
  console.log(`${text.split(/\s+/).filter(Boolean).length} words, ${text.split("\n").length} lines`);
} else {
  console.error(`There is no tool ${name}.`);
  process.exitCode = 1;
}
