import { changeHomeFile } from "@burin/machine/disk/home-file";
import { applyEdits, type Edit, getLocation, modify } from "jsonc-parser";
import { parseLayer } from "./parse-layer.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/** Comments, order and all else stay. Throws SettingsError if the file is not, or would not be, valid. */
export function changeSettingsFile(file: string, path: readonly string[], value: unknown): Promise<void> {
  return changeHomeFile(file, (before) => {
    const mark = before?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    const given = (before ?? "").slice(mark.length);
    const text = given.trim() === "" ? "{}\n" : given;
    parseLayer(file, text);
    const [edit] = modify(text, [...path], value, {});
    const after =
      edit === undefined ? text : changed(text, edit, value === undefined ? (path.at(-1) ?? "") : null);
    parseLayer(file, after);
    return mark + after;
  });
}

/** The library would reformat all lines that its edit touches, including neighbours. */
function changed(text: string, edit: Edit, removed: string | null): string {
  if (removed !== null) return withoutProperty(text, edit, removed);
  const { unit, eol } = layoutOf(text);
  const depth = getLocation(text, edit.offset).path.length;
  const shown = (value: unknown, indent: string) =>
    JSON.stringify(value, null, unit).replaceAll("\n", eol + indent);
  const isProperty = /^,?\s*"(?:[^"\\]|\\.)*"\s*:/.test(edit.content);
  const around = unit.repeat(isProperty ? depth - 1 : depth);
  if (!isProperty) return applyEdits(text, [{ ...edit, content: shown(JSON.parse(edit.content), around) }]);
  const property = shown(JSON.parse(`{${edit.content.replace(/^,|,$/g, "")}}`), around)
    .slice(1, -1)
    .trimEnd();
  const isFirst = !edit.content.startsWith(",");
  const head = text.slice(0, edit.offset);
  const tail = text.slice(edit.offset + edit.length);
  // An existing comma, and a comment, belong to the line before.
  const line = /^[ \t]*(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?[ \t]*(?=\r?\n)/.exec(
    isFirst ? "" : tail,
  );
  const [rest = "", given = ""] = line ?? [];
  const comma = isFirst || given !== "" ? "" : ",";
  const left = tail.slice(rest.length);
  const following = line === null && /^\s*\}/.test(left) ? eol + around + left.trimStart() : left;
  return `${head}${comma}${rest}${property}${given}${following}`;
}

/** The file's own indentation and line ends. */
function layoutOf(text: string) {
  const unit = /^([ \t]+)["}]/m.exec(text)?.[1] ?? "  ";
  return { unit, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** Comments of the previous property stay, and the next property stays on a line of its own. */
function withoutProperty(text: string, { offset, length }: Edit, name: string): string {
  const head = text.slice(0, offset);
  const region = text.slice(offset, offset + length);
  const tail = text.slice(offset + length);
  if (/\{\s*$/.test(head)) {
    const isEmptied = /^\s*,?\s*\}/.test(tail);
    if (isEmptied) return head.trimEnd() + tail.replace(/^\s*,?\s*/, "");
    return head + (/^\s*/.exec(region)?.[0] ?? "") + tail;
  }
  const before = region.slice(0, region.indexOf(JSON.stringify(name))).trimEnd();
  const after = tail.replace(/^\s*,/, "");
  const kept = after === tail ? before.replace(",", "") : before;
  // What follows on the removed property's line must not become part of a comment.
  const gap = kept.includes("//") && !/^[ \t]*(?:\r?\n|\/)/.test(after) ? layoutOf(text).eol : "";
  return head + kept + gap + after;
}
