import { describe, expect, it } from "vitest";
import { readDecision } from "./decision.ts";

describe("a yes about the network", () => {
  it("P53 is an answer to a command only, and is clear", () => {
    const answer = (kind: "exec" | "edit", network: unknown) =>
      readDecision({ outcome: "once", network }, kind);
    expect(answer("exec", false)).toEqual({ outcome: "once", network: false });
    expect(answer("exec", true)).toEqual({ outcome: "once", network: true });
    expect(answer("exec", undefined)).toEqual({ outcome: "once" });
    for (const odd of ["no", 1, null]) expect(answer("exec", odd)).toBeNull();
    expect(answer("edit", true)).toBeNull();
  });
});

describe("an always with a width", () => {
  it("P21 P22 is answered only with a width that the question offers", () => {
    const question = { kind: "exec", widths: { exact: ["a"], wide: ["b"] } } as const;
    const answer = (width: unknown) => readDecision({ outcome: "always", scope: "session", width }, question);
    expect(answer("exact")).toEqual({ outcome: "always", scope: "session", width: "exact" });
    expect(answer(undefined)).toEqual({ outcome: "always", scope: "session" });
    for (const width of ["all", "wider", 1, null]) expect(answer(width)).toBeNull();
  });
});
