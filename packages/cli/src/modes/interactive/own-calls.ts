import type { ToolResult } from "@burin/core";
import { describeUserCommand } from "../../commands/words-for-models.ts";
import { say } from "../../locales/say.ts";
import { createSpan, splitLines } from "../../terminal/styled-line.ts";
import { formatCount, formatModelText } from "../../ui/displays/call-lines.ts";
import { isShellPrompt } from "../../ui/prompt-view.ts";
import type { Desk } from "./desk.ts";
import type { Work } from "./work.ts";

const MAX_ROWS = 200;

/** Handles `!command`, which runs a command, and `#fact`, which stores a fact. Neither uses a model. */
export class OwnCalls {
  readonly #desk: Desk;
  readonly #work: Work;
  /** The running calls. The value is what the user typed for a command, and empty for other calls. */
  readonly #open = new Map<AbortController, string>();

  constructor(desk: Desk, work: Work) {
    this.#desk = desk;
    this.#work = work;
  }

  get isRunning(): boolean {
    return this.#open.size > 0;
  }

  /** What the user typed to start each running command. */
  get commands(): string[] {
    return [...this.#open.values()].filter((title) => title !== "");
  }

  interrupt(): void {
    for (const abort of this.#open.keys()) abort.abort();
  }

  /** Handles the text if it is one of these, and returns whether it was. */
  takeText(text: string): boolean {
    // Numbers and several `#` are not facts: pasted text may begin with a heading, and a prompt with an issue number.
    if (/^#(?![#\d]).*$/.test(text)) void this.#remember(text.slice(1).trim());
    else if (isShellPrompt(text)) void this.#run(text.replace(/^!+/, "").trim(), text.startsWith("!!"));
    else return false;
    return true;
  }

  async #remember(fact: string): Promise<void> {
    if (fact === "") this.#desk.note(say("remember.none"));
    else {
      const result = await this.call("save_memory", { fact });
      this.#show(`# ${fact}`, result);
      if (result !== null && result.error === undefined) this.#desk.note(say("remember.undo"));
    }
  }

  async #run(command: string, isForModel: boolean): Promise<void> {
    if (command === "") return void this.#desk.note(say("shell.none"));
    const title = `! ${command}`;
    const { needsTerminal } = await import("../../commands/full-screen-programs.ts");
    if (!isForModel && needsTerminal(command)) return this.#handOver(title, command);
    const result = await this.call("run_shell_command", { command }, title);
    this.#show(title, result);
    if (isForModel && result !== null)
      this.#work.forModel.push(describeUserCommand(command, formatModelText(result.llmContent)));
  }

  /** Hands the terminal over to the program until it ends, as a shell does. */
  async #handOver(title: string, command: string): Promise<void> {
    const { lendTerminal, runInTerminal } = await import("./edit-outside.ts");
    this.#desk.print(() => [[createSpan(title, "strong")]]);
    this.#desk.view.drawNow();
    const end = await lendTerminal(this.#desk, () => runInTerminal(command, this.#desk.options.root));
    if (end !== 0) this.#desk.note(say("shell.ended", { code: end }));
  }

  /** Runs a call without a question, because the user has just typed it. */
  async call(name: string, args: Record<string, unknown>, title = ""): Promise<ToolResult | null> {
    const { session, questions, view } = this.#desk;
    if (session === null) return null;
    const abort = new AbortController();
    this.#open.set(abort, title);
    view.drawSoon();
    return questions
      .runUserCall(this.#work.isWorking, () => session.call(name, args, abort.signal))
      .finally(() => {
        this.#open.delete(abort);
      });
  }

  #show(title: string, result: ToolResult | null): void {
    if (result === null) return;
    const shown =
      typeof result.returnDisplay === "string" ? result.returnDisplay : formatModelText(result.llmContent);
    const text = result.error?.message ?? shown;
    const lines = splitLines(text.trimEnd(), result.error ? "bad" : undefined);
    const left = lines.length - MAX_ROWS;
    const count = formatCount(text, left);
    this.#desk.print(() => [
      [createSpan(title.split("\n", 1)[0] ?? "", "strong")],
      ...(left > 0 ? [[{ text: say("prompt.more", { count }), style: "dim" as const }]] : []),
      ...lines.slice(-MAX_ROWS),
    ]);
  }
}
