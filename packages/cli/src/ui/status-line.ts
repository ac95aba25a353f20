import type { ApprovalMode } from "@burin/core";
import { say } from "../locales/say.ts";
import { cutLine, formatText, type Line, measureLine, type Span } from "../terminal/styled-line.ts";
import { formatDuration } from "./displays/call-lines.ts";

export interface Status {
  readonly model: string;
  readonly mode: ApprovalMode;
  readonly branch?: string;
  /** The filled share of the context window, from 0 to 1; null if the window's size is not known. */
  readonly filled?: number | null;
  readonly money?: number;
  /** How many messages wait to be sent. */
  readonly queued?: number;
  /** The working time. */
  readonly milliseconds?: number;
  /** The output of the user's own command, which replaces all this. */
  readonly own?: string | undefined;
  readonly isWorking?: boolean;
  /** Whether the model itself is working; false while only a command of the user runs. */
  readonly isModelAtWork?: boolean;
  /** A message that replaces the hint. */
  readonly message?: string;
}

/** A fact in the status line. In a narrow window, those with the highest rank are left out first. */
interface Fact {
  readonly text: string;
  readonly rank: number;
}

/**
 * Draws the status line: the model, the mode, the branch, how full the window is, the cost, the time and, at its end,
 * what the keys do.
 */
export function drawStatusLine(status: Status, hasPanel: boolean, width: number): Line {
  const { mode, isWorking, message = "" } = status;
  // The mark and the facts are below those of the prompt, or below the rows of the panel.
  const mark = hasPanel ? (isWorking ? " ◐ " : " ") : isWorking ? "◐ " : "  ";
  const drawLeft = (text: string): Line => [
    { text: mark, style: "accent" },
    { text: formatText(text), style: mode === "yolo" ? "warning" : "dim" },
  ];
  // A panel shows its own keys.
  const keys = hasPanel ? "" : say(isWorking ? "status.working" : "status.keys");
  const hint = message !== "" ? message : keys;
  const right: Span = { text: hint, style: message !== "" ? "warning" : "dim" };
  const texts = status.own === undefined ? listStatusVariants(status) : [status.own];
  // In a narrow window, drop the cost and time before the key hints.
  for (const text of texts) {
    const whole: Line = [...drawLeft(text), { text: "  " }, right];
    if (measureLine(whole) < width) return whole;
  }
  return cutLine(
    message !== "" ? [{ text: hasPanel ? " " : "  " }, right] : drawLeft(texts.at(-1) ?? ""),
    width - 1,
  );
}

/** Yields all facts, then fewer and fewer, and at last only the model and the name of the mode. */
function listStatusVariants(status: Status): string[] {
  const { model, mode, branch = "", filled = null, money = 0, queued = 0, milliseconds = 0 } = status;
  // Without a model nothing runs, in whatever mode.
  const modeInWords = model === "" ? "" : say(`mode.short.${mode}`);
  const facts: Fact[] = [
    { text: model, rank: 0 },
    { text: modeInWords, rank: 0 },
    { text: branch, rank: 4 },
    { text: filled === null ? "" : say("status.window", { percent: Math.round(filled * 100) }), rank: 2 },
    { text: money > 0 ? `$${money.toFixed(money < 0.01 ? 4 : money < 1 ? 3 : 2)}` : "", rank: 3 },
    { text: queued > 0 ? say("status.queued", { count: queued }) : "", rank: 1 },
    { text: milliseconds >= 1000 ? formatDuration(milliseconds) : "", rank: 5 },
  ];
  const texts = [5, 4, 3, 2, 1, 0].map((max) => joinTexts(facts.filter(({ rank }) => rank <= max)));
  return model === "" ? texts : [...texts, `${model} · ${mode}`];
}

function joinTexts(facts: readonly Fact[]): string {
  return facts.flatMap(({ text }) => (text === "" ? [] : [text])).join(" · ");
}
