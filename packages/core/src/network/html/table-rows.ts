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
  for (const row of rowsOf(table)) {
    const cells = row.children.filter((child) => typeof child !== "string" && /^t[dh]$/.test(child.name));
    const wide = (cells as PageElement[])
      .flatMap((cell) => [cell, ...following(cell)])
      .slice(0, MOST_COLUMNS);
    if (wide.length > 0) rows.push(wide);
  }
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (columns < 2 || rows.some((row) => row.some((cell) => cell !== null && isTooMuch(cell)))) return null;
  return rows.map((row) => [...row, ...Array<null>(columns - row.length).fill(null)]);
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

function following(cell: PageElement): null[] {
  const span = Number.parseInt(cell.attributes.colspan ?? "1", 10);
  return Array<null>(Math.min(Math.max(span || 1, 1), MOST_COLUMNS) - 1).fill(null);
}

function isTooMuch(element: PageElement): boolean {
  return element.children.some(
    (child) => typeof child !== "string" && (TOO_MUCH_FOR_A_CELL.has(child.name) || isTooMuch(child)),
  );
}
