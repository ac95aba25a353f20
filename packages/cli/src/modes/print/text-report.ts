import type { AgentEvent, ToolDisplay } from "@burin/core";
import type { CacheMiss } from "@burin/core/sessions";
import type { CommonOptions } from "../../request/options.ts";
import { escapeKeepingJoiners } from "../../terminal/joined-text.ts";
import { formatCount, formatNote, type Output, visible } from "../../terminal/output.ts";
import type { RunDocument } from "./run-document.ts";

type Call = Extract<AgentEvent, { type: "tool_call" }>["call"];

/**
 * Reports a run as text: the final answer on stdout, everything else on stderr. At a terminal the model's text appears
 * as it arrives. Otherwise the text before a call goes to stderr, so that stdout gets only the answer.
 */
export class TextReport {
  readonly #output: Output;
  readonly #options: Pick<CommonOptions, "outputFormat" | "isQuiet">;
  /** The part of the model's text since its last call that was not shown. */
  #words = "";
  #lastShown = "\n";
  /** The error messages of failed calls that were already shown. */
  readonly #told = new Set<string>();
  /** The rules that would have allowed the calls that were refused. */
  readonly #rules = new Set<string>();

  constructor(options: Pick<CommonOptions, "outputFormat" | "isQuiet">, output: Output) {
    this.#options = options;
    this.#output = output;
  }

  get #isJson(): boolean {
    return this.#options.outputFormat === "json";
  }

  get #isLive(): boolean {
    return this.#output.isTerminal && !this.#isJson && !this.#options.isQuiet;
  }

  reportEvent(event: AgentEvent): void {
    if (event.type === "notice") this.#printNote(formatNote(event.message));
    if (event.type === "text" && event.role === "model") this.#addText(event.text);
    if (event.type === "tool_call") this.#noteRefusal(event.call);
    if (event.type === "tool_call" && !this.#options.isQuiet) this.#printCall(event.call);
  }

  /** Prints the rest of the report at the end of the run. */
  async end(document: RunDocument): Promise<void> {
    const { result, confirmation, error, turns } = document;
    if (this.#isJson) this.#output.out(`${JSON.stringify(document)}\n`);
    else if (!this.#isLive && result !== "") this.#output.content(`${result.replace(/\n$/, "")}\n`);
    this.#endLine();
    if (confirmation && !this.#isJson) {
      const { formatQuestion } = await import("../../terminal/question-text.ts");
      this.#output.note(formatQuestion(confirmation));
    }
    if (error && !this.#told.has(error.message)) this.#output.note(formatNote(error.message));
    if (error && this.#rules.size > 0) {
      const rules = [...this.#rules].map((rule) => ` --allow '${visible(rule)}'`).join("");
      this.#output.note(`burin: to run it unasked:${rules}, or --yes for everything`);
    }
    if (this.#isJson || this.#options.isQuiet) return;
    for (const line of describeProof(document)) this.#printDimmed(visible(line));
    if (turns > 0) this.#printDimmed(describeCost(document));
  }

  #noteRefusal(call: Call): void {
    if (call.status !== "error" || call.error.type !== "needs_approval") return;
    const { widths, grants = [] } = call.confirmation ?? {};
    for (const rule of widths?.exact ?? grants) this.#rules.add(rule);
  }

  #addText(text: string): void {
    if (!this.#isLive) {
      this.#words += text;
      return;
    }
    this.#output.content(text);
    this.#lastShown = text.at(-1) ?? this.#lastShown;
  }

  #printCall(call: Call): void {
    const words = this.#words.trim();
    this.#words = "";
    if (words !== "") this.#printNote(escapeKeepingJoiners(words));
    if (call.status === "executing" && call.display === undefined) {
      this.#printDimmed(`> ${visible(call.description)}`);
    }
    if (call.status === "success" && !this.#isJson) {
      const text = formatDisplay(call.returnDisplay);
      if (text !== "") this.#printDimmed(text);
    }
    if (call.status === "error" || call.status === "cancelled") {
      this.#told.add(call.error.message);
      this.#printDimmed(`! ${visible(call.error.message)}`);
    }
  }

  #printDimmed(text: string): void {
    this.#printNote(this.#output.styled("dim", text));
  }

  #printNote(text: string): void {
    this.#endLine();
    this.#output.note(text);
  }

  /** Ends the current line if the streamed text stopped in the middle of it. */
  #endLine(): void {
    if (this.#lastShown !== "\n") this.#output.content("\n");
    this.#lastShown = "\n";
  }
}

