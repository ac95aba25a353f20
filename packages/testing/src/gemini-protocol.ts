import assert from "node:assert/strict";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { checkDeclaredTools, checkToolName, checkWithPlace } from "./conversation.ts";
import { createSecret, type FakeProtocol, splitIntoPieces, type WireReply } from "./wire-reply.ts";

/** Keywords for which the real service has refused whole lists of tools. */
const REFUSED_KEYWORDS =
  /"(?:\$ref|\$defs|definitions|allOf|oneOf|const|additionalProperties|patternProperties|not)":/;

/** The streamed generateContent API of Gemini, as strict as the real one where clients make mistakes. */
export const geminiProtocol: FakeProtocol = {
  check,
  returnsThoughts: true,
  buildEvents,
  buildErrorBody: ({ message, status, type }) => ({
    error: { code: status ?? 500, message, status: type ?? "INTERNAL" },
  }),
  countAnsweredCalls: ({ contents }) => {
    const parts = filterRecords(contents).flatMap((content) => filterRecords(content.parts));
    return parts.filter((part) => part.functionResponse).length;
  },
};

function check(body: JsonRecord, issued: ReadonlyMap<string, string>): void {
  const declared = filterRecords(body.tools).flatMap((tool) => filterRecords(tool.functionDeclarations));
  checkDeclaredTools(declared.map(({ name, parametersJsonSchema: schema }) => ({ name, schema })));
  assert(!REFUSED_KEYWORDS.test(JSON.stringify(declared)), "tools: a keyword of a schema is not supported");
  const contents = filterRecords(body.contents);
  assert(contents.length > 0, "contents: a list is missing");
  let calls: JsonRecord[] = [];
  for (const [index, { role, parts }] of contents.entries()) {
    const given = filterRecords(parts);
    checkWithPlace(`contents[${index}]: `, () => {
      assert(role === (index % 2 === 0 ? "user" : "model"), `the role ${role} is out of turn`);
      assert(given.length > 0, "must have parts");
      if (role === "user") checkUser(given, calls);
      else checkModelParts(given, issued);
    });
    calls = filterRecords(given.map(({ functionCall }) => functionCall));
  }
  assert(contents.at(-1)?.role === "user", "contents: the last is of the model");
}

function checkUser(parts: readonly JsonRecord[], calls: readonly JsonRecord[]): void {
  const answers = filterRecords(parts.map(({ functionResponse }) => functionResponse));
  assert(
    answers.length === calls.length,
    "the number of function response parts is not equal to the number of function call parts",
  );
  for (const [index, { id, name, response }] of answers.entries()) {
    const call = calls[index];
    assert(id === call?.id && name === call?.name, `"${String(id)}" answers another call`);
    assert(isRecord(response), `the response of "${String(id)}" is not an object`);
  }
  for (const part of parts)
    assert(part.functionResponse || isText(part) || isRecord(part.inlineData), "a part of the user is empty");
}

function isText({ text }: JsonRecord): boolean {
  return typeof text === "string" && text !== "";
}

function checkModelParts(parts: readonly JsonRecord[], issued: ReadonlyMap<string, string>): void {
  for (const part of parts) {
    const { functionCall, thoughtSignature } = part;
    if (!isRecord(functionCall)) {
      assert(isText(part) || thoughtSignature !== undefined, "a part of the model is empty");
      continue;
    }
    checkToolName(functionCall.name);
    assert(isRecord(functionCall.args), "the args of a function call are not an object");
    const secret = issued.get(String(functionCall.id));
    assert(
      secret === undefined || secret === thoughtSignature,
      "Function call is missing a thought_signature in functionCall parts",
    );
  }
}

function buildEvents({ thought, text, calls, usage, error }: WireReply): object[] {
  const parts = [
    ...splitIntoPieces(thought).map((piece) => ({ text: piece, thought: true })),
    ...splitIntoPieces(text).map((piece) => ({ text: piece })),
    ...calls.map(({ id, name, args }, index) => ({
      functionCall: { id, name, args },
      ...(thought && index === 0 ? { thoughtSignature: createSecret(thought) } : {}),
    })),
  ];
  const events = parts.map((part) => ({ candidates: [buildCandidate(part)] }));
  if (error) return [...events, geminiProtocol.buildErrorBody(error)];
  const { inputTokens, outputTokens, cachedTokens } = usage;
  const usageMetadata = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
    cachedContentTokenCount: cachedTokens,
  };
  return [
    ...events,
    { candidates: [{ ...buildCandidate({ text: "" }), finishReason: "STOP" }], usageMetadata },
  ];
}

function buildCandidate(part: object): object {
  return { content: { role: "model", parts: [part] }, index: 0 };
}
