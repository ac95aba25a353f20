import { withoutUnseen } from "@burin/contract/text/untrusted-text";

/** The one section of a memory file that the tool writes; everything else in the file is the user's. */
const HEADING = "## Remembered";

/** The text with the fact as one more bullet of the section; null when it is there already. */
export function withFact(text: string, fact: string): string | null {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const bullet = `- ${factLine(fact)}`;
  // With their ends: every other line keeps its own.
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const { start, end } = sectionOf(lines);
  if (start === -1) {
    const apart = text === "" || text.endsWith("\n") ? [] : [""];
    if (lines.at(-1)?.trim()) apart.push("");
    return text + [...apart, HEADING, "", bullet, ""].join(newline);
  }
  const known = lines.slice(start + 1, end).filter((line) => /^\s*[-*+]\s/.test(line));
  if (known.some((line) => plain(line.replace(/^\s*[-*+]\s+/, "")) === plain(fact))) return null;
  let at = end;
  while (at > start + 1 && lines[at - 1]?.trim() === "") at -= 1;
  const head = lines.slice(0, at).join("");
  const added = at === start + 1 ? newline + bullet : bullet;
  return head.endsWith("\n") ? head + added + newline + lines.slice(at).join("") : head + newline + added;
}

/** From the heading to the next one of the same or a higher level; headings inside code fences are text. */
function sectionOf(lines: readonly string[]): { readonly start: number; readonly end: number } {
  const headings = headingsOf(lines);
  const start = headings.find((index) => lines[index]?.trimEnd() === HEADING) ?? -1;
  const next = headings.find((index) => index > start && /^#{1,2}\s/.test(lines[index] ?? ""));
  return { start, end: next ?? lines.length };
}

function headingsOf(lines: readonly string[]): number[] {
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

/** Ignores differences in case, spaces and the final full stop. */
function plain(fact: string): string {
  return factLine(fact).toLowerCase().replace(/\.$/, "");
}

/** A fact becomes one bullet with only visible text: control and direction characters are removed. */
export function factLine(fact: string): string {
  return withoutUnseen(fact)
    .replace(/\p{Bidi_Control}/gu, "")
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^[-*+] /, "");
}
