import type { FunctionDeclaration } from "@burin/core";
import { type Message, type ModelChoice, openModel } from "@burin/core/sessions";
import { closeServers, serve } from "@burin/testing/served-model";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { HISTORY, PROVIDERS, TOOLS } from "./any-request.ts";

afterEach(closeServers);

const SAMPLES = 150;
/** What only the service that gave it can judge. */
const FOREIGN = /signature|encrypted_content|redacted_thinking/;

/** What a strict service finds wrong in the requests for these conversations, and all that came to it. */
async function sentTo(
  provider: ModelChoice["provider"],
  conversations: readonly (readonly [Message[], FunctionDeclaration[]])[],
) {
  const replies = conversations.flatMap(() => Array.from({ length: 9 }, () => ({ text: "ok" })));
  const { baseUrl, problems, requests } = await serve(...replies);
  const found: string[] = [];
  for (const [history, tools] of conversations) {
    const before = problems.length;
    const model = openModel({ provider, name: "m", baseUrl });
    const request = { system: "", history, tools };
    for await (const event of model.stream(request, new AbortController().signal)) {
      if (event.type === "end") break;
    }
    const problem = problems[before];
    if (problem && !FOREIGN.test(problem)) found.push(`${problem} ${JSON.stringify(request)}`);
  }
  return { found, schemas: requests.flatMap(({ body }) => schemasIn(body)) };
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schemas of the declared tools, wherever a protocol has them. */
function schemasIn(body: unknown): Json[] {
  const found: Json[] = [];
  const look = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(look);
    else if (isObject(value)) {
      const schema = value.parameters ?? value.input_schema ?? value.parametersJsonSchema;
      if (isObject(schema)) found.push(schema);
      else Object.values(value).forEach(look);
    }
  };
  look((body as Json).tools);
  return found;
}

/** What services refuse in a schema: references, lists of nothing, properties asked for that nobody describes. */
function schemaFaults(schema: Json, path = "#"): string[] {
  const { type, items, properties, required, anyOf, oneOf, allOf } = schema;
  const isTop = path === "#";
  const choices = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const known = isObject(properties) ? Object.keys(properties) : [];
  return [
    ...["$ref", "$defs", "definitions"].filter((word) => word in schema).map((word) => `${path} ${word}`),
    ...(isTop && (type !== "object" || choices.length > 0 || "enum" in schema)
      ? ["# is no plain object"]
      : []),
    ...(type === "array" && !isObject(items) ? [`${path} has no items`] : []),
    ...(Array.isArray(required) ? required : [])
      .filter((name) => properties !== undefined && !known.includes(name))
      .map((name) => `${path} requires ${name}`),
    ...(isObject(properties) ? Object.entries(properties) : []).flatMap(([name, inner]) =>
      isObject(inner) ? schemaFaults(inner, `${path}/${name}`) : [`${path}/${name} is no schema`],
    ),
    ...[items, ...choices].filter(isObject).flatMap((inner) => schemaFaults(inner, `${path}/*`)),
  ];
}

describe("P36 requests for any history and any tools", () => {
  it.each(PROVIDERS)("are such as a strict service of %s takes", async (provider) => {
    const conversations = fc.sample(fc.tuple(HISTORY, TOOLS), { numRuns: SAMPLES, seed: 16 });
    const { found, schemas } = await sentTo(provider, conversations);
    expect(found).toEqual([]);
    expect(schemas.length).toBeGreaterThan(SAMPLES / 3);
    expect(schemas.flatMap((schema) => schemaFaults(schema).map((fault) => [fault, schema]))).toEqual([]);
  });
});
