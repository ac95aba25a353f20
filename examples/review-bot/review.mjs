// Reviews what a branch changes: node review.mjs [base]. One line a finding; the exit code is 1 if there is one.
import { execFileSync } from "node:child_process";
import { createSession } from "@burin/core";

const answerSchema = {
  type: "object",
  properties: {
    findings: {
      type: "array",
      items: {
        type: "object",
        properties: { file: { type: "string" }, line: { type: "integer" }, text: { type: "string" } },
        required: ["file", "line", "text"],
      },
    },
  },
  required: ["findings"],
};
const [base = "origin/main"] = process.argv.slice(2);
const diff = execFileSync("git", ["diff", `${base}...HEAD`], { encoding: "utf8", maxBuffer: 1e8 });
const session = createSession({
  root: process.cwd(),
  settings: { tools: { include: ["read_file", "search_file_content", "glob", "list_directory"] } },
  answerSchema,
  budget: "200k",
});
const task = "Review this change. Read what it touches, and report only faults that you are sure of.";
for await (const event of session.run(`${task}\n\n${diff}`)) {
  if (event.type !== "done") continue;
  if (event.status !== "success") throw new Error(event.error?.message ?? event.status);
  const { findings } = /** @type {{ findings: { file: string, line: number, text: string }[] }} */ (
    event.structured
  );
  for (const { file, line, text } of findings) console.log(`${file}:${line}: ${text}`);
  if (findings.length > 0) process.exitCode = 1;
}
await session.close();
