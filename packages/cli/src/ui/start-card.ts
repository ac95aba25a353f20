import { say } from "../locales/say.ts";
import type { StartFacts } from "../state/start-facts.ts";
import { cutLine, formatText, type Line, measureLine } from "../terminal/styled-line.ts";

/** Always as many rows as this while facts still come, so that the prompt below stays where it is. */
const ROWS = 5;

interface CardSpace {
  readonly width: number;
  /** Facts may still come. */
  readonly isOpen: boolean;
  /** The window has room for one row only. */
  readonly isLow: boolean;
}

/**
 * The card at the start: where Burin works, what is there, who answers, and what to ask first. Before anything is known
 * (undefined) its rows are kept free; with null there is none.
 */
export function drawStartCard(
  facts: StartFacts | null | undefined,
  { width, isOpen, isLow }: CardSpace,
): Line[] {
  if (facts === undefined) return isOpen ? Array.from({ length: isLow ? 1 : ROWS }, () => []) : [];
  if (facts === null) return [];
  if (isLow) return [cutLine(drawHead(facts), width)];
  const rows = [
    drawHead(facts),
    drawParts(listProjectParts(facts)),
    drawParts(listModelParts(facts)),
    [],
    drawSuggestions(facts.suggestions ?? [], width),
  ].map((line) => cutLine(line, width));
  if (isOpen) return rows;
  // What never came leaves no gap.
  const known = rows.filter((line) => line.length > 0);
  return facts.suggestions === undefined ? known : [...known.slice(0, -1), [], ...known.slice(-1)];
}

function drawHead({ version, folder }: StartFacts): Line {
  return [
    { text: `Burin ${version}`, style: "strong" },
    { text: ` · ${formatText(folder)}`, style: "dim" },
  ];
}

function listProjectParts({ branch, changes, tests }: StartFacts): string[] {
  const changed = changes === 1 ? say("start.changed") : say("start.changes", { count: changes ?? 0 });
  return [
    branch ?? "",
    changes === undefined ? "" : changes === 0 ? say("start.clean") : changed,
    tests === undefined ? "" : say("start.tests", { command: tests }),
  ];
}

function listModelParts({ model, mode, context }: StartFacts): string[] {
  const file = context === null ? say("start.noContext") : (context ?? "");
  return [model ?? "", mode ?? "", file];
}

function drawParts(parts: readonly string[]): Line {
  const text = parts.filter((part) => part !== "").join(" · ");
  return text === "" ? [] : [{ text: `  ${formatText(text)}`, style: "dim" }];
}

/** As many suggestions as fit whole. */
function drawSuggestions(suggestions: readonly string[], width: number): Line {
  let line: Line = [{ text: `  ${say("start.try")}`, style: "dim" }];
  for (const [index, text] of suggestions.entries()) {
    const more: Line = [{ text: `  ${index + 1} `, style: "accent" }, { text }];
    if (measureLine([...line, ...more]) > width && index > 0) break;
    line = [...line, ...more];
  }
  return suggestions.length === 0 ? [] : line;
}
