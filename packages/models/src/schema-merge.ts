import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";

/** Both schemas at once, as `allOf` means it; where they say different things, the second is believed. */
export function mergedSchemas(first: JsonRecord, second: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...first, ...second };
  if (isRecord(first.properties) && isRecord(second.properties)) {
    merged.properties = { ...first.properties, ...second.properties };
  }
  const required = [...names(first.required), ...names(second.required)];
  if (required.length > 0) merged.required = [...new Set(required)];
  return merged;
}

/** One object for several that an `anyOf` offers: every property of them, and asked for only what all ask for. */
export function unitedSchemas(choices: readonly JsonRecord[]): JsonRecord {
  const objects = choices.filter((choice) => isRecord(choice.properties));
  const entries = objects.flatMap(({ properties }) => Object.entries(isRecord(properties) ? properties : {}));
  const properties = new Map<string, unknown[]>();
  for (const [name, schema] of entries) properties.set(name, [...(properties.get(name) ?? []), schema]);
  const asked = choices.map((choice) => new Set(names(choice.required)));
  const required = [...(asked[0] ?? [])].filter((name) => asked.every((set) => set.has(name)));
  return {
    ...(properties.size > 0 ? { properties: Object.fromEntries([...properties].map(unitedProperty)) } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function unitedProperty([name, schemas]: [string, unknown[]]): [string, unknown] {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return [name, different.length === 1 ? different[0] : { anyOf: different }];
}

function names(required: unknown): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}
