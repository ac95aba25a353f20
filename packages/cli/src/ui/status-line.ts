import { say } from "../locales/say.ts";
import { cutLine, formatText, type Line, measureLine, type Span } from "../terminal/styled-line.ts";
import { formatDuration } from "./displays/call-lines.ts";

export interface Status {
  readonly model: string;
  readonly mode: string;
  /** How much of the window is filled, 0 to 1; null when its size is not known. */
  readonly filled?: number | null;
  readonly money?: number;
  /** Working time. */
  readonly milliseconds?: number;
  readonly isWorking?: boolean;
  /** False also while only a command of the user runs. */
  readonly isModelAtWork?: boolean;
  /** Replaces the hint. */
  readonly message?: string;
}

/** One line: the model, the mode, how full, how expensive and how long; and at its end what the keys do. */
export function drawStatusLine(status: Status, hasPanel: boolean, width: number): Line {
  const { model, mode, filled = null, money = 0, milliseconds = 0, isWorking, message = "" } = status;
  const more = [
    filled === null ? "" : say("status.window", { percent: Math.round(filled * 100) }),
    money > 0 ? `$${money.toFixed(money < 0.01 ? 4 : money < 1 ? 3 : 2)}` : "",
    milliseconds >= 1000 ? formatDuration(milliseconds) : "",
  ].filter((part) => part !== "");
  const leftWith = (count: number): Line => [
    { text: isWorking ? "◐ " : "  ", style: "accent" },
    {
      text: formatText([model, mode, ...more.slice(0, count)].filter((part) => part !== "").join(" · ")),
      style: mode === "yolo" ? "warning" : "dim",
    },
  ];
  // A panel shows its keys itself.
  const keys = hasPanel ? "" : say(isWorking ? "status.working" : "status.keys");
  const hint = message !== "" ? message : keys;
  const right: Span = { text: hint, style: message !== "" ? "warning" : "dim" };
  // In a narrow window, what the keys do is more important than the cost.
  for (let count = more.length; count >= 0; count -= 1) {
    const whole: Line = [...leftWith(count), { text: "  " }, right];
    if (measureLine(whole) < width) return whole;
  }
  return cutLine(message !== "" ? [{ text: "  " }, right] : leftWith(0), width - 1);
}
