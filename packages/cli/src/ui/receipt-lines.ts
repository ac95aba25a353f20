import { say } from "../locales/say.ts";
import type { Receipt, WorkProof } from "../state/receipt.ts";
import {
  formatText,
  type Line,
  measureLine,
  type Span,
  type Style,
  wrapLine,
} from "../terminal/styled-line.ts";
import { drawDiffSummary } from "./displays/file-diff.ts";
import { look } from "./look.ts";

const GAP: Span = { text: "  " };

/** The maximum number of checks that are shown; the log has all of them. */
const MAX_CHECKS = 4;

/** Describes what a task has changed and what is known about the result. States only facts. */
export function drawReceipt(receipt: Receipt, width: number): Line[] {
  const { proof, refused, edited } = receipt;
  const checks = proof.checked.slice(-MAX_CHECKS).map(drawCheck);
  const stale = proof.notSince
    .slice(-MAX_CHECKS)
    .map((command) =>
      drawRow("⚠", "warning", [drawName(command), { text: say("receipt.notSince"), style: "warning" }]),
    );
  const yours = [
    refused > 0 ? say("receipt.refused", { count: refused }) : "",
    edited > 0 ? say("receipt.edited", { count: edited }) : "",
  ].filter((text) => text !== "");
  const own = yours.length === 0 ? [] : [drawRow(" ", "dim", [{ text: yours.join(" · "), style: "dim" }])];
  const rows = [...checks, ...stale, ...own].flatMap((line) => wrapLine(line, width, "   "));
  return [...drawChange(receipt, width), ...rows];
}

/** Counts the changed files and lines, and says how to view and undo the changes. */
function drawChange({ proof: { changed }, addedLines, removedLines }: Receipt, width: number): Line[] {
  const count = changed.length;
  const words = say("receipt.changed", { count });
  const head = drawRow("✓", "good", [
    { text: words, style: "strong" },
    ...(addedLines + removedLines > 0 ? [GAP, ...drawDiffSummary({ addedLines, removedLines })] : []),
  ]);
  const keys: Line = [{ text: say("receipt.keys"), style: "dim" }];
  const gap = Math.min(width - measureLine(head) - measureLine(keys), 8);
  if (gap >= 2) return [[...head, { text: " ".repeat(gap) }, ...keys]];
  return [head, ...wrapLine([{ text: "   " }, ...keys], width, "   ")];
}

function drawCheck({ command, exitCode }: WorkProof["checked"][number]): Line {
  if (exitCode === null)
    return drawRow("⚠", "warning", [drawName(command), { text: say("receipt.unknown"), style: "warning" }]);
  if (exitCode === 0)
    return drawRow("✓", "good", [drawName(command), { text: say("receipt.passed"), style: "dim" }]);
  const words = say("receipt.failed", { code: exitCode });
  return drawRow("✗", "bad", [drawName(command), { text: words, style: "bad" }]);
}

function drawName(command: string): Span {
  return { text: `${formatText(command)}  ` };
}

function drawRow(mark: string, style: Style, spans: readonly Span[]): Line {
  return [{ text: look.isSpoken ? "" : ` ${mark} `, style }, ...spans];
}
