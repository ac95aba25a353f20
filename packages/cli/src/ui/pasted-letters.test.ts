import { expect, it } from "vitest";
import { KeyReader } from "../terminal/keys.ts";
import { FormField } from "./form-panel.ts";
import { createTextPanel } from "./panel.ts";
import { createReviewPanel } from "./review-panel.ts";

const read = (text: string) => new KeyReader().read(Buffer.from(text));
const pasted = (text: string) => read(`\u001b[200~${text}\u001b[201~`);

it.each([
  ["pasted, which may belong to a prompt", pasted, []],
  ["typed", read, ["review f", "review a", "review t", "review closed", "text closed", "choice"]],
])("P11 a letter is a command of a panel only when it is typed: %s", (_how, write, wanted) => {
  const done: string[] = [];
  const press = (panel: { key(key: ReturnType<typeof read>[number]): void }, text: string) => {
    for (const key of write(text)) panel.key(key);
  };
  for (const letter of ["f", "a", "t", "q"]) {
    const hunk = "@@ -1 +1 @@\n-a\n+b";
    const changes = [{ kind: "place", file: "a.txt", call: "edit", hunk, isTakenBack: false } as const];
    const takeBack = () => void done.push(`review ${letter}`);
    press(createReviewPanel({ changes, takeBack, close: () => void done.push("review closed") }), letter);
  }
  press(createTextPanel({ title: "", lines: () => [], close: () => void done.push("text closed") }), "q");
  const field = new FormField("sure", { type: "boolean" }, false);
  press(field, " ");
  if (field.value !== undefined) done.push("choice");
  expect(done).toEqual(wanted);
});

it("P43 reports that a terminal never ends are passed over, each looked at once", () => {
  const text = "x".repeat(300);
  expect(read("\u001b]".repeat(300_000) + text)).toEqual([{ name: "text", text }]);
});
