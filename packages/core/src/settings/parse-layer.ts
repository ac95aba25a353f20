import { describeFaults } from "@burin/contract/messages/check-schema";
import type { JsonSchema } from "@burin/contract/messages/message";
import { findSchemaFaults, type SchemaFault } from "@burin/contract/messages/schema-faults";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { SettingsError } from "@burin/contract/settings/settings";
import { SETTINGS_SCHEMA } from "@burin/contract/settings/settings-schema";
import { findNearNames } from "@burin/contract/text/near-names";
import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { formatErrorName, formatPosition } from "./json-fault.ts";

const MAX_LEVELS = 100;

/** Parses a settings file. Comments and trailing commas are allowed. Throws a SettingsError with line and column. */
export function parseLayer(file: string, source: string, schema = SETTINGS_SCHEMA): object {
  const text = source.replace(/^\uFEFF/, "");
  assertReadable(file, text);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const first = errors[0];
  if (first !== undefined) {
    const what = formatErrorName(printParseErrorCode(first.error));
    const hint = what === "invalid symbol" ? "; names and texts need double quotes" : "";
    throw new SettingsError(
      `${file}:${formatPosition(text, first.offset)}: not valid JSON (${what}${hint}). The file was left as it is.`,
    );
  }
  if (tree === undefined) return {};
  const value: unknown = getNodeValue(tree);
  const faults = findSchemaFaults(schema, value);
  const [fault] = faults;
  if (fault === undefined) return value as object;
  const place = formatPosition(text, findNode(tree, fault.path).offset);
  const unknown = findUnknownKeys(value, schema, "");
  const told = faults.map((one) => describeSettingFault(one, unknown));
  const words = describeFaults(told, "settings");
  const end = words.endsWith("?") ? "" : ".";
  throw new SettingsError(`${file}:${place}: ${words}${end} The file was left as it is.`);
}

function describeSettingFault(
  { path, says, ...more }: SchemaFault,
  unknown: readonly UnknownKey[],
): SchemaFault {
  const key = unknown.find((one) => one.key === path.join("."));
  if (key !== undefined) {
    const hint =
      key.meant === undefined
        ? `: only ${key.known.join(", ")} are known here`
        : `; did you mean "${key.meant}"?`;
    return { path, says: `is not a setting${hint}` };
  }
  // Some users write the key itself there, so its value must not be shown.
  return path.at(-1) === "key" ? { path, says } : { path, says, ...more };
}

/** Rejects deep nesting, which would overflow the parser's stack, and NUL, which no path or program contains. */
function assertReadable(file: string, text: string): void {
  const scanner = createScanner(text, true);
  let depth = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const sign = text[scanner.getTokenOffset()];
    if (sign === "{" || sign === "[") depth += 1;
    if (sign === "}" || sign === "]") depth -= 1;
    const isDeep = depth > MAX_LEVELS;
    if (isDeep || scanner.getTokenValue().includes("\0")) {
      const place = formatPosition(text, scanner.getTokenOffset());
      const what = isDeep
        ? `more than ${MAX_LEVELS} levels of brackets`
        : "a text with \\u0000, which none may have";
      throw new SettingsError(`${file}:${place}: ${what}. The file was left as it is.`);
    }
  }
}

/** Returns a sentence for each key that is not a setting, because a misspelled list of rules would have no effect. */
export function describeUnknownKeys(file: string, layer: object): string[] {
  return findUnknownKeys(layer, SETTINGS_SCHEMA, "").map(({ key, meant }) => {
    const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
    return `${file}: "${key}" is not a setting and has no effect.${hint}`;
  });
}

interface UnknownKey {
  readonly key: string;
  /** The setting that was probably meant. */
  readonly meant?: string;
  /** Every known setting at this place. */
  readonly known: readonly string[];
}

function findUnknownKeys(value: unknown, schema: JsonSchema, above: string): UnknownKey[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => findUnknownKeys(one, toSchema(schema.items), `${above}${index}.`));
  }
  const ways = [schema, ...(Array.isArray(schema.anyOf) ? schema.anyOf.map(toSchema) : [])];
  const properties: Record<string, JsonSchema> = Object.assign({}, ...ways.map((one) => one.properties));
  const known = Object.keys(properties);
  const isAnyKey = known.length === 0;
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, one]): UnknownKey[] => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner !== undefined) return findUnknownKeys(one, inner, `${above}${name}.`);
    if (isAnyKey) return findUnknownKeys(one, toSchema(schema.additionalProperties), `${above}${name}.`);
    const near = findNearNames(name, known).find(
      (near) => !(near in value) && Math.abs(near.length - name.length) <= 3,
    );
    return [{ key: above + name, known, ...(near !== undefined && { meant: above + near }) }];
  });
}

function toSchema(given: unknown): JsonSchema {
  return isRecord(given) ? given : {};
}

/** Returns the node of the value with these keys. For a missing key, returns the node that should contain it. */
function findNode(node: Node, [key, ...rest]: readonly string[]): Node {
  if (key === undefined) return node;
  const property = node.children?.find((one) => one.children?.[0]?.value === key);
  const inner = node.type === "array" ? node.children?.[Number(key)] : property?.children?.[1];
  return inner === undefined ? node : findNode(inner, rest);
}
