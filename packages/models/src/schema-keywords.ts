import { mapInnerSchemas } from "@burin/contract/messages/inner-schemas";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { isRecord } from "@burin/contract/messages/untrusted-json";

/** Without these a schema says no longer what the arguments are; every other keyword only narrows it. */
const CORE: ReadonlySet<string> = new Set(["type", "properties", "required", "items", "description"]);

/** The keywords of the schema that a refusal names: in quotes, at the end of a path, or by a name that is no word. */
export function refusedKeywords(reason: string, schema: JsonSchema): string[] {
  const used = new Set<string>();
  collectKeywords(schema, used);
  return [...used].filter((keyword) => {
    if (CORE.has(keyword)) return false;
    const name = keyword.replace(/[^\w]/g, "\\$&");
    const isOwnWord = /[A-Z$]/.test(keyword);
    const pattern = isOwnWord ? `(?<![\\w$])${name}(?!\\w)` : `['"\`]${name}['"\`]|[./]${name}(?![\\w.])`;
    return new RegExp(pattern).test(reason);
  });
}

/** The schema without those keywords, wherever they stand in it. */
export function withoutKeywords(schema: JsonSchema, keywords: ReadonlySet<string>): JsonSchema {
  const stripped = (inner: unknown): unknown => {
    if (!isRecord(inner)) return inner;
    const kept = Object.entries(inner).filter(([keyword]) => !keywords.has(keyword));
    return mapInnerSchemas(Object.fromEntries(kept), stripped);
  };
  return stripped(schema) as JsonSchema;
}

function collectKeywords(schema: unknown, used: Set<string>): void {
  if (!isRecord(schema)) return;
  for (const keyword of Object.keys(schema)) used.add(keyword);
  mapInnerSchemas(schema, (inner) => collectKeywords(inner, used));
}