/** Says which tests and builds ran after the last change of a file. Empty if no file was changed. */
function describeProof({ proof, check }: RunDocument): string[] {
  const lines: string[] = [];
  if (proof) {
    const ran = proof.checked.map(({ command, exitCode }) => `${command} (${describeEnd(exitCode)})`);
    const since = ran.length > 0 ? `ran since: ${ran.join(", ")}` : "no test or build ran since";
    const not = proof.notSince.length > 0 ? `; not again since: ${proof.notSince.join(", ")}` : "";
    lines.push(`${formatCount(proof.changed.length, "file")} changed; ${since}${not}`);
  }
  if (check)
    lines.push(
      `check ${check.command}: ${check.passed ? "passes" : "fails"} (${describeEnd(check.exitCode)})`,
    );
  return lines;
}

function describeEnd(exitCode: number | null): string {
  return exitCode === null ? "exit code not known" : `exit code ${exitCode}`;
}

/** Why the service could not use its cache. */
const MISSED: Readonly<Record<CacheMiss["reason"], string>> = {
  model: "another model was asked",
  tools: "the tools changed",
  compaction: "the conversation was shortened",
  pause: "the pause was longer than they are kept",
};

function describeCost({ toolCalls, usage, durationMs }: RunDocument): string {
  const calls = formatCount(toolCalls.length, "tool call");
  const { inputTokens, outputTokens, cachedTokens, cacheMisses = [], cost } = usage;
  const isCounted = inputTokens + outputTokens > 0;
  const hits = cachedTokens > 0 ? [`${cachedTokens} from the cache`] : [];
  const misses = cacheMisses.map(({ tokens, reason }) => `${tokens} not any more: ${MISSED[reason]}`);
  const cached = hits.length + misses.length > 0 ? ` (${[...hits, ...misses].join("; ")})` : "";
  const tokens = isCounted ? `, ${inputTokens} tokens read${cached}, ${outputTokens} written` : "";
  const money = cost === undefined ? "" : `, $${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
  return `${(durationMs / 1000).toFixed(1)} s, ${calls}${tokens}${money}`;
}

const HEAD_LINES = 8;
const TAIL_LINES = 4;
const MAX_CHARACTERS = 200;
const MARKS = { pending: " ", in_progress: ">", completed: "x" };

/** Formats a tool's display as a few indented lines that are safe for a terminal. */
function formatDisplay(display: ToolDisplay): string {
  const lines = listDisplayLines(display);
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  const shown =
    left <= 1 ? lines : [...lines.slice(0, HEAD_LINES), `[${left} lines]`, ...lines.slice(-TAIL_LINES)];
  return shown.map((line) => `  ${escapeKeepingJoiners(shortenLine(line))}`).join("\n");
}

function listDisplayLines(display: ToolDisplay): string[] {
  if (typeof display === "string") return splitLines(display);
  switch (display.kind) {
    case "file_diff":
      return splitLines(display.fileDiff);
    case "todo_list":
      return display.todos.map(({ status, content }) => `[${MARKS[status]}] ${content}`);
    case "progress":
      return [display.title, ...display.lines];
    default:
      // An embedder's tool may return a display that only the embedder's own interface can show.
      return [];
  }
}

function splitLines(text: string): string[] {
  return text.trim() === "" ? [] : text.trimEnd().split("\n");
}

function shortenLine(line: string): string {
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}...` : line;
}
