import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TABLE_FILE, tableText } from "../model-table.mjs";

describe("the table of models that ships", () => {
  it("is what the script makes of its source", () => {
    expect(readFileSync(TABLE_FILE, "utf8")).toBe(tableText());
  });
});
