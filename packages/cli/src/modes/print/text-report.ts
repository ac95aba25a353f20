import type { AgentEvent } from "@burin/core";
import type { CommonOptions } from "../../request/options.ts";
import { displayText } from "../../terminal/display-text.ts";
import { type Output, visible } from "../../terminal/output.ts";
import { questionText } from "../../terminal/question-text.ts";
import type { RunDocument } from "./run-document.ts";

type Call = Extract<AgentEvent, { type: "tool_call" }>["call"];

/**
 * Tells a run in words: the final answer on stdout, all else on stderr. At a terminal the model's words come
 * as they are written; otherwise those before its calls go to stderr, so that stdout holds the answer alone.
 */
export class TextReport {
  readonly #output: Output;
  readonly #options: Pick<CommonOptions, "outputFormat" | "isQuiet">;
  /** What the model has said since its last call, as far as it was not shown. */
  #words = "";
  #lastShown = "\n";

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

  tell(event: AgentEvent): void {
    if (event.type === "notice") this.#note(`burin: ${visible(event.message)}`);
    if (event.type === "text" && event.role === "model") this.#hear(event.text);
    if (event.type === "tool_call" && !this.#options.isQuiet) this.#tellCall(event.call);
  }

  /** What is left to say when the run is over. */
  end(document: RunDocument): void {
    const { result, confirmation, error, turns } = document;
    if (this.#isJson) this.#output.out(`${JSON.stringify(document)}\n`);
    else if (!this.#isLive && result !== "") this.#output.content(`${result.replace(/\n$/, "")}\n`);
    this.#endLine();
    if (confirmation && !this.#isJson) this.#output.note(questionText(confirmation));
    if (error) this.#output.note(`burin: ${visible(error.message)}`);
    if (turns > 0 && !this.#isJson && !this.#options.isQuiet) this.#dim(costInWords(document));
  }

  #hear(text: string): void {
    if (!this.#isLive) {
      this.#words += text;
      return;
    }
    this.#output.content(text);
    this.#lastShown = text.at(-1) ?? this.#lastShown;
  }

  #tellCall(call: Call): void {
    const words = this.#words.trim();
    this.#words = "";
    if (words !== "") this.#note(visible(words));
    if (call.status === "executing" && call.display === undefined) {
      this.#dim(`> ${visible(call.description)}`);
    }
    if (call.status === "success" && !this.#isJson) {
      const text = displayText(call.returnDisplay);
      if (text !== "") this.#dim(text);
    }
    if (call.status === "error" || call.status === "cancelled") {
      this.#dim(`! ${visible(call.error.message)}`);
    }
  }

  #dim(text: string): void {
    this.#note(this.#output.styled("dim", text));
  }

  #note(text: string): void {
    this.#endLine();
    this.#output.note(text);
  }

  /** What was streamed may have stopped in the middle of a line. */
  #endLine(): void {
    if (this.#lastShown !== "\n") this.#output.content("\n");
    this.#lastShown = "\n";
  }
}

function costInWords({ toolCalls, usage, durationMs }: RunDocument): string {
  const calls = toolCalls.length === 1 ? "1 tool call" : `${toolCalls.length} tool calls`;
  const isCounted = usage.inputTokens + usage.outputTokens > 0;
  const tokens = isCounted ? `, ${usage.inputTokens} tokens read, ${usage.outputTokens} written` : "";
  return `${(durationMs / 1000).toFixed(1)} s, ${calls}${tokens}`;
}
