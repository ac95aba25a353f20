import { expect, it } from "vitest";
import { describeTakenBack } from "./command-report.ts";

it("P53 what git tracks and was taken comes with the command that restores it", () => {
  const taken = { path: "/project/.npmrc", why: "npm reads it", kept: "/kept/.npmrc", isCommitted: true };
  const words = describeTakenBack([taken]).join("\n");
  expect(words).toContain("`git checkout --ignore-skip-worktree-bits HEAD -- /project/.npmrc`");
  expect(describeTakenBack([{ ...taken, isCommitted: false }]).join("\n")).not.toContain("git checkout");
});
