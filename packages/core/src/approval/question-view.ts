import { orElse } from "@burin/contract/or-else";
import { visibleCommand, visibleText } from "@burin/contract/text/visible-text";
import type {
  AskedQuestion,
  CommandLimits,
  Confirmation,
  Effect,
  EffectKind,
  GrantWidth,
  GrantWidths,
  PartReach,
} from "@burin/contract/tools";
import { type GrantSubject, grantSubjects } from "./grant-subjects.ts";

/** A question as a user sees it: every string is safe to show, and everything left out is counted. */
export interface QuestionView {
  readonly title: string;
  /** What it would reach, resolved: the file, the folder, the hosts, the server and its tool. */
  readonly target: readonly string[];
  /** The diff, the command, the prompt, the arguments or the plan, line by line. */
  readonly lines: readonly string[];
  /** The simple commands of a command line that has more than one. */
  readonly parts: readonly string[];
  /** What the parts of a command would do, worst first; empty where that is not known. */
  readonly reach: readonly PartReach[];
  /** How many of them do the worst kind of thing; null where none leaves the project or destroys anything. */
  readonly warning: ReachWarning | null;
  /** What the sandbox lets a command do. */
  readonly limits?: CommandLimits;
  /** The rules that "always" would store; without any, "always" must not be offered. */
  readonly grants: readonly string[];
  /** What these rules are about. */
  readonly subjects: readonly GrantSubject[];
  /** The same by their width, narrowest first, where the user can choose. */
  readonly widths?: readonly {
    readonly width: GrantWidth;
    readonly grants: readonly string[];
    readonly subjects: readonly GrantSubject[];
  }[];
  /** The number of lines left out in the middle of a long question. */
  readonly omittedLines: number;
}

export interface ReachWarning {
  readonly kind: "leaves" | "destroys" | "protected";
  readonly count: number;
  /** Of so many parts. */
  readonly all: number;
}

export interface ViewLimits {
  readonly mostLines?: number;
  /** Of one line. */
  readonly mostCharacters?: number;
}

const MOST_LINES = 200;
const MOST_CHARACTERS = 2000;
/** That many spaces or empty lines could push important text out of sight. */
const LONG_SPACES = /[\t\p{Zs}\u2800]{41,}/gu;
const MOST_EMPTY_LINES = 5;

/** What every face shows of a Confirmation, from the real parameters. Raise the limits to see all of it. */
export function questionView(question: Confirmation, limits: ViewLimits = {}): QuestionView {
  const { mostLines = MOST_LINES, mostCharacters = MOST_CHARACTERS } = limits;
  const { target, text, parts = [] } = contentOf(question);
  const show = question.kind === "exec" ? visibleCommand : visibleText;
  const all = question.kind === "edit" ? text.split("\n") : withoutPadding(text);
  const kept = middleOut(all, mostLines);
  const line = (each: string) => {
    const shown = show(each);
    return shortened(question.kind === "edit" ? shown : withoutLongSpaces(shown), mostCharacters);
  };
  const oneLine = (each: string) => withoutLongSpaces(line(each.replace(/\n/g, "\\n")));
  const rule = (grant: string) => show(grant.replace(/\n/g, "\\n"));
  const counted = kept.omitted === 0 ? [] : [`[... ${kept.omitted} lines not shown ...]`];
  return {
    title: oneLine(question.title),
    target: target.map(oneLine),
    lines: [...kept.head.map(line), ...counted, ...kept.tail.map(line)],
    parts: parts.map(oneLine),
    ...reachOf(question, oneLine),
    grants: question.grants.map(rule),
    subjects: grantSubjects(question.grants.map(rule)),
    ...(question.widths && { widths: widthsOf(question.widths, rule) }),
    omittedLines: kept.omitted,
  };
}

function reachOf(question: Confirmation, show: (text: string) => string) {
  if (question.kind !== "exec") return { reach: [], warning: null };
  const { limits, reach = [] } = question;
  const parts = reach.map((part) => ({
    ...part,
    // The command itself is shown whole.
    text: shortened(show(part.text), LONGEST_PART),
    effects: part.effects.map((effect) => ({ ...effect, on: namesOf(effect.on, show) })),
  }));
  return { reach: parts, warning: warningOf(reach), ...(limits && { limits }) };
}

const LONGEST_PART = 160;
const LONGEST_NAME = 80;
const MOST_NAMES = 6;

function namesOf(names: readonly string[], show: (text: string) => string): string[] {
  const shown = names.slice(0, MOST_NAMES).map((name) => shortened(show(name), LONGEST_NAME));
  return names.length > MOST_NAMES ? [...shown, `… +${names.length - MOST_NAMES}`] : shown;
}

