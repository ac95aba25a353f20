import { describe, expect, it } from "vitest";
import { hasTerminal } from "./commands.ts";

describe("hasTerminal", () => {
  it("is true where the package for this system is installed, and nowhere else", () => {
    expect(hasTerminal()).toBe(true);
    expect(hasTerminal("linux-riscv64")).toBe(false);
  });
});
