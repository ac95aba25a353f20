import { visibleCommand, visibleText } from "@burin/contract/text/visible-text";
import type {
  ChoiceQuestion,
  CommandLimits,
  CommandPart,
  Confirmation,
  Effect,
  EffectKind,
  GrantWidth,
  GrantWidths,
} from "@burin/contract/tools";
import { withFallback } from "@burin/contract/with-fallback";
import { type GrantSubject, listGrantSubjects } from "./grant-subjects.ts";

/** A question as a user sees it. Every string is safe to show, and everything that is left out is counted. */
export interface QuestionView {
  readonly title: string;
  /** What the call would reach, resolved: the file, the folder, the hosts, or the server and its tool. */
  readonly target: readonly string[];
  /** The diff, command, prompt, arguments or plan, line by line. */
  readonly lines: readonly string[];
  /** The simple commands of a command line; empty if it has only one. */
  readonly parts: readonly string[];
  /** What the parts of a command would do, worst first. Empty if that is not known. */
  readonly reach: readonly CommandPart[];
  /** How many of the parts do the worst kind of thing; null if none deserves a warning. */
  readonly warning: ReachWarning | null;
  /** The limits that the sandbox puts on a command. */
  readonly limits?: CommandLimits;
  /** The rules that an "always" would store. If empty, "always" must not be offered. */
  readonly grants: readonly string[];
  /** What these rules cover. */
  readonly subjects: readonly GrantSubject[];
  /** The rules and subjects by width, narrowest first, if the user can choose. */
  readonly widths?: readonly {
    readonly width: GrantWidth;
    readonly grants: readonly string[];
    readonly subjects: readonly GrantSubject[];
  }[];
  /** The number of lines that are left out in the middle of a long question. */
  readonly omittedLines: number;
}

export interface ReachWarning {
  readonly kind: "leaves" | "destroys" | "protected";
  readonly count: number;
  /** The number of all parts. */
  readonly all: number;
}

export interface ViewLimits {
  readonly maxLines?: number;
  /** The maximum number of characters of one line. */
  readonly maxCharacters?: number;
}

const MAX_LINES = 200;
const MAX_CHARACTERS = 2000;
/** A longer run of spaces or empty lines could push important text out of sight. */
const LONG_SPACES = /[\t\p{Zs}\u2800]{41,}/gu;
const MAX_EMPTY_LINES = 5;

/** Returns what every front end shows of a Confirmation, from the real parameters. Raise the limits to get it all. */
export function buildQuestionView(question: Confirmation, limits: ViewLimits = {}): QuestionView {
  const { maxLines = MAX_LINES, maxCharacters = MAX_CHARACTERS } = limits;
  const { target, text, parts = [] } = readQuestionContent(question);
  const show = question.kind === "exec" ? visibleCommand : visibleText;
  const all = question.kind === "edit" ? text.split("\n") : collapseEmptyLines(text);
  const kept = cutMiddle(all, maxLines);
  const formatLine = (each: string) => {
    const shown = show(each);
    return shortenLine(question.kind === "edit" ? shown : collapseLongSpaces(shown), maxCharacters);
  };
  const formatOneLine = (each: string) => collapseLongSpaces(formatLine(each.replace(/\n/g, "\\n")));
  const formatRule = (grant: string) => show(grant.replace(/\n/g, "\\n"));
  const counted = kept.omitted === 0 ? [] : [`[... ${kept.omitted} lines not shown ...]`];
  return {
    title: formatOneLine(question.title),
    target: target.map(formatOneLine),
    lines: [...kept.head.map(formatLine), ...counted, ...kept.tail.map(formatLine)],
    parts: parts.map(formatOneLine),
    ...collectReach(question, formatOneLine),
    grants: question.grants.map(formatRule),
    subjects: listGrantSubjects(question.grants.map(formatRule)),
    ...(question.widths && { widths: listWidths(question.widths, formatRule) }),
    omittedLines: kept.omitted,
  };
}

function collectReach(question: Confirmation, show: (text: string) => string) {
  if (question.kind !== "exec") return { reach: [], warning: null };
  const { limits, reach = [] } = question;
  const parts = reach.map((part) => ({
    ...part,
    // Parts are shortened, because the command itself is shown in full.
    text: shortenLine(show(part.text), LONGEST_PART),
    effects: part.effects.map((effect) => ({ ...effect, on: listNames(effect.on, show) })),
  }));
  return { reach: parts, warning: findWarning(reach), ...(limits && { limits }) };
}

const LONGEST_PART = 160;
const LONGEST_NAME = 80;
const MAX_NAMES = 6;

function listNames(names: readonly string[], show: (text: string) => string): string[] {
  const shown = names.slice(0, MAX_NAMES).map((name) => shortenLine(show(name), LONGEST_NAME));
  return names.length > MAX_NAMES ? [...shown, `… +${names.length - MAX_NAMES}`] : shown;
}

