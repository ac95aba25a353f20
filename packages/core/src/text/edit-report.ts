import type { ToolError } from "@burin/contract/tools";
import type { ClosestRegion, EditMatch, Replacement } from "@burin/edit-match";

const CONTEXT_LINES = 3;
const MAX_LINES = 40;
const MAX_LINE_CHARACTERS = 300;

interface FailedMatch {
  readonly match: Exclude<EditMatch, { readonly status: "matched" }>;
  readonly expected: number;
  /** true if the model has seen an older content of the file. */
  readonly isOutdated: boolean;
}

/** Explains why an edit could not be placed, with everything that helps the model to get it right the next time. */
export function describeEditFailure({ match, expected, isOutdated }: FailedMatch): ToolError {
  const again = isOutdated
    ? " The file has changed since it was read: read it again with read_file before the next try."
    : "";
  switch (match.status) {
    case "no_change":
      return {
        type: "no_change",
        message: `Failed to edit, nothing would change: the file already has new_string there.${again}`,
      };
    case "ambiguous":
      return { type: "wrong_count", message: describeWrongCount(match, expected) + again };
    case "omission":
      return { type: "omission", message: describeOmission(match.placeholder) + again };
    case "doubled":
      return { type: "doubled_line", message: describeDoubledLine(match.line) + again };
    case "escaped":
      return { type: "stray_escape", message: describeStrayEscape(match.escape) + again };
    case "none":
      return { type: "no_occurrence", message: describeNoOccurrence(match) + again };
  }
}

function describeOmission(placeholder: string): string {
  return placeholder.startsWith("```")
    ? [
        "Failed to edit, new_string is one code fence, which may be meant or not. Nothing was written.",
        "Leave the fence out, or put a line next to it that stays into both strings.",
      ].join(" ")
    : [
        `Failed to edit, new_string has "${placeholder}" in place of lines of old_string:`,
        "they would be deleted. Nothing was written.",
        "Write the lines out in new_string, or leave them out of both strings.",
      ].join(" ");
}

function describeDoubledLine(line: string): string {
  return [
    "Failed to edit, new_string adds what is already next to old_string in the file,",
    `so that it would be there twice: ${formatLine(line)}. Nothing was written.`,
    "If the change is done already, go on; otherwise put that into old_string too.",
  ].join(" ");
}

function describeStrayEscape(sign: string): string {
  const plain = { "\\n": "a line break", "\\t": "a tab", '\\"': "a plain quote" }[sign];
  return [
    `Failed to edit, new_string has ${sign} as two characters where this file would not have them, and old_string has none.`,
    `Nothing was written. Send ${plain} instead, or the same call with "literal": true if the two characters are meant.`,
  ].join(" ");
}

function describeWrongCount(match: Extract<EditMatch, { status: "ambiguous" }>, expected: number): string {
  const { found, lines } = match;
  const places = lines.length > 0 ? ` (lines ${lines.join(", ")}${found > lines.length ? ", ..." : ""})` : "";
  const head = `Failed to edit, expected ${expected} occurrences but found ${found}${places}.`;
  if (found < expected) return `${head} Set "expected_replacements" to ${found}, or correct old_string.`;
  return [
    `${head} Nothing was written.`,
    "Put more of the surrounding lines into old_string so that it means one place,",
    `or set "expected_replacements" to ${found} to change them all.`,
  ].join(" ");
}

function describeNoOccurrence(match: Extract<EditMatch, { status: "none" }>): string {
  const lines = ["Failed to edit, 0 occurrences found for old_string. Nothing was written."];
  if (match.alreadyApplied) lines.push("The file already holds new_string: the change seems to be done.");
  if (match.closest !== undefined) lines.push(...describeClosestLines(match.closest));
  if (!match.alreadyApplied) lines.push("Copy old_string from the file as it is now, spaces included.");
  return lines.join("\n");
}

function describeClosestLines({ startLine, endLine, differences }: ClosestRegion): string[] {
  const lines = [`The closest text is at lines ${startLine}-${endLine} of the file. What differs there:`];
  for (const { line, given, file } of differences) {
    if (file !== undefined) lines.push(`  L${line} file:       ${formatLine(file)}`);
    if (given !== undefined) lines.push(`  L${line} old_string: ${formatLine(given)}`);
  }
  return lines;
}

