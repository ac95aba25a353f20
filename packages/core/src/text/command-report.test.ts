import { expect, it } from "vitest";
import { takenInWords } from "./command-report.ts";

it("P53 what git tracks and was taken comes with the command that restores it", () => {
  const taken = { path: "/project/.npmrc", why: "npm reads it", kept: "/kept/.npmrc", isCommitted: true };
  const words = takenInWords([taken]).join("\n");
  expect(words).toContain("`git checkout --ignore-skip-worktree-bits HEAD -- /project/.npmrc`");
  expect(takenInWords([{ ...taken, isCommitted: false }]).join("\n")).not.toContain("git checkout");
});
