import type { PageElement } from "./page-tree.ts";

/** What no cell of a Markdown table can hold. */
const TOO_MUCH_FOR_A_CELL = new Set(["table", "pre", "ul", "ol", "blockquote", "h1", "h2", "h3"]);
const MOST_COLUMNS = 100;

/**
 * The cells of a table, each row as long as the longest, null where a wide cell goes on. Null for a table that
 * only lays out the page, which is read as blocks.
 */
export function tableRows(table: PageElement): (PageElement | null)[][] | null {
  const { role } = table.attributes;
  if (role === "presentation" || role === "none") return null;
  const rows: (PageElement | null)[][] = [];
  let columns = 0;
  for (const row of rowsOf(table)) {
    const cells = cellsOf(row);
    if (cells === null) return null;
    columns = Math.max(columns, cells.length);
    if (cells.length > 0) rows.push(cells);
  }
  if (columns < 2) return null;
  for (const cells of rows) while (cells.length < columns) cells.push(null);
  return rows;
}

/** Plain loops, here as below: a page may hold a table of a hundred thousand cells. Null when one holds too much. */
function cellsOf(row: PageElement): (PageElement | null)[] | null {
  const cells: (PageElement | null)[] = [];
  for (const cell of row.children) {
    if (typeof cell === "string" || (cell.name !== "td" && cell.name !== "th")) continue;
    if (isTooMuch(cell)) return null;
    const { colspan } = cell.attributes;
    const span = colspan === undefined ? 1 : Number.parseInt(colspan, 10);
    cells.push(cell);
    for (let more = 1; more < span && cells.length < MOST_COLUMNS; more += 1) cells.push(null);
    if (cells.length >= MOST_COLUMNS) break;
  }
  return cells;
}

function rowsOf(element: PageElement): PageElement[] {
  const rows: PageElement[] = [];
  for (const child of element.children) {
    if (typeof child === "string") continue;
    if (child.name === "tr") rows.push(child);
    else if (/^(?:thead|tbody|tfoot)$/.test(child.name)) rows.push(...rowsOf(child));
  }
  return rows;
}

function isTooMuch(element: PageElement): boolean {
  return element.children.some(
    (child) => typeof child !== "string" && (TOO_MUCH_FOR_A_CELL.has(child.name) || isTooMuch(child)),
  );
}
