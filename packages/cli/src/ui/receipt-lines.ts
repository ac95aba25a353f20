import { say } from "../locales/say.ts";
import type { Receipt, WorkProof } from "../state/receipt.ts";
import { type Line, lineWidth, type Span, type Style, shownText, wrapLine } from "../terminal/styled-line.ts";
import { look } from "./look.ts";

/** More checks than this are counted by the log, not by the screen. */
const MOST_CHECKS = 4;

/** What a task has changed, and what is known of it; only facts. */
export function receiptLines(receipt: Receipt, width: number): Line[] {
  const { proof, refused, edited } = receipt;
  const checks = proof.checked.slice(-MOST_CHECKS).map(checkLine);
  const stale = proof.notSince
    .slice(-MOST_CHECKS)
    .map((command) =>
      row("⚠", "warning", [name(command), { text: say("receipt.notSince"), style: "warning" }]),
    );
  const yours = [
    refused > 0 ? say("receipt.refused", { count: refused }) : "",
    edited > 0 ? say("receipt.edited", { count: edited }) : "",
  ].filter((text) => text !== "");
  const own = yours.length === 0 ? [] : [row(" ", "dim", [{ text: yours.join(" · "), style: "dim" }])];
  const rows = [...checks, ...stale, ...own].flatMap((line) => wrapLine(line, width, "    "));
  return [...changeLines(receipt, width), ...rows];
}

/** The files and lines, and beside them how to look at it and take it back. */
function changeLines({ proof: { changed }, addedLines, removedLines }: Receipt, width: number): Line[] {
  const count = changed.length;
  const words = count === 1 ? say("receipt.changedOne") : say("receipt.changed", { count });
  const head = row("✓", "good", [
    { text: words, style: "strong" },
    ...(addedLines > 0 ? [{ text: ` +${addedLines}`, style: "added" as const }] : []),
    ...(removedLines > 0 ? [{ text: ` −${removedLines}`, style: "removed" as const }] : []),
  ]);
  const keys: Line = [{ text: say("receipt.keys"), style: "dim" }];
  const gap = Math.min(width - lineWidth(head) - lineWidth(keys), 8);
  return gap >= 2 ? [[...head, { text: " ".repeat(gap) }, ...keys]] : [head, [{ text: "   " }, ...keys]];
}

function checkLine({ command, exitCode }: WorkProof["checked"][number]): Line {
  if (exitCode === null)
    return row("⚠", "warning", [name(command), { text: say("receipt.unknown"), style: "warning" }]);
  if (exitCode === 0) return row("✓", "good", [name(command), { text: say("receipt.passed"), style: "dim" }]);
  const words = say("receipt.failed", { code: exitCode });
  return row("✗", "bad", [name(command), { text: words, style: "bad" }]);
}

function name(command: string): Span {
  return { text: `${shownText(command)}  ` };
}

function row(mark: string, style: Style, spans: readonly Span[]): Line {
  return [{ text: look.isSpoken ? "" : ` ${mark} `, style }, ...spans];
}