/** Formats a line as JSON, because trailing spaces and tabs matter here and must be visible. */
function formatLine(line: string): string {
  return JSON.stringify(
    line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}...` : line,
  );
}

/** Formats the changed places with lines around them, so that the model need not read the file again. */
export function formatChangedLines(
  content: string,
  replacements: readonly Replacement[],
  /** The number of the content's first line. */
  firstLine = 1,
): string {
  const lastLine = countLinesUpTo(content, content.length - 1);
  const shown: string[] = [];
  let [shift, shownTo] = [0, 0];
  for (const { start, end, text } of replacements.slice(0, 20)) {
    const from = start + shift;
    shift += text.length - (end - start);
    const line = countLinesUpTo(content, from);
    const first = Math.max(1 + shownTo, line - CONTEXT_LINES);
    const last = Math.min(lastLine, line + countLinesUpTo(text, text.length) - 1 + CONTEXT_LINES);
    if (first > last) continue;
    if (shown.length > 0 && first > shownTo + 1) shown.push("...");
    shown.push(formatNumberedLines(content, [first, Math.min(last, first + MAX_LINES - 1)], firstLine));
    const cut = last - first + 1 - MAX_LINES;
    if (cut > 0) shown.push(`[... ${cut} lines not shown ...]`);
    shownTo = last;
  }
  if (replacements.length > 20) shown.push("...", `[${replacements.length - 20} more places]`);
  return shown.join("\n");
}

function countLinesUpTo(content: string, position: number): number {
  let line = 1;
  for (let at = content.indexOf("\n"); at !== -1 && at < position; at = content.indexOf("\n", at + 1))
    line += 1;
  return line;
}

function formatNumberedLines(
  content: string,
  [first, last]: readonly [number, number],
  firstLine: number,
): string {
  let start = 0;
  for (let line = 1; line < first; line += 1) start = content.indexOf("\n", start) + 1;
  const lines: string[] = [];
  for (let line = first; line <= last && start < content.length; line += 1) {
    const newline = content.indexOf("\n", start);
    const end = newline === -1 ? content.length : newline;
    const text = content.slice(start, Math.min(end, start + MAX_LINE_CHARACTERS)).replace(/\r$/, "");
    const cut = end - start > MAX_LINE_CHARACTERS ? "... [line cut]" : "";
    lines.push(`L${line + firstLine - 1}: ${text}${cut}`);
    if (newline === -1) break;
    start = newline + 1;
  }
  return lines.join("\n");
}

interface EditAnswer {
  readonly file: string;
  /** Sentences about what could not be preserved. */
  readonly notes: readonly string[];
}

interface MadeEdit extends EditAnswer {
  readonly places: number;
  /** "exact", or the differences that were ignored to find the places. */
  readonly stage: string;
  readonly lines: string;
}

export function formatCreated({ file, notes }: EditAnswer): string {
  return [`Created new file: ${file} with provided content.`, ...formatNotes(notes)].join("\n");
}

export function formatModified({ file, notes, places, stage, lines }: MadeEdit): string {
  const how =
    stage === "exact" ? [] : [`old_string did not match exactly; matched after ignoring: ${stage}.`];
  const head = `Successfully modified file: ${file} (${places} replacements).`;
  return [head, ...how, ...formatNotes(notes), "The changed lines now:", lines].join("\n");
}

interface UsersEdit extends EditAnswer {
  readonly isNew: boolean;
  /** A diff from the proposal to the user's version. */
  readonly changes: string;
}

export function formatUsersVersion({ file, notes, isNew, changes }: UsersEdit): string {
  const head = isNew
    ? `Created new file: ${file} with the content as the user changed it.`
    : `The user changed the proposal before approving it; ${file} holds their version.`;
  return [head, "The differences from the proposal:", changes, ...formatNotes(notes)].join("\n");
}

function formatNotes(notes: readonly string[]): string[] {
  return notes.map((note) => `Note: ${note}.`);
}

interface PlacedEdit {
  readonly content: string;
  readonly replacements: readonly Replacement[];
}

/** Whether both edits replace the same texts by the same ones, anywhere; as whole lines if others made changes. */
export function isSameEdit(
  planned: PlacedEdit,
  now: PlacedEdit,
  { byOthers }: { readonly byOthers: boolean },
): boolean {
  if (planned.replacements.length !== now.replacements.length) return false;
  const listReplacedAndNewTexts = ({ content, replacements }: PlacedEdit) =>
    replacements.flatMap(({ start, end, text }) => [
      byOthers ? sliceLines(content, start, end) : content.slice(start, end),
      text,
    ]);
  const before = listReplacedAndNewTexts(planned);
  return listReplacedAndNewTexts(now).every((text, index) => text === before[index]);
}

function sliceLines(content: string, start: number, end: number): string {
  // A range that ends after a newline does not include the next line.
  const close = content.indexOf("\n", Math.max(start, end - 1));
  return content.slice(content.lastIndexOf("\n", start - 1) + 1, close === -1 ? content.length : close);
}
