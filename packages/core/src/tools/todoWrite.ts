import {
  choice,
  closedObject,
  list,
  NON_EMPTY,
  type OptionValue,
  STRING,
  text,
} from "@burin/contract/messages/option";
import { BaseTool, type Todo, type ToolResult } from "@burin/contract/tools";

const STEP = closedObject(["id", "content", "status"], {
  id: text(undefined, NON_EMPTY),
  content: text(undefined, NON_EMPTY),
  status: choice(["pending", "in_progress", "completed"], undefined, STRING),
});
const PARAMETERS = closedObject(["todos"], { todos: list(STEP) });
export type TodoWriteParams = OptionValue<typeof PARAMETERS>;

const MARKS: Readonly<Record<Todo["status"], string>> = { pending: " ", in_progress: ">", completed: "x" };

/**
 * The tool `todo_write`: replaces the list of steps that the user sees. The history stores it, as the arguments
 * of a call.
 */
export class TodoWrite extends BaseTool<TodoWriteParams> {
  readonly name = "todo_write";
  readonly displayName = "TodoWrite";
  readonly kind = "plan";
  readonly description = [
    "Keeps the list of steps of a task with several.",
    "Give the whole list each time; at most one step is in_progress.",
    "Mark a step completed as soon as it is done.",
  ].join(" ");
  readonly parameterSchema = PARAMETERS;

  getDescription({ todos }: TodoWriteParams): string {
    const done = todos.filter((todo) => todo.status === "completed").length;
    return todos.length === 0 ? "Clear the todo list" : `Todo list: ${done} of ${todos.length} done`;
  }

  execute({ todos }: TodoWriteParams): Promise<ToolResult> {
    const lines = todos.map(({ id, content, status }) => `[${MARKS[status]}] ${id}: ${content}`);
    const llmContent = todos.length === 0 ? "The todo list is empty." : `The todo list:\n${lines.join("\n")}`;
    return Promise.resolve({ llmContent, returnDisplay: { kind: "todo_list", todos } });
  }

  protected override checkParams({ todos }: TodoWriteParams): string | null {
    const ids = new Set<string>();
    for (const { id, content } of todos) {
      if (id.trim() === "" || content.trim() === "")
        return "Each todo needs an id and a content that say something.";
      if (ids.has(id)) return `Two todos have the id "${id}"; give each its own.`;
      ids.add(id);
    }
    const running = todos.filter((todo) => todo.status === "in_progress").map((todo) => `"${todo.id}"`);
    if (running.length <= 1) return null;
    return `Only one todo can be in_progress, not ${running.join(", ")}; set the others to pending.`;
  }
}
