import { removeInvisible } from "@burin/contract/text/untrusted-text";

/** The section of a memory file that the tool writes. Everything else in the file belongs to the user. */
const HEADING = "## Remembered";

/** Returns the text with the fact added as a bullet of the section; null if it is there already. */
export function addFact(text: string, fact: string): string | null {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const bullet = `- ${formatFact(fact)}`;
  // Lines with their line ends, so that every other line keeps its own.
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const { start, end } = findSection(lines);
  if (start === -1) {
    const apart = text === "" || text.endsWith("\n") ? [] : [""];
    if (lines.at(-1)?.trim()) apart.push("");
    return text + [...apart, HEADING, "", bullet, ""].join(newline);
  }
  const known = lines.slice(start + 1, end).filter((line) => /^\s*[-*+]\s/.test(line));
  if (known.some((line) => normalizeFact(line.replace(/^\s*[-*+]\s+/, "")) === normalizeFact(fact)))
    return null;
  let at = end;
  while (at > start + 1 && lines[at - 1]?.trim() === "") at -= 1;
  const head = lines.slice(0, at).join("");
  const added = at === start + 1 ? newline + bullet : bullet;
  return head.endsWith("\n") ? head + added + newline + lines.slice(at).join("") : head + newline + added;
}

/** Returns the section up to the next heading of the same or a higher level. Skips headings in code fences. */
function findSection(lines: readonly string[]): { readonly start: number; readonly end: number } {
  const headings = findHeadings(lines);
  const start = headings.find((index) => lines[index]?.trimEnd() === HEADING) ?? -1;
  const next = headings.find((index) => index > start && /^#{1,2}\s/.test(lines[index] ?? ""));
  return { start, end: next ?? lines.length };
}

function findHeadings(lines: readonly string[]): number[] {
  const found: number[] = [];
  const unclosed = new Set<string>();
  for (let index = 0; index < lines.length; index += 1) {
    const [, fence = ""] = /^ {0,3}(`{3,}|~{3,})/.exec(lines[index] ?? "") ?? [];
    let close = fence === "" || unclosed.has(fence) ? lines.length : index + 1;
    const closing = new RegExp(`^\\s*${fence}[${fence.charAt(0)}]*\\s*$`);
    while (close < lines.length && !closing.test(lines[close] ?? "")) close += 1;
    if (close < lines.length) index = close;
    else if (fence !== "") unclosed.add(fence);
    else if (lines[index]?.startsWith("#")) found.push(index);
  }
  return found;
}

/** Normalizes a fact for comparison: ignores case, spaces and a final full stop. */
function normalizeFact(fact: string): string {
  return formatFact(fact).toLowerCase().replace(/\.$/, "");
}

/** Formats a fact as one line of visible text: removes control and direction characters. */
export function formatFact(fact: string): string {
  return removeInvisible(fact)
    .replace(/\p{Bidi_Control}/gu, "")
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^[-*+] /, "");
}
