import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { declaredProblem, toolNameProblem } from "./conversation.ts";
import {
  type FakeProtocol,
  type IssuedSecrets,
  list,
  pieces,
  secretOf,
  type WireError,
  type WireReply,
} from "./wire-reply.ts";

/** Keywords for which the real service has refused whole lists of tools. */
const REFUSED_KEYWORDS =
  /"(?:\$ref|\$defs|definitions|allOf|oneOf|const|additionalProperties|patternProperties|not)":/;

/** The streamed generateContent API of Gemini, as strict as the real one where clients make mistakes. */
export const geminiProtocol: FakeProtocol = {
  problem,
  returnsThoughts: true,
  eventsOf,
  errorBody,
  answeredCalls: (body) => partsIn(body).filter((part) => part.functionResponse).length,
};

function partsIn(body: JsonRecord): JsonRecord[] {
  return list(body.contents).flatMap(({ parts }) => list(parts));
}

function problem(body: JsonRecord, issued: IssuedSecrets): string | undefined {
  const declared = list(body.tools).flatMap(({ functionDeclarations }) => list(functionDeclarations));
  const schemas = declared.map(({ name, parametersJsonSchema: schema }) => ({ name, schema }));
  const found = declaredProblem(schemas);
  if (found !== undefined) return found;
  if (REFUSED_KEYWORDS.test(JSON.stringify(declared))) return "tools: a keyword of a schema is not supported";
  const contents = list(body.contents);
  if (contents.length === 0) return "contents: a list is missing";
  let calls: JsonRecord[] = [];
  for (const [index, { role, parts }] of contents.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "model"))
      return `contents[${index}]: the role ${role} is out of turn`;
    const given = list(parts);
    if (given.length === 0) return `contents[${index}]: must have parts`;
    const wrong = role === "user" ? userProblem(given, calls) : modelProblem(given, issued);
    if (wrong !== undefined) return `contents[${index}]: ${wrong}`;
    calls = list(given.map(({ functionCall }) => functionCall));
  }
  return contents.at(-1)?.role === "user" ? undefined : "contents: the last is of the model";
}

function userProblem(parts: readonly JsonRecord[], calls: readonly JsonRecord[]): string | undefined {
  const answers = list(parts.map(({ functionResponse }) => functionResponse));
  if (answers.length !== calls.length) {
    return "the number of function response parts is not equal to the number of function call parts";
  }
  for (const [index, { id, name, response }] of answers.entries()) {
    const call = calls[index];
    if (id !== call?.id || name !== call?.name) return `"${String(id)}" answers another call`;
    if (!isRecord(response)) return `the response of "${String(id)}" is not an object`;
  }
  const odd = parts.find((part) => !part.functionResponse && !isText(part) && !isRecord(part.inlineData));
  return odd && "a part of the user is empty";
}

function isText({ text }: JsonRecord): boolean {
  return typeof text === "string" && text !== "";
}

function modelProblem(parts: readonly JsonRecord[], issued: IssuedSecrets): string | undefined {
  for (const part of parts) {
    const { functionCall, thoughtSignature } = part;
    if (!isRecord(functionCall)) {
      if (!isText(part) && thoughtSignature === undefined) return "a part of the model is empty";
      continue;
    }
    const wrong = toolNameProblem(functionCall.name);
    if (wrong !== undefined) return wrong;
    if (!isRecord(functionCall.args)) return "the args of a function call are not an object";
    const secret = issued.get(String(functionCall.id));
    if (secret !== undefined && secret !== thoughtSignature) {
      return "Function call is missing a thought_signature in functionCall parts";
    }
  }
  return undefined;
}

function errorBody({ message, status, type }: WireError): object {
  return { error: { code: status ?? 500, message, status: type ?? "INTERNAL" } };
}

function eventsOf({ thought, text, calls, usage, error }: WireReply): object[] {
  const parts = [
    ...pieces(thought).map((piece) => ({ text: piece, thought: true })),
    ...pieces(text).map((piece) => ({ text: piece })),
    ...calls.map(({ id, name, args }, index) => ({
      functionCall: { id, name, args },
      ...(thought && index === 0 ? { thoughtSignature: secretOf(thought) } : {}),
    })),
  ];
  const events = parts.map((part) => ({ candidates: [candidate(part)] }));
  if (error) return [...events, errorBody(error)];
  const { inputTokens, outputTokens, cachedTokens } = usage;
  const usageMetadata = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
    cachedContentTokenCount: cachedTokens,
  };
  return [...events, { candidates: [{ ...candidate({ text: "" }), finishReason: "STOP" }], usageMetadata }];
}

function candidate(part: object): object {
  return { content: { role: "model", parts: [part] }, index: 0 };
}
