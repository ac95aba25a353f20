import { say } from "../locales/say.ts";
import type { StartFacts } from "../state/start-facts.ts";
import { cutLine, formatText, type Line, measureLine } from "../terminal/styled-line.ts";

/** The card's height while facts may still arrive. It is fixed so that the prompt below does not move. */
const ROWS = 5;

interface CardSpace {
  readonly width: number;
  /** true while facts may still arrive. */
  readonly isOpen: boolean;
  /** true if the window has room for only one row. */
  readonly isLow: boolean;
}

/**
 * Draws the start card: the folder and what is in it, the model, and suggested prompts. While `facts` is undefined, the
 * rows are kept free; with null there is no card.
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
  // Facts that never arrived leave no gap.
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
  return [
    branch ?? "",
    changes === undefined ? "" : say(changes === 0 ? "start.clean" : "start.changes", { count: changes }),
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

/** Lists as many suggestions as fit completely. */
function drawSuggestions(suggestions: readonly string[], width: number): Line {
  let line: Line = [{ text: `  ${say("start.try")}`, style: "dim" }];
  for (const [index, text] of suggestions.entries()) {
    const more: Line = [{ text: `  ${index + 1} `, style: "accent" }, { text }];
    if (measureLine([...line, ...more]) > width && index > 0) break;
    line = [...line, ...more];
  }
  return suggestions.length === 0 ? [] : line;
}
