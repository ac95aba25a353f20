import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { HAS_INTERRUPT_BUDGET } from "./interrupt-budget.ts";

it("the option of the interrupt budget goes to V8 just where it knows it", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(HAS_INTERRUPT_BUDGET).toBe(/^ {2}--interrupt-budget \(/m.test(known));
});
