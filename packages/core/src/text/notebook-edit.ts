import { applyReplacements, type EditMatch, type EditRequest, findEdit } from "@burin/edit-match";
import { readNotebook } from "@burin/files/parsing/documents";
import { getNodeValue, type Node, parseTree } from "jsonc-parser";

/** Separates the sources of two cells. No source contains it, so no match can span two cells. */
const BETWEEN_CELLS = "\n\u0000\u0000\u0000\n";

/**
 * Finds the edit in the sources of a notebook's cells, as the model saw them, and returns replacements in the file's
 * JSON. Returns null if it is not a notebook, or if no cell matches: then the edit may be meant for the JSON itself.
 */
export function findNotebookEdit(request: EditRequest): EditMatch | null {
  const { content } = request;
  if (readNotebook(content) === null) return null;
  const cells = listCellSources(content);
  const joined = cells.map((cell) => cell.text).join(BETWEEN_CELLS);
  const match = findEdit({ ...request, content: joined });
  if (match.status === "none") return null;
  if (match.status !== "matched") return match;
  const replacements: { start: number; end: number; text: string }[] = [];
  let offset = 0;
  for (const { text, range } of cells) {
    const inside = match.replacements.filter(
      ({ start, end }) => start >= offset && end <= offset + text.length,
    );
    const moved = inside.map((one) => ({ ...one, start: one.start - offset, end: one.end - offset }));
    if (inside.length > 0) {
      const source = content.slice(range.start, range.end);
      replacements.push({ ...range, text: rewriteSource(source, applyReplacements(text, moved)) });
    }
    offset += text.length + BETWEEN_CELLS.length;
  }
  return { ...match, replacements };
}

function listCellSources(json: string) {
  const cells = findMember(parseTree(json), "cells");
  return (cells?.children ?? []).flatMap((cell) => {
    const source = findMember(cell, "source");
    if (source === undefined) return [];
    const value: unknown = getNodeValue(source);
    const text = Array.isArray(value) ? value.join("") : value;
    return typeof text === "string" ? [{ text, range: toRange(source) }] : [];
  });
}

/** Returns a member of an object. If a key occurs twice, the last one counts, as in JSON parsers. */
function findMember(object: Node | undefined, key: string): Node | undefined {
  return object?.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1];
}

function toRange({ offset, length }: Node) {
  return { start: offset, end: offset + length };
}

/** Returns the new source in the form of the old one: a string or a list of lines. Unchanged lines keep their bytes. */
function rewriteSource(old: string, text: string): string {
  const isAscii = /^[\x20-\x7e\s]*$/.test(old) && old.includes("\\u");
  if (old[0] !== "[") return formatJsonString(text, isAscii);
  const elements = (parseTree(old)?.children ?? []).map(toRange);
  const [first, second] = elements;
  const last = elements.at(-1);
  const open = first ? old.slice(0, first.start) : "[";
  const between = first && second ? old.slice(first.end, second.start) : `,${open.slice(1) || " "}`;
  const close = last ? old.slice(last.end) : "]";
  const kept = new Map(
    elements.map(({ start, end }) => [JSON.parse(old.slice(start, end)), old.slice(start, end)]),
  );
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (lines.length === 0) return "[]";
  return open + lines.map((line) => kept.get(line) ?? formatJsonString(line, isAscii)).join(between) + close;
}

function formatJsonString(text: string, isAscii: boolean): string {
  const json = JSON.stringify(text);
  if (!isAscii) return json;
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
