import { mapInnerSchemas } from "@burin/contract/messages/inner-schemas";
import type { FunctionDeclaration, Message, Part } from "@burin/contract/messages/message";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { Reasoning, TunedRequest } from "../request/prepare-request.ts";
import type { Quirks } from "../request/quirks.ts";
import { readGeminiSignature } from "../request/thought-signature.ts";
import { mergeBody, resolveThinkingBudget } from "../request/tuning.ts";
import { groupTurns, isSupportedImage } from "../request/user-items.ts";
import { serializeForWire } from "../request/wire.ts";
import type { Protocol } from "./protocol.ts";

/** The documented placeholder for calls that another model made; a missing signature would be rejected. */
const NO_SIGNATURE = "skip_thought_signature_validator";
const MORE_MEDIA = /^(?:application\/pdf|audio\/|video\/)/;

/** Builds the body of a generateContent request. A longer history begins with the contents of the shorter one. */
function buildBody(model: string, request: TunedRequest, quirks: Quirks): string[] {
  const { system, tools, history, tuning = {} } = request;
  const hasSystem = system !== "" && !quirks.has("no-system");
  const opening: Message[] = system === "" || hasSystem ? [] : [{ role: "user", parts: [{ text: system }] }];
  const declarations = tools.map((tool) => formatDeclaration(tool, quirks.has("old-parameters")));
  const { maxOutput: maxOutputTokens, reasoning, temperature, topP, body } = tuning;
  const thinkingConfig = reasoning === undefined ? undefined : formatThinking(model, reasoning);
  const generationConfig = mergeBody({ maxOutputTokens, temperature, topP, thinkingConfig }, {}, quirks);
  const isTuned = Object.values(generationConfig).some((value) => value !== undefined);
  const own = {
    ...(hasSystem ? { systemInstruction: { parts: [{ text: system }] } } : {}),
    ...(tools.length > 0 ? { tools: [{ functionDeclarations: declarations }] } : {}),
    contents: formatContents([...opening, ...history], {
      standsIn: quirks.has("signature-wanted"),
      hasIds: !quirks.has("no-call-ids"),
    }),
    ...(isTuned ? { generationConfig } : {}),
  };
  return [serializeForWire(mergeBody(own, body))];
}

/** Converts the reasoning setting. Models before Gemini 3 accept only numbers, later ones words. */
function formatThinking(model: string, reasoning: Reasoning): JsonRecord {
  const isOld = /gemini-(?:1|2)\b/.test(model);
  const told =
    typeof reasoning === "number" || isOld || reasoning === "off" || reasoning === "none"
      ? { thinkingBudget: resolveThinkingBudget(reasoning) }
      : {
          thinkingLevel:
            resolveThinkingBudget(reasoning) > resolveThinkingBudget("high")
              ? "HIGH"
              : reasoning.toUpperCase(),
        };
  return { ...told, includeThoughts: resolveThinkingBudget(reasoning) > 0 };
}

function formatDeclaration({ name, description, parameters }: FunctionDeclaration, isOld: boolean): object {
  // Declare a tool without parameters without a schema, because an object without properties is rejected.
  if (Object.keys(parameters.properties ?? {}).length === 0) return { name, description };
  const schema = isOld ? { parameters: toOlderSchema(parameters) } : { parametersJsonSchema: parameters };
  return { name, description, ...schema };
}

/** Converts a schema for the older field, in which a schema has only one type and only strings as enum values. */
function toOlderSchema(schema: JsonRecord): JsonRecord {
  const convertInner = (value: unknown) => (isRecord(value) ? toOlderSchema(value) : value);
  const { type, enum: values, ...rest } = mapInnerSchemas(schema, convertInner);
  const types = [type].flat();
  const only = types.find((one) => one !== "null");
  const words =
    only === "string" && Array.isArray(values) ? values.filter((one) => typeof one === "string") : [];
  return {
    ...rest,
    ...(only === undefined ? {} : { type: only }),
    ...(words.length > 0 ? { enum: words } : {}),
    ...(types.includes("null") ? { nullable: true } : {}),
  };
}

/** Whether calls without a signature get a placeholder, and whether calls have ids. */
type SigningOptions = Readonly<Record<"standsIn" | "hasIds", boolean>>;

function formatContents(history: readonly Message[], signing: SigningOptions): JsonRecord[] {
  const formatParts = ({ role, parts }: Message): JsonRecord[] =>
    role === "user" ? formatUserParts(parts, signing) : formatModelParts(parts, signing);
  return groupTurns(history, formatParts).map(({ role, items }) => ({ role, parts: items }));
}

function formatUserParts(parts: readonly Part[], { hasIds }: SigningOptions): JsonRecord[] {
  return parts.flatMap(({ text, inlineData, functionResponse }): JsonRecord[] => {
    if (functionResponse) {
      const { id, name = "", response = {} } = functionResponse;
      return [{ functionResponse: { id: hasIds ? id : undefined, name, response } }];
    }
    if (inlineData?.data) return [{ inlineData }];
    return text && /\S/.test(text) ? [{ text }] : [];
  });
}

function formatModelParts(parts: readonly Part[], { standsIn, hasIds }: SigningOptions): JsonRecord[] {
  // Only the first call of a reply is signed.
  const firstCall = parts.find((part) => part.functionCall);
  return parts.flatMap((part): JsonRecord[] => {
    const { text = "", thought, functionCall } = part;
    const standIn = standsIn && part === firstCall ? NO_SIGNATURE : undefined;
    const thoughtSignature = readGeminiSignature(part) ?? standIn;
    if (functionCall) {
      const { id, name = "", args = {} } = functionCall;
      return [{ functionCall: { id: hasIds ? id : undefined, name, args }, thoughtSignature }];
    }
    if (!thought) return text === "" ? [] : [{ text, thoughtSignature }];
    // A signature on a part without text belongs to the reply's own text.
    const isThought = text === "" ? undefined : true;
    return thoughtSignature === undefined ? [] : [{ text, thought: isThought, thoughtSignature }];
  });
}

/** Gemini's generateContent API. The base URL may end before `/v1beta`. */
export const GENERATE_CONTENT: Protocol = {
  name: "gemini",
  dialect: "plain",
  root: (base) => (/\/v\d+\w*(?:\/|$)/.test(base) ? base : `${base}/v1beta`),
  path: (root, model) => `${root}/${model.includes("/") ? "" : "models/"}${model}:streamGenerateContent`,
  carries: (mimeType) => isSupportedImage(mimeType) || MORE_MEDIA.test(mimeType),
  query: "alt=sse",
  keyHeader: "x-goog-api-key",
  body: buildBody,
  reply: async (to) => new (await import("./gemini-reply.ts")).GeminiReply(to),
};
