import type { AgentEvent } from "@burin/contract/agent-event";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";

export interface Todo {
  readonly content: string;
  readonly status: string;
}

export interface ChangedFile {
  readonly name: string;
  readonly addedLines: number;
  readonly removedLines: number;
  readonly isNew: boolean;
}

const TODO_TOOL = "todo_write";
/** Older prompts than these are left to the summary. */
const MOST_PROMPTS = 40;

/** What must survive every compaction, a fold over the events like the history itself. */
export class WorkRecord {
  readonly prompts: string[] = [];
  /** The real paths of the context files that the model knows. */
  readonly contextFiles = new Set<string>();
  /** The summary in the last compaction; empty when there was none. */
  summary = "";
  readonly #changed = new Map<string, ChangedFile>();
  #todos: readonly Todo[] = [];

  get changedFiles(): readonly ChangedFile[] {
    return [...this.#changed.values()];
  }

  /** The unfinished todos of the latest list; empty when all are done. */
  get openTodos(): readonly Todo[] {
    const isOpen = ({ status }: Todo): boolean => status !== "completed" && status !== "cancelled";
    return this.#todos.some(isOpen) ? this.#todos : [];
  }

  apply(event: AgentEvent): void {
    if (event.type === "text" && event.role === "user") {
      this.prompts.push(event.text);
      if (this.prompts.length > MOST_PROMPTS) this.prompts.shift();
    }
    if (event.type === "context" && event.file !== undefined) this.contextFiles.add(event.file);
    if (event.type === "compaction") this.summary = event.summary;
    if (event.type === "tool_call") this.#applyCall(event.call);
  }

  #applyCall(call: ToolCall): void {
    if (!isAnswered(call) || call.status !== "success") return;
    if (call.name === TODO_TOOL) this.#todos = todosIn(call.args.todos) ?? this.#todos;
    const display = call.returnDisplay;
    if (typeof display === "string" || display.kind !== "file_diff") return;
    const { fileName: name, addedLines, removedLines, originalContent } = display;
    const before = this.#changed.get(name);
    this.#changed.delete(name);
    this.#changed.set(name, {
      name,
      addedLines: addedLines + (before?.addedLines ?? 0),
      removedLines: removedLines + (before?.removedLines ?? 0),
      isNew: before?.isNew ?? originalContent === null,
    });
  }
}

function todosIn(value: unknown): Todo[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((item: unknown) => {
    const { id, content, status = "pending" } = (item ?? {}) as Record<string, unknown>;
    if (typeof content !== "string") return [];
    return [{ content: typeof id === "string" ? `${id}: ${content}` : content, status: String(status) }];
  });
}
