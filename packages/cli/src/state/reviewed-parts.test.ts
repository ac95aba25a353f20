import { describe, expect, it } from "vitest";
import { describeReviewedParts, readReviewedParts } from "./reviewed-parts.ts";

const PARTS = [
  { line: 3, isTaken: true, note: "" },
  { line: 7, isTaken: false, note: "keep null (it is used)" },
  { line: 12, isTaken: true, note: "but: name it, part 2" },
];

describe("a change that was taken in parts", () => {
  it("P27 is read back from what the model was told, within other words", () => {
    const told = `Edited.\n\nThe user said: ${describeReviewedParts(PARTS)}`;
    expect(readReviewedParts(told)).toEqual(PARTS);
    expect(readReviewedParts("Edited.\npart 1 (around line 3): taken")).toBeNull();
  });
});
