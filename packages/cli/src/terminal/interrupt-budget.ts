import { setFlagsFromString } from "node:v8";

/** Where V8 does not know the option, it writes an error to stderr that nobody can catch. */
export const HAS_INTERRUPT_BUDGET = process.versions.node.startsWith("20.");

/** Says how much a function runs before V8 optimizes it, where V8 can be told. */
export function setInterruptBudget(bytes: number): void {
  if (HAS_INTERRUPT_BUDGET) setFlagsFromString(`--interrupt-budget=${bytes}`);
}
