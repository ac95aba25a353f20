import type { ToolCall } from "@burin/core/sessions";
import type { Line, Span } from "../terminal/styled-line.ts";
import { drawCallsInFull } from "./displays/call-lines.ts";
import { drawDiffSummary } from "./displays/file-diff.ts";
import { highlightCode } from "./highlight.ts";
import { drawMarkdown } from "./markdown.ts";

/** A part of a session, as the exported page shows it. */
export type PageBlock =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "model"; readonly text: string }
  | { readonly kind: "call"; readonly call: ToolCall }
  | { readonly kind: "note"; readonly text: string };

interface PageHead {
  readonly title: string;
  /** The folder, the model and the time. */
  readonly about: string;
  readonly language: string;
}

/** The width for text: so wide that only the browser wraps lines. */
const WIDE = 100_000;
/** The width for calls: the column of the page, and too narrow for changes side by side. */
const CALL_COLUMNS = 88;
const MAX_ROWS = 2000;

/** Exports a session as one HTML file, in light and dark, that loads nothing from elsewhere. */
export function renderPage({ title, about, language }: PageHead, blocks: readonly PageBlock[]): string {
  const body = blocks.map(renderBlock).join("\n");
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<header><h1>${escapeHtml(title)}</h1><p>${escapeHtml(about)}</p></header>
<main>
${body}
</main>
</html>
`;
}

function renderBlock(block: PageBlock): string {
  if (block.kind === "user") return `<section class="you">${renderParagraphs(block.text)}</section>`;
  if (block.kind === "model") return `<section class="said">${renderMarkdown(block.text)}</section>`;
  if (block.kind === "note") return `<p class="note">${escapeHtml(block.text)}</p>`;
  const [head = [], ...rows] = drawCallsInFull([block.call], CALL_COLUMNS);
  const shown = rows
    .slice(0, MAX_ROWS)
    .map((line) => renderRow(line))
    .join("");
  if (rows.length === 0) return `<p class="call">${renderLine(head)}</p>`;
  // Open the calls that changed a file: they are what readers look for.
  const { call } = block;
  const isDiff =
    call.status === "success" &&
    typeof call.returnDisplay !== "string" &&
    call.returnDisplay.kind === "file_diff";
  const title = isDiff ? [...head, { text: "  " }, ...drawDiffSummary(call.returnDisplay)] : head;
  return `<details class="call"${isDiff ? " open" : ""}><summary>${renderLine(title)}</summary><pre>${shown}</pre></details>`;
}

function renderParagraphs(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((part) => `<p>${escapeHtml(part).replaceAll("\n", "<br>")}</p>`)
    .join("");
}

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([\w+#-]*)/;
const ITEM = /^(\s*)(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$/;

/** Reads one kind of block. Returns its HTML and the line after it; null if no such block begins there. */
type ReadBlock = (
  lines: readonly string[],
  at: number,
) => { readonly html: string; readonly end: number } | null;

/** Converts the Markdown blocks that models write. Text within a line is formatted as on the screen. */
function renderMarkdown(text: string): string {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  const html: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const readBlock = (readers: readonly ReadBlock[]): ReturnType<ReadBlock> =>
      readers.reduce<ReturnType<ReadBlock>>((found, reader) => found ?? reader(lines, at), null);
    const block = readBlock([
      readFence,
      readHeading,
      readHorizontalRule,
      readTable,
      readList,
      readQuote,
      readParagraph,
    ]);
    if (block !== null) html.push(block.html);
    at = block?.end ?? at + 1;
  }
  return html.join("\n");
}

/** Returns the first line, from there on, for which the condition is false. */
function findEnd(lines: readonly string[], from: number, holds: (line: string) => boolean): number {
  const found = lines.findIndex((line, index) => index >= from && !holds(line));
  return found === -1 ? lines.length : found;
}

const readFence: ReadBlock = (lines, at) => {
  const [whole, , mark = "", language = ""] = FENCE.exec(lines[at] ?? "") ?? [];
  if (whole === undefined) return null;
  const end = findEnd(lines, at + 1, (line) => !line.trim().startsWith(mark));
  const code = lines.slice(at + 1, end).map((line) => renderRow(highlightCode(line, language)));
  return { html: `<pre class="code">${code.join("")}</pre>`, end: end + 1 };
};

const readHeading: ReadBlock = (lines, at) => {
  const [, marks, text = ""] = /^(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/.exec(lines[at] ?? "") ?? [];
  if (marks === undefined) return null;
  // Only the title of the page is a heading of the first level.
  const level = Math.min(marks.length + 1, 6);
  return { html: `<h${level}>${renderInline(text)}</h${level}>`, end: at + 1 };
};

const readHorizontalRule: ReadBlock = (lines, at) =>
  /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(lines[at] ?? "") ? { html: "<hr>", end: at + 1 } : null;

const readTable: ReadBlock = (lines, at) => {
  if (lines[at]?.includes("|") !== true || !TABLE_RULE.test(lines[at + 1] ?? "")) return null;
  const end = findEnd(lines, at, (line) => line.includes("|"));
  return { html: renderTable(lines.slice(at, end)), end };
};

const readList: ReadBlock = (lines, at) => {
  if (!ITEM.test(lines[at] ?? "")) return null;
  const end = findEnd(lines, at, (line) => ITEM.test(line) || /^\s+\S/.test(line));
  return { html: renderList(lines.slice(at, end)), end };
};

const readQuote: ReadBlock = (lines, at) => {
  const end = findEnd(lines, at, (line) => line.startsWith(">"));
  const quoted = lines.slice(at, end).map((line) => renderInline(line.replace(/^>\s?/, "")));
  return end === at ? null : { html: `<blockquote>${quoted.join("<br>")}</blockquote>`, end };
};

const readParagraph: ReadBlock = (lines, at) => {
  const end = findEnd(lines, at, isProse);
  return end === at ? null : { html: `<p>${lines.slice(at, end).map(renderInline).join(" ")}</p>`, end };
};

function isProse(line: string): boolean {
  return line.trim() !== "" && !FENCE.test(line) && !ITEM.test(line) && !/^(?:#{1,6}\s|>)/.test(line);
}

/** Builds nested lists from the indentation. A line without a mark belongs to the item above it. */
function renderList(lines: readonly string[]): string {
  const items: { depth: number; isNumbered: boolean; text: string }[] = [];
  for (const line of lines) {
    const [, indent = "", number, text = ""] = ITEM.exec(line) ?? [];
    const last = items.at(-1);
    if (ITEM.test(line)) items.push({ depth: indent.length, isNumbered: number !== undefined, text });
    else if (last !== undefined) last.text += ` ${line.trim()}`;
  }
  let html = "";
  const open: { depth: number; tag: string }[] = [];
  for (const { depth, isNumbered, text } of items) {
    while (open.length > 0 && (open.at(-1)?.depth ?? 0) > depth) html += `</li></${open.pop()?.tag}>`;
    if (open.length === 0 || (open.at(-1)?.depth ?? 0) < depth) {
      open.push({ depth, tag: isNumbered ? "ol" : "ul" });
      html += `<${open.at(-1)?.tag}>`;
    } else html += "</li>";
    html += `<li>${renderInline(text)}`;
  }
  while (open.length > 0) html += `</li></${open.pop()?.tag}>`;
  return html;
}

function renderTable([head = "", rule = "", ...rows]: readonly string[]): string {
  const splitCells = (row: string): string[] =>
    row
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
  const sides = splitCells(rule).map((cell) =>
    /^:-+:$/.test(cell) ? "center" : cell.endsWith(":") ? "right" : "left",
  );
  const createRowWriter = (tag: string) => (row: string) =>
    `<tr>${splitCells(row)
      .map((cell, index) => `<${tag} class="${sides[index] ?? "left"}">${renderInline(cell)}</${tag}>`)
      .join("")}</tr>`;
  return `<table>${createRowWriter("th")(head)}${rows.map(createRowWriter("td")).join("")}</table>`;
}

/** Converts code, emphasis and links within a line, in the same way as on the screen. */
function renderInline(text: string): string {
  return drawMarkdown(text.trim(), WIDE, false).map(renderLine).join(" ");
}

/** Renders a row. The tint of a changed line covers the whole row, as on the screen. */
function renderRow(line: Line): string {
  const tint = line.find(({ back }) => back !== undefined)?.back?.replace("Word", "");
  // The browser fills the row, so the spaces that do so on the screen are not needed.
  const spans = tint !== undefined && line.at(-1)?.text.trim() === "" ? line.slice(0, -1) : line;
  return `<span class="row${tint === undefined ? "" : ` is-${tint}`}">${renderLine(spans)}\n</span>`;
}

function renderLine(line: Line): string {
  return line.map(renderSpan).join("");
}

function renderSpan({ text, style, back }: Span): string {
  if (style === "link" && /^https?:\/\//.test(text))
    return `<a href="${escapeHtml(text)}">${escapeHtml(text)}</a>`;
  const classes = [style, back?.endsWith("Word") ? back : undefined].filter((one) => one !== undefined);
  return classes.length === 0
    ? escapeHtml(text)
    : `<span class="${classes.join(" ")}">${escapeHtml(text)}</span>`;
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

const STYLE = `
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--dim:#656d76;
--line:#d8dee4;--soft:#f6f8fa;--accent:#0969da;--good:#1a7f37;--bad:#cf222e;--warn:#9a6700;--key:#8250df;
--add:#dafbe1;--addw:#aceebb;--del:#ffebe9;--delw:#ffcecb}
@media (prefers-color-scheme:dark){:root{--back:#15181c;--text:#d7dae0;--dim:#8b949e;
--line:#30363d;--soft:#1d2127;--accent:#6cb6ff;--good:#7ee787;--bad:#ff7b72;--warn:#e3b341;--key:#d2a8ff;
--add:#12321d;--addw:#1f6f37;--del:#3c1618;--delw:#842029}}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.6 system-ui,sans-serif}
body{padding:0 1.25rem}header,main{max-width:51.5rem;margin:0 auto}
header{padding-top:2.5rem;border-bottom:1px solid var(--line)}
h1{font-size:1.5rem;line-height:1.3;margin:0}
header p,.note{color:var(--dim);font-size:.9rem}
main{padding-bottom:4rem}
h2,h3,h4,h5,h6{line-height:1.3;margin:1.5em 0 .5em}
.you{margin:2rem 0 1rem;padding:.25rem 1.1rem;border-left:3px solid var(--accent);background:var(--soft);border-radius:0 8px 8px 0;font-weight:600}
.said{margin:1rem 0}
.call{margin:.4rem 0;font-size:.9rem}
summary{cursor:pointer}
pre{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:.6rem 0;overflow-x:auto;font:13px/1.5 ui-monospace,Menlo,Consolas,monospace}
.row{display:block;padding:0 .9rem;white-space:pre-wrap;overflow-wrap:anywhere}
.code .row{white-space:pre}.call .row{padding-left:calc(.9rem + 4ch);text-indent:-4ch}
.is-added{background:var(--add)}.is-removed{background:var(--del)}
.addedWord{background:var(--addw);border-radius:3px}.removedWord{background:var(--delw);border-radius:3px}
.strong{font-weight:600}.emphasis{font-style:italic}.dim,.comment{color:var(--dim)}.heading{font-weight:600}
.code:not(pre){font:.9em ui-monospace,Menlo,Consolas,monospace;background:var(--soft);padding:.1em .3em;border-radius:4px}
.added{color:var(--good)}.removed{color:var(--bad)}
.good,.string{color:var(--good)}.bad{color:var(--bad)}.warning,.number{color:var(--warn)}.keyword{color:var(--key)}.accent,.link,a{color:var(--accent)}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}th,td{border:1px solid var(--line);padding:.3rem .7rem}
.left{text-align:left}.right{text-align:right}.center{text-align:center}
blockquote{margin:1rem 0;padding-left:1rem;border-left:3px solid var(--line);color:var(--dim)}
hr{border:0;border-top:1px solid var(--line)}
@media print{details{display:block}}
`.trim();
