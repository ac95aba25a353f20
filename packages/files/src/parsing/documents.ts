import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import { removeInvisible } from "@burin/contract/text/untrusted-text";
import { WebError } from "@burin/net/web-error";

/** The maximum number of characters of one cell's output; sources are not shortened. */
const MAX_OUTPUT_CHARACTERS = 2000;

type Fields = Readonly<Record<string, unknown>>;

/** Returns whether text that starts like this may be a Jupyter notebook; `renderNotebook` makes sure. */
export function mayBeNotebook(start: string): boolean {
  return /^\ufeff?\s*\{\s*"(?:cells|metadata|nbformat|nbformat_minor)"\s*:/.test(start);
}

/** Returns the content of a notebook; null when the text is not one. */
export function readNotebook(text: string): { readonly cells: unknown[]; readonly metadata: unknown } | null {
  const notebook = parseJson(text.replace(/^\ufeff/, ""));
  if (!isRecord(notebook) || typeof notebook.nbformat !== "number") return null;
  const { cells, metadata } = notebook;
  return Array.isArray(cells) ? { cells, metadata } : null;
}

/** Renders a notebook cell by cell as Markdown, with limited outputs. Returns null when the text is not a notebook. */
export function renderNotebook(text: string): string | null {
  const notebook = readNotebook(text);
  if (notebook === null) return null;
  const { cells } = notebook;
  const language = readLanguage(notebook.metadata);
  const parts = cells.map((cell, index) => renderCell(isRecord(cell) ? cell : {}, index + 1, language));
  const count = cells.length === 1 ? "1 cell" : `${cells.length} cells`;
  return `Notebook with ${count} (${language}).\n${parts.join("")}`;
}

function readLanguage(metadata: unknown): string {
  const info = isRecord(metadata) ? metadata.language_info : undefined;
  const kernel = isRecord(metadata) ? metadata.kernelspec : undefined;
  const named = (isRecord(info) && info.name) || (isRecord(kernel) && kernel.language);
  return typeof named === "string" ? named : "python";
}

function renderCell(cell: Fields, number: number, language: string): string {
  const source = joinText(cell.source);
  const kind = typeof cell.cell_type === "string" ? cell.cell_type : "unknown";
  const run = typeof cell.execution_count === "number" ? `, run as [${cell.execution_count}]` : "";
  const body = kind === "code" ? fenceText(source, language) : ensureNewline(source);
  const outputs = Array.isArray(cell.outputs) ? cell.outputs : [];
  const shown = outputs.map((output) => renderOutput(isRecord(output) ? output : {})).join("");
  return `\n## Cell ${number} (${kind}${run})\n${body}${shown}`;
}

function renderOutput(output: Fields): string {
  if (output.output_type === "error") {
    const trace = joinText(output.traceback, "\n");
    return fenceText(truncateText(trace || `${String(output.ename)}: ${String(output.evalue)}`), "error");
  }
  const data = isRecord(output.data) ? output.data : {};
  const text = joinText(output.text) || joinText(data["text/plain"]);
  const others = Object.keys(data).filter((type) => type !== "text/plain");
  const named = others.length > 0 ? `[output: ${others.join(", ")}]\n` : "";
  return (text === "" ? "" : fenceText(truncateText(text), "output")) + named;
}

/** A notebook stores text as one string, or as a list of lines that keep their line ends. */
function joinText(value: unknown, separator = ""): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === "string").join(separator) : "";
}

function truncateText(text: string): string {
  // Remove color codes, which mean nothing in plain text.
  const plain = text.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g"), "");
  if (plain.length <= MAX_OUTPUT_CHARACTERS) return plain;
  const left = plain.length - MAX_OUTPUT_CHARACTERS;
  return `${plain.slice(0, MAX_OUTPUT_CHARACTERS)}\n[... ${left} more characters of output]`;
}

function fenceText(text: string, language: string): string {
  let fence = "```";
  for (const [ticks] of text.matchAll(/`{3,}/g)) if (ticks >= fence) fence = `${ticks}\``;
  return `${fence}${language}\n${ensureNewline(text)}${fence}\n`;
}

function ensureNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** A page takes some milliseconds; a document may have thousands. */
const MAX_MS = 20_000;

/**
 * Returns the text of all pages as one text, each page under its number; empty if the pages are images. Throws a
 * WebError when the document cannot be read.
 */
export async function extractPdfText(bytes: Uint8Array): Promise<string> {
  const { getDocumentProxy } = await import("unpdf");
  // The reader takes ownership of the bytes.
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 }).catch(
    (error: unknown) => {
      const why = describeError(error);
      throw new WebError("broken_content", `The PDF cannot be read: ${why.slice(0, 200)}`);
    },
  );
  try {
    const until = performance.now() + MAX_MS;
    const pages: string[] = [];
    let hasText = false;
    for (let number = 1; number <= document.numPages; number += 1) {
      const text = await extractPageText(await document.getPage(number));
      hasText ||= text !== "";
      pages.push(`[Page ${number} of ${document.numPages}]\n${text}`);
      if (performance.now() < until || number === document.numPages) continue;
      pages.push(`[The pages after ${number} were not read: that took too long]`);
      break;
    }
    return hasText ? removeInvisible(pages.join("\n\n")) : "";
  } finally {
    await document.loadingTask.destroy();
  }
}

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof import("unpdf").getDocumentProxy>>["getPage"]>>;

async function extractPageText(page: PdfPage): Promise<string> {
  const { items } = await page.getTextContent();
  let text = "";
  for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
  return text.trim();
}
