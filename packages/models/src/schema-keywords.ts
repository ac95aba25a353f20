import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";

/** Without these a schema says no longer what the arguments are; every other keyword only narrows it. */
const CORE: ReadonlySet<string> = new Set(["type", "properties", "required", "items", "description"]);
/** Below these stand names that somebody chose, and not keywords. */
const NAMED: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"]);
/** Below these stand values. */
const VALUES: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "example"]);

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
  return stripped(schema, keywords) as JsonSchema;
}

function collectKeywords(schema: unknown, used: Set<string>): void {
  if (Array.isArray(schema)) for (const item of schema) collectKeywords(item, used);
  if (!isRecord(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    used.add(key);
    if (VALUES.has(key)) continue;
    collectKeywords(NAMED.has(key) && isRecord(value) ? Object.values(value) : value, used);
  }
}

function stripped(schema: unknown, keywords: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => stripped(item, keywords));
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).filter(([key]) => !keywords.has(key));
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (VALUES.has(key)) return [key, value];
      return [key, NAMED.has(key) && isRecord(value) ? inEach(value, keywords) : stripped(value, keywords)];
    }),
  );
}

function inEach(map: JsonRecord, keywords: ReadonlySet<string>): JsonRecord {
  return Object.fromEntries(Object.entries(map).map(([name, inner]) => [name, stripped(inner, keywords)]));
}
