import type { PartListUnion } from "@burin/contract/messages/message";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { describe, expect, it } from "vitest";
import { toFunctionResponse } from "./function-response.ts";

describe("functionResponseOf", () => {
  function answerWith(llmContent: PartListUnion): AnsweredCall {
    return {
      callId: "c1",
      name: "look",
      args: {},
      description: "",
      status: "success",
      llmContent,
      returnDisplay: "",
    };
  }

  it("R35 wraps text as the function response of the same call id", () => {
    expect(toFunctionResponse(answerWith("text"))).toEqual([
      { functionResponse: { id: "c1", name: "look", response: { output: "text" } } },
    ]);
  });

  it("R12 R36 joins mixed text inside the response, binary parts behind it in order", () => {
    const first = { inlineData: { mimeType: "image/png", data: "AA==" } };
    const second = { inlineData: { mimeType: "application/pdf", data: "BB==" } };
    expect(toFunctionResponse(answerWith(["a", first, { text: "b" }, second]))).toEqual([
      { functionResponse: { id: "c1", name: "look", response: { output: "a\nb" } } },
      first,
      second,
    ]);
  });

  it("R36 says what follows when there is no text", () => {
    const image = { inlineData: { mimeType: "image/png", data: "AA==" } };
    expect(toFunctionResponse(answerWith(image))[0]?.functionResponse?.response).toEqual({
      output: "The content follows: image/png.",
    });
  });
});
