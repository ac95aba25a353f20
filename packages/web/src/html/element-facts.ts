import { createWordSet } from "@burin/contract/text/words";
import type { PageElement } from "./page-tree.ts";

/** Block elements that have no Markdown syntax. */
export const BLOCKS = createWordSet(`
  address article aside body center dd details dialog div dl fieldset figcaption figure footer form
  header hgroup main nav p section tbody td tfoot th thead tr`);
const HEADING = /^h[1-6]$/;
const LANGUAGE =
  /(?:^|\s)(?:lang(?:uage)?|highlight(?:-source)?|brush:?)[-:\s]([A-Za-z0-9+#.]{1,20})(?:$|[\s;])/;

export function formatCodeSpan(text: string): string {
  if (!text.includes("`")) return `\`${text}\``;
  let fence = "``";
  for (const [ticks] of text.matchAll(/`+/g)) if (ticks >= fence) fence = `${ticks}\``;
  return `${fence} ${text} ${fence}`;
}

export function readRawText(element: PageElement): string {
  let text = "";
  for (const child of element.children) {
    if (typeof child === "string") text += child;
    else if (child.name === "br") text += "\n";
    else if (child.name !== "button")
      text += readRawText(child) + (child.name === "div" && !text.endsWith("\n") ? "\n" : "");
  }
  return text;
}

export function readLanguage(element: PageElement): string {
  const code = element.children.find((child) => typeof child !== "string" && child.name === "code");
  for (const candidate of [element, code, element.parent, element.parent?.parent]) {
    const attributes = typeof candidate === "object" ? candidate?.attributes : undefined;
    const named = attributes?.["data-lang"] ?? attributes?.["data-language"];
    const language = named ?? LANGUAGE.exec(attributes?.class ?? "")?.[1];
    if (language !== undefined && /^[\w+#.-]{1,20}$/.test(language)) return language;
  }
  return "";
}

export function hasBlock(element: PageElement): boolean {
  return hasDescendant(element, ({ name }) => BLOCKS.has(name) || HEADING.test(name) || name === "ul");
}

function hasDescendant(element: PageElement, isMeant: (below: PageElement) => boolean): boolean {
  return element.children.some(
    (child) => typeof child !== "string" && (isMeant(child) || hasDescendant(child, isMeant)),
  );
}

export function readAnnotation(element: PageElement): string {
  for (const child of element.children) {
    if (typeof child === "string") continue;
    const found = child.name === "annotation" ? readRawText(child) : readAnnotation(child);
    if (found !== "") return found;
  }
  return "";
}

/** Elements that a cell of a Markdown table cannot contain. */
const NOT_IN_CELL = new Set(["table", "pre", "ul", "ol", "blockquote", "h1", "h2", "h3"]);
const MAX_COLUMNS = 100;

/**
 * Returns a table's cells. All rows are as long as the longest; null marks the continuation of a wide cell. Returns
 * null for a table that is only for layout, which is read as blocks.
 */
export function readTableRows(table: PageElement): (PageElement | null)[][] | null {
  const { role } = table.attributes;
  if (role === "presentation" || role === "none") return null;
  const rows: (PageElement | null)[][] = [];
  let columns = 0;
  for (const row of listRows(table)) {
    const cells = readCells(row);
    if (cells === null) return null;
    columns = Math.max(columns, cells.length);
    if (cells.length > 0) rows.push(cells);
  }
  if (columns < 2) return null;
  for (const cells of rows) while (cells.length < columns) cells.push(null);
  return rows;
}

/** Returns a row's cells, or null if a cell contains too much. Plain loops: there may be a hundred thousand cells. */
function readCells(row: PageElement): (PageElement | null)[] | null {
  const cells: (PageElement | null)[] = [];
  for (const cell of row.children) {
    if (typeof cell === "string" || (cell.name !== "td" && cell.name !== "th")) continue;
    if (hasDescendant(cell, ({ name }) => NOT_IN_CELL.has(name))) return null;
    const { colspan } = cell.attributes;
    const span = colspan === undefined ? 1 : Number.parseInt(colspan, 10);
    cells.push(cell);
    for (let more = 1; more < span && cells.length < MAX_COLUMNS; more += 1) cells.push(null);
    if (cells.length >= MAX_COLUMNS) break;
  }
  return cells;
}

function listRows(element: PageElement): PageElement[] {
  const rows: PageElement[] = [];
  for (const child of element.children) {
    if (typeof child === "string") continue;
    if (child.name === "tr") rows.push(child);
    else if (/^(?:thead|tbody|tfoot)$/.test(child.name)) rows.push(...listRows(child));
  }
  return rows;
}
