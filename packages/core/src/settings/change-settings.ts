import { changeHomeFile } from "@burin/files/disk/home-file";
import { applyEdits, createScanner, findNodeAtLocation, getLocation, modify, parseTree } from "jsonc-parser";
import { parseLayer } from "./parse-layer.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/** Sets or removes a value; keeps comments and order. Throws SettingsError if the file is or becomes invalid. */
export function changeSettingsFile(file: string, path: readonly string[], value: unknown): Promise<void> {
  return changeHomeFile(file, (before) => {
    const mark = before?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    const given = (before ?? "").slice(mark.length);
    const text = given.trim() === "" ? "{}\n" : given;
    parseLayer(file, text);
    const after = value === undefined ? removeProperty(text, path) : setValue(text, path, value);
    parseLayer(file, after);
    return mark + after;
  });
}

/** Inserts the value by hand, because the library would reformat all lines that its edit touches. */
function setValue(text: string, path: readonly string[], value: unknown): string {
  const [edit] = modify(text, [...path], value, {});
  if (edit === undefined) return text;
  const unit = /^([ \t]+)["}]/m.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const depth = getLocation(text, edit.offset).path.length;
  const formatValue = (value: unknown, indent: string) =>
    JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
  const isProperty = /^,?\s*"(?:[^"\\]|\\.)*"\s*:/.test(edit.content);
  const around = unit.repeat(isProperty ? depth - 1 : depth);
  if (!isProperty)
    return applyEdits(text, [{ ...edit, content: formatValue(JSON.parse(edit.content), around) }]);
  const property = formatValue(JSON.parse(`{${edit.content.replace(/^,|,$/g, "")}}`), around)
    .slice(1, -1)
    .trimEnd();
  const isFirst = !edit.content.startsWith(",");
  const head = text.slice(0, edit.offset);
  const tail = text.slice(edit.offset + edit.length);
  // An existing comma and a comment belong to the line before.
  const line = /^[ \t]*(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?[ \t]*(?=\r?\n)/.exec(
    isFirst ? "" : tail,
  );
  const [rest = "", given = ""] = line ?? [];
  const comma = isFirst || given !== "" ? "" : ",";
  const left = tail.slice(rest.length);
  const following = line === null && /^\s*\}/.test(left) ? eol + around + left.trimStart() : left;
  return `${head}${comma}${rest}${property}${given}${following}`;
}

/** Removes the property with one comma, and its line if nothing else is on it. Comments stay. */
function removeProperty(text: string, path: readonly string[]): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const property = tree && findNodeAtLocation(tree, [...path])?.parent;
  if (property === undefined) return text;
  const { offset: start, length, parent } = property;
  const before = parent?.children?.findLast(({ offset }) => offset < start);
  const comma =
    findCommaAfter(text, start + length) ?? (before && findCommaAfter(text, before.offset + before.length));
  const rest = comma === undefined ? text : text.slice(0, comma) + text.slice(comma + 1);
  const at = comma !== undefined && comma < start ? start - 1 : start;
  const head = rest.slice(0, at).replace(/[ \t]+$/, "");
  const tail = rest.slice(at + length);
  const isAlone = text.slice((parent?.offset ?? 0) + 1, start).trim() === "" && /^\s*\}/.test(tail);
  if (isAlone) return head.trimEnd() + tail.trimStart();
  return head + (head.endsWith("\n") ? tail.replace(/^[ \t]*\r?\n/, "") : tail);
}

function findCommaAfter(text: string, position: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(position);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}
