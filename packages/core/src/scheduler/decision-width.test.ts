import { describe, expect, it } from "vitest";
import { readDecision } from "./decision.ts";

describe("an always with a width", () => {
  it("P21 P22 is answered only with a width that the question offers", () => {
    const question = { kind: "exec", widths: { exact: ["a"], wide: ["b"] } } as const;
    const answer = (width: unknown) => readDecision({ outcome: "always", scope: "session", width }, question);
    expect(answer("exact")).toEqual({ outcome: "always", scope: "session", width: "exact" });
    expect(answer(undefined)).toEqual({ outcome: "always", scope: "session" });
    for (const width of ["all", "wider", 1, null]) expect(answer(width)).toBeNull();
  });
});
