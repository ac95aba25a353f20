import { dirname, join } from "node:path";
import { appendLine, makeFolders, readText, withFallback } from "@burin/core/internal";

const MAX_KEPT = 1000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Longer prompts are not stored. */
const LONGEST_KEPT = 20_000;

/** The user's earlier prompts in this project, including those of this run. The file has one JSON string per line. */
export class PromptHistory {
  readonly #file: string;
  #entries: string[] | null = null;
  /** The user's position in the history. A position equal to its length is the new prompt. */
  #at = 0;
  /** What the user has changed at a position of the history, kept until a prompt is sent. */
  readonly #written = new Map<number, string>();

  constructor(home: string) {
    this.#file = join(home, "history.jsonl");
  }

  get #prompts(): string[] {
    if (this.#entries === null) {
      this.#entries = readEntries(this.#file);
      this.#at = this.#entries.length;
    }
    return this.#entries;
  }

  add(prompt: string): void {
    if (this.putAside(prompt)) appendPrompt(this.#file, prompt);
  }

  /** Adds a prompt that was not sent, so that the user can return to it during this run. */
  putAside(prompt: string): boolean {
    const known = this.#prompts;
    const isNew = prompt.trim() !== "" && known.at(-1) !== prompt;
    if (isNew) known.push(prompt);
    this.#at = known.length;
    this.#written.clear();
    return isNew;
  }

  /** Returns the prompt before or after the current one; null if there is none. */
  step(by: -1 | 1, current: string): string | null {
    const known = this.#prompts;
    this.#written.set(this.#at, current);
    const at = this.#at + by;
    if (at < 0 || at > known.length) return null;
    this.#at = at;
    return this.#written.get(at) ?? known[at] ?? "";
  }

  /** Returns the prompts that contain the text, latest first. */
  search(text: string): string[] {
    const wanted = text.toLowerCase();
    const found = this.#prompts.filter((prompt) => prompt.toLowerCase().includes(wanted));
    return [...new Set(found.reverse())];
  }
}

function readEntries(file: string): string[] {
  const lines = withFallback(null, () => readText(file, MAX_BYTES))?.split("\n") ?? [];
  const values = lines.slice(-MAX_KEPT).map((line): unknown => withFallback(null, () => JSON.parse(line)));
  return values.filter((value) => typeof value === "string");
}

function appendPrompt(file: string, prompt: string): void {
  if (prompt.length > LONGEST_KEPT) return;
  // Ignore errors: a history that cannot be stored still works during this run.
  withFallback(null, () => {
    makeFolders(dirname(file));
    appendLine(file, prompt);
  });
}
