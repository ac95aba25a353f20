import type { QuestionView } from "@burin/core";
import { describe, expect, it } from "vitest";
import { joinSpans } from "../terminal/styled-line.ts";
import { drawLimits } from "./question-reach.ts";

const HOSTS = ["packages.example.org:443", "github.com:443"];

function limitsOf(effect: "sends" | "writes", width: number) {
  const view = {
    limits: { writes: "project", network: "hosts", needsNetwork: true },
    reach: [{ text: "x", asks: true, effects: [{ kind: effect, on: [], isOutside: false }] }],
  } as unknown as QuestionView;
  return drawLimits(view, { hosts: HOSTS, keepsUndo: true }, width);
}

describe("what a question says of undo", () => {
  it.each([35, 80])("P22 warns in the first rows that there is none, in %d columns", (width) => {
    const rows = limitsOf("sends", width);
    const warnings = rows.flat().filter(({ style }) => style === "warning");
    expect(warnings).toEqual([{ text: "can be undone: no", style: "warning" }]);
    const at = rows.findIndex((row) => joinSpans(row).includes("can be undone: no"));
    expect(at).toBe(width === 80 ? 0 : 1);
  });

  it("P22 is calm where there is one", () => {
    const rows = limitsOf("writes", 120);
    expect(rows.flat().filter(({ style }) => style !== "dim")).toEqual([]);
    expect(rows.map(joinSpans)).toEqual([
      `Sandbox: writes only here · reaches only ${HOSTS.join(", ")} · can be undone: yes`,
    ]);
  });
});