const WARNED: Readonly<Partial<Record<EffectKind, ReachWarning["kind"]>>> = {
  deletes: "destroys",
  discards: "destroys",
  protected: "protected",
};

/** Returns the kind of warning that an effect deserves; null for an ordinary effect. */
export function classifyWarning({ kind, isOutside }: Effect): ReachWarning["kind"] | null {
  return isOutside ? "leaves" : (WARNED[kind] ?? null);
}

function findWarning(reach: readonly CommandPart[]): ReachWarning | null {
  for (const kind of ["leaves", "destroys", "protected"] as const) {
    const hasEffectWithWarning = ({ effects }: CommandPart) =>
      effects.some((effect) => classifyWarning(effect) === kind);
    const count = reach.filter(hasEffectWithWarning).length;
    if (count > 0) return { kind, count, all: reach.length };
  }
  return null;
}

function listWidths(
  widths: GrantWidths,
  show: (rule: string) => string,
): NonNullable<QuestionView["widths"]> {
  return (["exact", "wide", "all"] as const).flatMap((width) => {
    const grants = widths[width];
    if (grants === undefined) return [];
    const shown = grants.map(show);
    return [{ width, grants: shown, subjects: listGrantSubjects(shown) }];
  });
}

/** Formats the reason for a question as one short line. It may quote the command, which is shown in full anyway. */
export function formatReason(reason: string): string {
  return shortenLine(collapseLongSpaces(visibleCommand(reason.replace(/\n/g, "\\n"))), 500);
}

function readQuestionContent(question: Confirmation) {
  switch (question.kind) {
    case "edit":
      return { target: [question.path], text: removeCarriageReturns(question.diff.fileDiff) };
    case "exec": {
      const { command, directory, parts } = question;
      const target = directory === undefined ? [] : [directory];
      return { target, text: command, parts: parts.length > 1 ? parts : [] };
    }
    case "info": {
      const { prompt, urls, folder } = question;
      // The hosts as they are really contacted: letters of other scripts in their ASCII form.
      const target = urls.map((url) => withFallback(url, () => new URL(url).host));
      return { target: folder === undefined ? target : [folder], text: [prompt, ...urls].join("\n") };
    }
    case "mcp":
      return {
        target: [`${question.server}: ${question.tool}`],
        text: [...(question.changes ?? []), formatJson(question.args)].join("\n"),
      };
    case "discovered":
      return { target: [question.command], text: formatJson(question.args) };
    case "plan":
      return { target: [], text: question.plan };
    case "form": {
      const { server, message, schema, questions } = question;
      if (questions !== undefined) return { target: [], text: questions.map(describeQuestion).join("\n\n") };
      return { target: [server], text: `${message}\n${formatJson(schema.properties)}` };
    }
  }
}

/** Formats a question from the model with its choices, each with the number that selects it. */
function describeQuestion({ question, choices, multiple }: ChoiceQuestion): string {
  const rows = choices.map(({ label, description }, index) => {
    return `  ${index + 1} ${label}${description === undefined ? "" : `: ${description}`}`;
  });
  return [`${question}${multiple ? " (several are possible)" : ""}`, ...rows].join("\n");
}

function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** Removes carriage returns if every changed line has one, because then they mean nothing. */
function removeCarriageReturns(diff: string): string {
  const changed = diff.split("\n").filter((line) => /^[ +-](?!--|\+\+)/.test(line));
  return changed.every((line) => line.endsWith("\r")) ? diff.replace(/\r\n/g, "\n") : diff;
}

function collapseEmptyLines(text: string): string[] {
  const lines: string[] = [];
  let empty = 0;
  for (const line of [...text.split("\n"), null]) {
    if (line !== null && /^[\s\u2800]*$/.test(line)) {
      empty += 1;
      continue;
    }
    if (empty > MAX_EMPTY_LINES) lines.push(`[${empty} empty lines]`);
    else lines.push(...Array<string>(empty).fill(""));
    empty = 0;
    if (line !== null) lines.push(line);
  }
  return lines;
}

function collapseLongSpaces(line: string): string {
  return line.replace(LONG_SPACES, (spaces) => `[${spaces.length} spaces]`);
}

function cutMiddle(lines: readonly string[], maxCount: number) {
  if (lines.length <= maxCount) return { head: lines, tail: [], omitted: 0 };
  const tail = Math.floor(maxCount / 2);
  const head = maxCount - tail;
  return {
    head: lines.slice(0, head),
    tail: tail === 0 ? [] : lines.slice(-tail),
    omitted: lines.length - head - tail,
  };
}

function shortenLine(line: string, maxCharacters: number): string {
  const characters = line.length <= maxCharacters ? [] : [...line];
  if (characters.length <= maxCharacters) return line;
  const { head, tail, omitted } = cutMiddle(characters, maxCharacters);
  return `${head.join("")}[... ${omitted} characters not shown ...]${tail.join("")}`;
}
