import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { schemaError } from "../messages/check-schema.ts";
import { errorWords, placeOf } from "./json-fault.ts";
import { SettingsError } from "./settings.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** Comments and trailing commas are allowed; a fault is told with line and column. Throws SettingsError. */
export function parseLayer(file: string, source: string): object {
  const text = source.replace(/^\uFEFF/, "");
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const first = errors[0];
  if (first !== undefined) {
    const what = errorWords(printParseErrorCode(first.error));
    throw new SettingsError(
      `${file}:${placeOf(text, first.offset)}: not valid JSON (${what}). The file was left as it is.`,
    );
  }
  if (tree === undefined) return {};
  const value: unknown = getNodeValue(tree);
  const fault = schemaError(SETTINGS_SCHEMA, value);
  if (fault === null) return value as object;
  const place = placeOf(text, faultyNode(tree, /^"(.+?)" /.exec(fault)?.[1] ?? "").offset);
  throw new SettingsError(`${file}:${place}: ${fault}. The file was left as it is.`);
}

/** Where the fault with this dotted key stands; a key that is missing is told by what should hold it. */
function faultyNode(node: Node, key: string): Node {
  if (node.type === "array") {
    const [index = "", ...rest] = key.split(".");
    const item = node.children?.[Number(index)];
    return key === "" || item === undefined ? node : faultyNode(item, rest.join("."));
  }
  for (const property of node.type === "object" ? (node.children ?? []) : []) {
    const [name, value] = property.children ?? [];
    if (name === undefined || value === undefined) continue;
    if (key === name.value) return value;
    if (key.startsWith(`${name.value}.`)) return faultyNode(value, key.slice(name.value.length + 1));
  }
  return node;
}
