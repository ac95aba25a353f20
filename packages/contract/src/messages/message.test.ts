import type * as genai from "@google/genai";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type FunctionCall,
  type FunctionResponse,
  joinText,
  type Part,
  type PartListUnion,
  toParts,
} from "./message.ts";

describe("parts", () => {
  it("R10 Part and PartListUnion are structurally those of @google/genai, both ways", () => {
    expectTypeOf<Part>().toExtend<genai.Part>();
    expectTypeOf<genai.Part>().toExtend<Part>();
    expectTypeOf<PartListUnion>().toExtend<genai.PartListUnion>();
    expectTypeOf<FunctionCall>().toExtend<genai.FunctionCall>();
    expectTypeOf<FunctionResponse>().toExtend<genai.FunctionResponse>();
    expectTypeOf<{ text: number }>().not.toExtend<Part>();
  });

  it("R12 keeps the order of mixed content", () => {
    const image = { inlineData: { mimeType: "image/png", data: "AA==" } };
    expect(toParts(["before", image, { text: "after" }])).toEqual([
      { text: "before" },
      image,
      { text: "after" },
    ]);
  });

  it("joins the text of mixed content and leaves thoughts and binary parts out", () => {
    const content = [
      "a",
      { inlineData: { mimeType: "image/png", data: "" } },
      { text: "t", thought: true },
      { text: "b" },
    ];
    expect(joinText(content)).toBe("a\nb");
  });
});
