import { createHash } from "node:crypto";
import { isRecord } from "@burin/contract/messages/untrusted-json";

/**
 * What an approval of a discovered tool is bound to, as the subject of a rule: everything that says what the
 * tool is and what would be run. When any of it changes, a stored "always" covers the tool no longer.
 */
export function definitionMark(definition: Readonly<Record<string, unknown>>): string {
  return `definition:${createHash("sha256").update(stableJson(definition)).digest("hex").slice(0, 24)}`;
}

/** The same text whatever order the keys came in. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