const WARNED: Readonly<Partial<Record<EffectKind, ReachWarning["kind"]>>> = {
  deletes: "destroys",
  discards: "destroys",
  protected: "protected",
};

/** What an effect is warned of as; null for an ordinary one. */
export function warningFor({ kind, isOutside }: Effect): ReachWarning["kind"] | null {
  return isOutside ? "leaves" : (WARNED[kind] ?? null);
}

function warningOf(reach: readonly PartReach[]): ReachWarning | null {
  for (const kind of ["leaves", "destroys", "protected"] as const) {
    const has = ({ effects }: PartReach) => effects.some((effect) => warningFor(effect) === kind);
    const count = reach.filter(has).length;
    if (count > 0) return { kind, count, all: reach.length };
  }
  return null;
}

function widthsOf(widths: GrantWidths, show: (rule: string) => string): NonNullable<QuestionView["widths"]> {
  return (["exact", "wide", "all"] as const).flatMap((width) => {
    const grants = widths[width];
    if (grants === undefined) return [];
    const shown = grants.map(show);
    return [{ width, grants: shown, subjects: grantSubjects(shown) }];
  });
}

/** Why a question is asked, in a line that is never long: it may quote the command, which the question itself shows whole. */
export function shownReason(reason: string): string {
  return shortened(withoutLongSpaces(visibleCommand(reason.replace(/\n/g, "\\n"))), 500);
}

function contentOf(question: Confirmation) {
  switch (question.kind) {
    case "edit":
      return { target: [question.path], text: withoutLineEnds(question.diff.fileDiff) };
    case "exec": {
      const { command, directory, parts } = question;
      const target = directory === undefined ? [] : [directory];
      return { target, text: command, parts: parts.length > 1 ? parts : [] };
    }
    case "info": {
      const { prompt, urls } = question;
      // As they are really contacted: letters of other scripts in their ASCII form.
      const target = urls.map((url) => orElse(url, () => new URL(url).host));
      return { target, text: [prompt, ...urls].join("\n") };
    }
    case "mcp":
      return {
        target: [`${question.server}: ${question.tool}`],
        text: [...(question.changes ?? []), shownJson(question.args)].join("\n"),
      };
    case "discovered":
      return { target: [question.command], text: shownJson(question.args) };
    case "plan":
      return { target: [], text: question.plan };
    case "form": {
      const { server, message, schema, questions } = question;
      if (questions !== undefined) return { target: [], text: questions.map(questionInWords).join("\n\n") };
      return { target: [server], text: `${message}\n${shownJson(schema.properties)}` };
    }
  }
}

/** A question of the model with its choices, each with the number that answers it. */
function questionInWords({ question, choices, multiple }: AskedQuestion): string {
  const rows = choices.map(({ label, description }, index) => {
    return `  ${index + 1} ${label}${description === undefined ? "" : `: ${description}`}`;
  });
  return [`${question}${multiple ? " (several are possible)" : ""}`, ...rows].join("\n");
}

function shownJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** Removes carriage returns when every line has one, because then they mean nothing. */
function withoutLineEnds(diff: string): string {
  const changed = diff.split("\n").filter((line) => /^[ +-](?!--|\+\+)/.test(line));
  return changed.every((line) => line.endsWith("\r")) ? diff.replace(/\r\n/g, "\n") : diff;
}

function withoutPadding(text: string): string[] {
  const lines: string[] = [];
  let empty = 0;
  for (const line of [...text.split("\n"), null]) {
    if (line !== null && /^[\s\u2800]*$/.test(line)) {
      empty += 1;
      continue;
    }
    if (empty > MOST_EMPTY_LINES) lines.push(`[${empty} empty lines]`);
    else lines.push(...Array<string>(empty).fill(""));
    empty = 0;
    if (line !== null) lines.push(line);
  }
  return lines;
}

function withoutLongSpaces(line: string): string {
  return line.replace(LONG_SPACES, (spaces) => `[${spaces.length} spaces]`);
}

function middleOut(lines: readonly string[], most: number) {
  if (lines.length <= most) return { head: lines, tail: [], omitted: 0 };
  const tail = Math.floor(most / 2);
  const head = most - tail;
  return {
    head: lines.slice(0, head),
    tail: tail === 0 ? [] : lines.slice(-tail),
    omitted: lines.length - head - tail,
  };
}

function shortened(line: string, most: number): string {
  const characters = line.length <= most ? [] : [...line];
  if (characters.length <= most) return line;
  const { head, tail, omitted } = middleOut(characters, most);
  return `${head.join("")}[... ${omitted} characters not shown ...]${tail.join("")}`;
}
