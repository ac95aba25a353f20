import { isBlank, keptLines, type Texts } from "./lines.ts";
import { omission } from "./omission-placeholder.ts";

const DOTS = /^[[(<]?(?:\.{3}|…)[\])>]?$/;
/** Dots alone may well stand for themselves where they come for a single line that closes nothing. */
const LEAST_GONE = 2;

/**
 * A line of the new text that stands for lines of the old one, which would be deleted: one that says so in words, or
 * nothing but dots where lines stood. A line that the old text has as often is no such line.
 */
export function placeholderIn(oldText: string, newText: string): string | undefined {
  if (isBlank(oldText) || !/\.\.|…|[a-z]/.test(newText)) return undefined;
  const newLines = newText.split(/\r?\n/);
  const suspects = newLines.flatMap((line, at) => {
    const kind = DOTS.test(line.trim()) ? "bare" : omission(line);
    return kind === null ? [] : [{ at, kind, line: line.trim() }];
  });
  if (suspects.length === 0) return undefined;
  const oldLines = oldText.split(/\r?\n/);
  const left = oldLines.map((line) => line.trim());
  const kept = keptLines({ oldLines, newLines }, "signs");
  const isBalanced = openBrackets(oldText) === openBrackets(newText);
  for (const { at, kind, line } of suspects) {
    const known = left.indexOf(line);
    if (known >= 0) left.splice(known, 1);
    else if (kind === "certain" || kept === undefined || !isBalanced) return line;
    else if (goneAt({ oldLines, newLines }, kept, at) >= (isAmongNew(newLines, kept, at) ? 1 : LEAST_GONE))
      return line;
    else if (skipsLines(oldLines, newLines, at)) return line;
  }
  return undefined;
}

/** Dots that are meant, and come for a single line, are beside what was kept. */
function isAmongNew(newLines: readonly string[], kept: Int32Array, at: number): boolean {
  const above = newLines.findLastIndex((line, fresh) => fresh < at && !isBlank(line));
  const below = newLines.findIndex((line, fresh) => fresh > at && !isBlank(line));
  return kept[above] === -1 || kept[below] === -1;
}

/** A new text that closes other brackets than the old one lacks some lines. */
function openBrackets(text: string): number {
  return text.replace(/[^[({]/g, "").length - text.replace(/[^\])}]/g, "").length;
}

/** How many lines of the old text, blank ones apart, went where the new text has this one: between lines that were kept. */
function goneAt({ oldLines, newLines }: Texts, kept: Int32Array, at: number): number {
  const isBound = (fresh: number) => {
    const line = oldLines[kept[fresh] ?? -1];
    return line !== undefined && line === newLines[fresh] && /\w{3}/.test(line);
  };
  const bounds = [...kept.keys()].filter(isBound);
  const from = kept[bounds.findLast((fresh) => fresh < at) ?? -1] ?? -1;
  const to = kept[bounds.find((fresh) => fresh > at) ?? -1] ?? oldLines.length;
  const stays = new Set(kept);
  const isGone = (line: string, old: number) => old > from && old < to && !stays.has(old) && !isBlank(line);
  return oldLines.filter(isGone).length;
}

/** Whether the lines around it stand in the old text in that order, with lines between them. */
function skipsLines(oldLines: readonly string[], newLines: readonly string[], at: number): boolean {
  const from = oldLines.indexOf(newLines[at - 1] ?? "");
  const to = oldLines.indexOf(newLines[at + 1] ?? "", from + 1);
  return (
    from >= 0 &&
    oldLines.slice(from + 1, Math.max(to, from + 1)).filter((line) => !isBlank(line)).length >= LEAST_GONE
  );
}
