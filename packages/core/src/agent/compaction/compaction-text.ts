import type { ContextSize } from "../context-size.ts";
import type { ChangedFile, WorkRecord } from "../work-record.ts";
import { cutTo } from "./transcript.ts";

export interface Kept {
  readonly record: WorkRecord;
  /** The context files in their current state. */
  readonly contextTexts: readonly string[];
  readonly summary: string;
}

const HEAD =
  "[The conversation so far was too long for the model's window. This text, written by the program, replaces it. Continue the task from here; do not repeat what is done.]";

/** What does not fit is cut, with a note about it; the user's last prompt is cut last. */
export function compactionText(kept: Kept, mostTokens: number, size: ContextSize): string {
  const room = new Room(mostTokens - size.ofText(HEAD), size);
  const { record, contextTexts, summary } = kept;
  const task = room.take(record.prompts.at(-1) ?? "", 0.7);
  const todos = room.take(
    record.openTodos.map((todo) => `- [${todo.status}] ${todo.content}`).join("\n"),
    0.5,
  );
  const files = room.take(record.changedFiles.map(fileLine).join("\n"), 0.5);
  const instructions = room.take(contextTexts.join("\n\n"), 0.6);
  const account = room.take(summary, 0.8);
  const earlier = earlierPrompts(record.prompts.slice(0, -1), room);
  const sections = [
    instructions,
    section("What happened so far", account),
    section("Files changed so far", files),
    section("Todos", todos),
    section("What the user said before, word for word, the oldest first", earlier),
    section("The user's last words, which are the task", task),
  ];
  return [HEAD, ...sections.filter((text) => text !== "")].join("\n\n");
}

function section(title: string, text: string): string {
  return text === "" ? "" : `# ${title}\n${text}`;
}

function fileLine({ name, isNew, addedLines, removedLines }: ChangedFile): string {
  return `- ${name} (${isNew ? "new, " : ""}+${addedLines} -${removedLines} lines)`;
}

function earlierPrompts(prompts: readonly string[], room: Room): string {
  const fitting: string[] = [];
  for (const prompt of [...prompts].reverse()) {
    const text = `- ${prompt}`;
    if (!room.holds(text)) break;
    fitting.unshift(room.take(text, 1));
  }
  return fitting.join("\n");
}

/** Distributes tokens; each piece gets at most its share of what is left. */
class Room {
  #left: number;
  readonly #size: ContextSize;

  constructor(tokens: number, size: ContextSize) {
    this.#left = Math.max(tokens, 0);
    this.#size = size;
  }

  holds(text: string): boolean {
    return this.#size.ofText(text) <= this.#left;
  }

  take(text: string, share: number): string {
    const taken = cutTo(text, Math.floor(this.#left * share), this.#size);
    this.#left = Math.max(this.#left - this.#size.ofText(taken), 0);
    return taken;
  }
}
