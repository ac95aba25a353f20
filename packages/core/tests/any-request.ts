import type { FunctionDeclaration, JsonSchema, Part } from "@burin/core";
import type { ObjectSchema } from "@burin/core/internal";
import type { Message, ModelChoice } from "@burin/core/sessions";
import fc from "fast-check";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkM+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What the history of a session may hold, and what it should not and yet may, when another program wrote it. */
const TEXT = fc.oneof(
  fc.constantFrom("", " \n", "go on", "a \ud83d", "\u0000\u001b[2J", "</tool_call>"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);

const MEDIA: fc.Arbitrary<Part> = fc
  .constantFrom("image/png", "image/jpeg", "image/svg+xml", "application/pdf", "audio/wav", "")
  .chain((mimeType) => fc.constantFrom(PIXEL, "").map((data): Part => ({ inlineData: { mimeType, data } })));

/** In the form of each service that gives some, and of none. */
const SIGNATURE = fc.constantFrom(
  undefined,
  "c2lnbmVk",
  "anthropic:c2lnbmVk",
  "anthropic-redacted:c2lnbmVk",
  `openai-responses:${JSON.stringify({ id: "rs_1", summary: [], encrypted_content: "x" })}`,
  `openai-responses-message:${JSON.stringify({ phase: "final_answer" })}`,
);

const NAME = fc.constantFrom("read_file", "server__a.b/c", "9lives", "é", `${"long".repeat(20)}`);
const ARGUMENTS = fc.oneof(
  fc.constant({}),
  fc.dictionary(fc.string({ maxLength: 4 }), fc.json().map(parsed)),
);
const RESPONSE = fc.oneof(
  TEXT.map((output) => ({ output })),
  TEXT.map((error) => ({ error })),
  fc.constant({}),
  fc.constant({ rows: [1, null] }),
);
/** Ids as services, other programs and older sessions have given them. */
const ID_FORMS = [
  (n: number) => `call${String(n).padStart(5, "0")}`,
  (n: number) => `toolu_${n}`,
  (n: number) => `functions.read_file:${n}`,
  (n: number) => `call_${"x".repeat(90)}${n}`,
  (n: number) => `ö ${n}`,
];

function parsed(json: string): unknown {
  return JSON.parse(json);
}

const MODEL_PART: fc.Arbitrary<Part | "call"> = fc.oneof(
  { weight: 3, arbitrary: TEXT.map((text): Part => ({ text })) },
  {
    weight: 2,
    arbitrary: fc.tuple(TEXT, SIGNATURE).map(
      ([text, thoughtSignature]): Part => ({
        text,
        thought: true,
        ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
      }),
    ),
  },
  { weight: 3, arbitrary: fc.constant("call" as const) },
);

const TURN = fc.record({
  asked: fc.array(
    fc.oneof(
      TEXT.map((text): Part => ({ text })),
      MEDIA,
    ),
    { minLength: 1, maxLength: 3 },
  ),
  /** A prompt behind a request that failed. */
  isAskedAgain: fc.boolean(),
  said: fc.array(MODEL_PART, { maxLength: 4 }),
  calls: fc.array(fc.tuple(NAME, ARGUMENTS, RESPONSE, fc.nat(ID_FORMS.length - 1), fc.boolean()), {
    minLength: 4,
    maxLength: 4,
  }),
});

/** A history in which each call is answered, in order, and that ends with something for the model. */
export const HISTORY: fc.Arbitrary<Message[]> = fc.array(TURN, { maxLength: 5 }).map((turns) => {
  const history: Message[] = [];
  let count = 0;
  for (const { asked, isAskedAgain, said, calls } of turns) {
    history.push({ role: "user", parts: asked });
    if (isAskedAgain) history.push({ role: "user", parts: [{ text: "once more" }] });
    const made: Part[] = [];
    const answers: Part[] = [];
    made.push(...said.filter((part) => part !== "call"));
    // Replies are read so that their calls come last.
    const wanted = said.filter((part) => part === "call").length;
    for (const [name, args, response, form, withImage] of calls.slice(0, wanted)) {
      count += 1;
      const id = ID_FORMS[form]?.(count) ?? "";
      made.push({ functionCall: { id, name, args } });
      answers.push({ functionResponse: { id, name, response } });
      if (withImage) answers.push({ inlineData: { mimeType: "image/png", data: PIXEL } });
    }
    history.push({ role: "model", parts: made });
    if (answers.length > 0) history.push({ role: "user", parts: answers });
  }
  return [...history, { role: "user", parts: [{ text: "and now?" }] }];
});

const LEAF = fc.constantFrom<object>(
  {},
  { type: ["string", "null"] },
  { type: "string", format: "uri", enum: [] },
  { enum: [1, 2, 3] },
  { type: "integer", enum: [0, 1], format: "int128" },
  { enum: ["a", null] },
  { const: "x" },
  { type: "array" },
  { type: "array", items: [{ type: "string" }, { type: "number" }] },
  { type: "object", additionalProperties: true },
  { type: "object", additionalProperties: { type: "string" }, patternProperties: { "^x": {} } },
  { type: "object", required: ["missing"] },
  { $ref: "#/$defs/node" },
  { $ref: "#/$defs/nowhere" },
  { not: { type: "string" } },
  { type: "string", nullable: true },
) as fc.Arbitrary<JsonSchema>;

const SCHEMA: fc.Arbitrary<JsonSchema> = fc.letrec<{ any: JsonSchema; object: JsonSchema }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    LEAF,
    tie("object"),
    fc
      .array(tie("any"), { minLength: 1, maxLength: 3 })
      .chain((choices) =>
        fc.constantFrom("anyOf", "oneOf", "allOf").map((word): JsonSchema => ({ [word]: choices })),
      ),
    tie("any").map((items): JsonSchema => ({ type: "array", items })),
  ),
  object: fc
    .dictionary(fc.constantFrom("a", "b", "$c", "type"), tie("any"), { maxKeys: 3 })
    .map((properties): JsonSchema => ({ type: "object", properties, required: Object.keys(properties) })),
})).any;

/** Tools as servers of the Model Context Protocol declare them. */
export const TOOLS: fc.Arbitrary<FunctionDeclaration[]> = fc
  .uniqueArray(fc.tuple(NAME, SCHEMA), {
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((tools) =>
    tools.map(([name, schema]) => {
      const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
      return {
        name,
        description: "d",
        parameters: { ...schema, $defs: { node } } as object as ObjectSchema,
      };
    }),
  );

export const PROVIDERS: readonly ModelChoice["provider"][] = [
  "openai",
  "openai-responses",
  "anthropic",
  "gemini",
];
