import { describe, expect, it } from "vitest";
import { readDiff, readPatch } from "./diff-rows.ts";

const DIFF = `--- a/cart.js
+++ b/cart.js
@@ -2,3 +2,3 @@
 let sum = 0;
-sum += item.price;
+sum += round(item.price);
 return sum;
@@ -20,2 +20,1 @@
 }
-// the end
`;

describe("the rows of a change", () => {
  it("R96 have the numbers of both files, and the changed words of a line that was replaced", () => {
    const [first, second] = readDiff(DIFF);
    expect(first?.blocks).toEqual([
      {
        removed: [{ sign: " ", number: 2, text: "let sum = 0;" }],
        added: [{ sign: " ", number: 2, text: "let sum = 0;" }],
      },
      {
        removed: [{ sign: "-", number: 3, text: "sum += item.price;", changed: { from: 7, to: 17 } }],
        added: [{ sign: "+", number: 3, text: "sum += round(item.price);", changed: { from: 7, to: 24 } }],
      },
      {
        removed: [{ sign: " ", number: 4, text: "return sum;" }],
        added: [{ sign: " ", number: 4, text: "return sum;" }],
      },
    ]);
    expect(second).toMatchObject({ folded: 15, blocks: [{}, { removed: [{ number: 21 }], added: [] }] });
  });

  it("R96 of a patch are those of each file, and no head of the next one", () => {
    const patch = ["a.js", "b.js"]
      .map((name) => `diff --git a/${name} b/${name}\nindex 1..2 100644\n${DIFF}`)
      .join("");
    const files = readPatch(patch);
    expect(files.map(({ name }) => name)).toEqual(["a.js", "b.js"]);
    expect(files[0]?.hunks).toEqual(readDiff(DIFF));
    expect(readPatch("")).toEqual([]);
  });
});
