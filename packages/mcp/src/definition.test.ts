import { expect, it } from "vitest";
import { expandVariables, expandVariablesInValues } from "./definition.ts";

const SET = { A: "one", B: "" };

it.each([
  [`$A \${A} \${A:-x} \${B:-two} \${C:-}`, "one one one two "],
  [`\${A:-x} $C \${A:-$A`, "one $C ${A:-$A"],
  ["${A:-$A", "${A:-$A"],
  [`\${A:-$A}`, "one"],
])("R21 %j is filled from the environment, and what does not end stays as it is", (text, filled) => {
  expect(expandVariables(text, SET, "it")).toBe(filled);
});

it("P18 references without an end are read once", () => {
  const text = "${A:-".repeat(100_000);
  expect(expandVariablesInValues({ name: text }, SET, "it")).toEqual({ name: text });
});
