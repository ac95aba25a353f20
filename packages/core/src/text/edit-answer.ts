import type { Replacement } from "@burin/edit-match";

export interface EditAnswer {
  readonly file: string;
  /** What could not be kept, in words. */
  readonly notes: readonly string[];
}

export interface MadeEdit extends EditAnswer {
  readonly places: number;
  /** "exact", or what was ignored to find the places. */
  readonly stage: string;
  readonly lines: string;
}

export function createdAnswer({ file, notes }: EditAnswer): string {
  return [`Created new file: ${file} with provided content.`, ...told(notes)].join("\n");
}

export function modifiedAnswer({ file, notes, places, stage, lines }: MadeEdit): string {
  const how =
    stage === "exact" ? [] : [`old_string did not match exactly; matched after ignoring: ${stage}.`];
  const head = `Successfully modified file: ${file} (${places} replacements).`;
  return [head, ...how, ...told(notes), "The changed lines now:", lines].join("\n");
}

export interface UsersEdit extends EditAnswer {
  readonly isNew: boolean;
  /** A diff from the proposal to the user's version. */
  readonly changes: string;
}

export function usersVersionAnswer({ file, notes, isNew, changes }: UsersEdit): string {
  const head = isNew
    ? `Created new file: ${file} with the content as the user changed it.`
    : `The user changed the proposal before approving it; ${file} holds their version.`;
  return [head, "The differences from the proposal:", changes, ...told(notes)].join("\n");
}

export function notText(file: string) {
  return { type: "not_text", message: `Failed to edit, ${file} is not a text file, so it cannot be edited.` };
}

function told(notes: readonly string[]): string[] {
  return notes.map((note) => `Note: ${note}.`);
}

interface PlacedEdit {
  readonly content: string;
  readonly replacements: readonly Replacement[];
}

/** Whether the same texts are replaced by the same ones, anywhere; with changes by others, by whole lines. */
export function isSameEdit(
  planned: PlacedEdit,
  now: PlacedEdit,
  { byOthers }: { readonly byOthers: boolean },
): boolean {
  if (planned.replacements.length !== now.replacements.length) return false;
  const replaced = ({ content, replacements }: PlacedEdit) =>
    replacements.map(({ start, end, text }) => ({
      old: byOthers ? linesOf(content, start, end) : content.slice(start, end),
      fresh: text,
    }));
  const places = replaced(planned);
  return replaced(now).every(({ old, fresh }, index) => {
    const place = places[index];
    return place?.old === old && place.fresh === fresh;
  });
}

function linesOf(content: string, start: number, end: number): string {
  // A range that ends after a newline does not include the next line.
  const close = content.indexOf("\n", Math.max(start, end - 1));
  return content.slice(content.lastIndexOf("\n", start - 1) + 1, close === -1 ? content.length : close);
}
