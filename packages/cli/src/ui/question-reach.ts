import type { QuestionView } from "@burin/core";
import { type CommandLimits, type CommandPart, classifyWarning, type Effect } from "@burin/core/internal";
import type { TextKey } from "../locales/en.ts";
import { say } from "../locales/say.ts";
import {
  formatText,
  type Line,
  measureLine,
  type Span,
  type Style,
  wrapLine,
} from "../terminal/styled-line.ts";
import { look } from "./look.ts";

/** The longest command with its effects next to it: with a longer one they would be too far away. */
const WIDEST_PART = 44;

/** The maximum number of parts without a question that are listed; more are only counted. */
const MAX_ALLOWED = 3;

type Subject = QuestionView["subjects"][number];

/** Lists what each part would do, the worst first. Marks destruction and what is outside the project. */
export function drawReach({ reach }: QuestionView, width: number): Line[] {
  const [only] = reach;
  if (only === undefined) return [];
  if (reach.length === 1) {
    const words = describeEffects(only);
    return words === ""
      ? []
      : wrapLine([drawMark(only), { text: words, style: chooseStyle(only) }], width, "  ");
  }
  const allowed = reach.filter(({ asks }) => !asks);
  const shown = allowed.length > MAX_ALLOWED ? reach.filter(({ asks }) => asks) : reach;
  const column = Math.min(Math.max(...shown.map(({ text }) => formatText(text).length)), WIDEST_PART);
  const rows = shown.flatMap((part) => drawPart(part, column, width));
  if (shown.length === reach.length) return rows;
  const more = `  ${say("reach.ok")} ${say("reach.more", { count: allowed.length })}`;
  return [...rows, ...wrapLine([{ text: more, style: "dim" }], width, "  ")];
}

function drawPart(part: CommandPart, column: number, width: number): Line[] {
  const state = say(part.asks ? "reach.ask" : "reach.ok").padEnd(say("reach.ask").length);
  const head: Line = [drawMark(part), { text: `${state}  `, style: "dim" }, { text: formatText(part.text) }];
  const effect: Span = { text: describeEffects(part), style: chooseStyle(part) };
  const lead = measureLine(head) - formatText(part.text).length;
  const gap = " ".repeat(Math.max(lead + column + 3 - measureLine(head), 0));
  const beside: Line = [...head, { text: gap }, effect];
  if (gap !== "" && measureLine(beside) <= width) return [beside];
  const hang = " ".repeat(lead);
  return [...wrapLine(head, width, hang), ...wrapLine([{ text: hang }, effect], width, hang)];
}

function drawMark(part: CommandPart): Span {
  const isBad = part.effects.some((effect) => classifyWarning(effect) !== null);
  return { text: isBad ? "! " : "  ", style: "bad" };
}

function chooseStyle({ asks, effects }: CommandPart): Style | undefined {
  if (effects.some((effect) => classifyWarning(effect) !== null)) return "bad";
  return asks && effects.some(({ kind }) => kind === "network") ? "warning" : "dim";
}

function describeEffects({ asks, effects, rule }: CommandPart): string {
  if (effects.length > 0) return effects.map(describeEffect).join("; ");
  if (asks) return "";
  return say(rule === undefined ? "reach.reads" : "reach.rule");
}

function describeEffect({ kind, on, isOutside }: Effect): string {
  const named = on.length > 0;
  const where = isOutside && kind !== "sends" ? "Outside" : "";
  const key = `effect.${kind}${where}${named || !HAVE_BARE.has(kind) ? "" : "Bare"}` as TextKey;
  return say(key, { on: on.map(formatText).join(", ") });
}

/** Effects that also occur without naming a target. */
const HAVE_BARE: ReadonlySet<Effect["kind"]> = new Set(["sends", "changes", "reads", "network"]);

/** Describes what the sandbox lets a command do, as far as that is known. */
export function drawLimits(
  { limits, reach }: QuestionView,
  { hosts, keepsUndo }: { readonly hosts: readonly string[]; readonly keepsUndo: boolean },
  width: number,
): Line[] {
  if (limits === undefined) return [];
  if (limits.writes === "everywhere") {
    const why = limits.reason;
    const text = why === undefined ? say("question.unlimited") : say("sandbox.off", { why: formatText(why) });
    return wrapLine([{ text, style: "warning" }], width);
  }
  const undo = limits.writes === "project" ? describeUndo(reach, keepsUndo) : null;
  const network: Span = { text: describeNetwork(limits, hosts), style: "dim" };
  const facts: Span[] = [
    { text: say("sandbox.facts", { facts: say(`sandbox.${limits.writes}`) }), style: "dim" },
    // A warning stays in the first row, however many hosts there are.
    ...(undo?.style === "warning" ? [undo, network] : undo ? [network, undo] : [network]),
  ];
  return joinFacts(facts, width).flatMap((line) => wrapLine(line, width));
}

/** Joins facts to rows that break between two facts, because not every language has spaces to break at. */
function joinFacts(facts: readonly Span[], width: number): Line[] {
  const rows: Line[] = [];
  for (const fact of facts) {
    const joined: Line = [...(rows.at(-1) ?? []), { text: " · ", style: "dim" }, fact];
    if (rows.length > 0 && measureLine(joined) <= width) rows[rows.length - 1] = joined;
    else rows.push([fact]);
  }
  return rows;
}

/** What undo gives back exactly: changes in the project that destroy nothing and fetch nothing. */
const UNDOABLE: ReadonlySet<Effect["kind"]> = new Set(["writes", "changes", "protected", "reads"]);

/** Says whether undo could take the command back, as far as its words tell; null if they do not. A no is a warning. */
function describeUndo(reach: readonly CommandPart[], keepsUndo: boolean): Span | null {
  const effects = reach.flatMap((part) => part.effects);
  const leaves = ({ kind, isOutside }: Effect) => kind === "sends" || (isOutside && kind !== "reads");
  if (!keepsUndo || effects.some(leaves)) return { text: say("sandbox.noUndo"), style: "warning" };
  const isUndoable = effects.length > 0 && effects.every(({ kind }) => UNDOABLE.has(kind));
  return isUndoable ? { text: say("sandbox.undo"), style: "dim" } : null;
}

function describeNetwork({ network }: CommandLimits, hosts: readonly string[]): string {
  if (network === "hosts") return say("sandbox.hosts", { hosts: hosts.map(formatText).join(", ") });
  return say(`sandbox.${network === "offered" ? "none" : network}`);
}

/** Counts the parts with the worst kind of effect, to be shown in the title. */
export function drawWarning({ warning }: QuestionView): Line {
  if (warning === null) return [];
  const { kind, count, all } = warning;
  const what = say(count === 1 ? `warn.${kind}` : `warn.${kind}Many`);
  const words = all === 1 ? what : say(count === 1 ? "warn.one" : "warn.many", { count, all, what });
  return [{ text: `${look.isSpoken ? "" : "⚠ "}${words}`, style: kind === "protected" ? "warning" : "bad" }];
}

/** Lists what an "always" would cover. */
export function describeSubjects(subjects: readonly Subject[], maxSubjects: number): string {
  const shown = subjects.slice(0, subjects.length > maxSubjects ? maxSubjects - 1 : maxSubjects);
  const more = subjects.length > shown.length ? [`… +${subjects.length - shown.length}`] : [];
  return [...shown.map(describeSubject), ...more].join(", ");
}

export function describeSubject({ kind, what }: Subject): string {
  return say(`grant.${kind}`, { what: formatText(what) });
}
