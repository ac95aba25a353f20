/** One entry of the history. Tool responses have the role `user`, as in @google/genai. */
export interface Message {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
}

/**
 * A JSON Schema (draft-07 or 2020-12) as literals, zod or TypeBox produce it. Only the keywords that Burin itself reads
 * are typed.
 */
export interface JsonSchema {
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema | boolean>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: JsonSchema | boolean | readonly (JsonSchema | boolean)[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly [keyword: string]: unknown;
}

/** The type that JSON.parse returns (`any`): the SDKs type subschemas differently, and this fits all of them. */
type AnyJson = ReturnType<typeof JSON.parse>;

/**
 * The parameter schema of a tool, as a toolbox returns it. It fits the types of every SDK without a cast:
 * `input_schema` of Anthropic, `parameters` of OpenAI, `jsonSchema()` of `ai`.
 */
export interface ObjectSchema {
  type: "object";
  properties?: Record<string, AnyJson>;
  required?: string[];
  [keyword: string]: AnyJson;
}

/** What the model is sent about one tool. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
}

/** A model's request to run one tool. The arguments are as the model sent them, unchecked. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Set when the arguments were not a JSON object: the reason. `args` is then empty. */
  readonly argsError?: string;
}

/** The one response that every FunctionCall gets: `output` on success, `error` on failure. */
export interface FunctionResponse {
  readonly id: string;
  readonly name: string;
  readonly response: { readonly output: string } | { readonly error: string };
}

/** Media inside a message, as base64. */
export interface InlineData {
  mimeType?: string;
  data?: string;
}

/**
 * One piece of a message. It has the same structure as the `Part` of @google/genai, so content made for one fits the
 * other. Each part has one of the fields; `thought` marks text as reasoning. `thoughtSignature` belongs to the provider
 * that made the part: it is sent back unchanged, and to no other provider (see `models/thought-signature.ts`).
 */
export interface Part {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: InlineData;
  functionCall?: Partial<FunctionCall>;
  functionResponse?: Partial<Omit<FunctionResponse, "response">> & { response?: Record<string, unknown> };
}

/** A part, or a string in place of a text part. */
export type PartUnion = Part | string;
/** Content for a model: a string, one part, or a list of both. */
export type PartListUnion = PartUnion | PartUnion[];

/** Returns the content as a list of parts in the same order. Strings become text parts. */
export function toParts(content: PartListUnion): Part[] {
  const list = Array.isArray(content) ? content : [content];
  return list.map((item) => (typeof item === "string" ? { text: item } : item));
}

export function isMedia({ inlineData }: Part): boolean {
  return typeof inlineData?.mimeType === "string" && typeof inlineData.data === "string";
}

/** Joins all text of the content with newlines. Reasoning and other parts are left out. */
export function joinText(content: PartListUnion): string {
  return toParts(content)
    .flatMap((part) => (part.text === undefined || part.thought ? [] : [part.text]))
    .join("\n");
}
