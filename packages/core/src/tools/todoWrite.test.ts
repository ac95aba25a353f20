import { describe, expect, it } from "vitest";
import { TodoWrite } from "./todoWrite.ts";

const tool = new TodoWrite();
const todo = (id: string, status: "pending" | "in_progress" | "completed" = "pending") => ({
  id,
  content: `do ${id}`,
  status,
});

describe("todo_write", () => {
  it("R46 gives the model the list and the person something to draw", async () => {
    const todos = [todo("1", "completed"), todo("2", "in_progress"), todo("3")];
    expect(tool.validateToolParams({ todos })).toBeNull();
    expect(tool.getDescription({ todos })).toBe("Todo list: 1 of 3 done");
    expect(await tool.execute({ todos })).toEqual({
      llmContent: "The todo list:\n[x] 1: do 1\n[>] 2: do 2\n[ ] 3: do 3",
      returnDisplay: { kind: "todo_list", todos },
    });
    expect(await tool.shouldConfirmExecute({ todos }, new AbortController().signal)).toBe(false);
  });

  it("R46 an empty list clears it", async () => {
    expect((await tool.execute({ todos: [] })).llmContent).toBe("The todo list is empty.");
  });

  it.each([
    [[todo("1"), todo("1")], 'id "1"'],
    [[todo("1", "in_progress"), todo("2", "in_progress")], "Only one todo can be in_progress"],
    [[{ id: " ", content: "x", status: "pending" as const }], "say something"],
    [[{ id: "1", content: "x", status: "done" as "pending" }], "status"],
  ])("R46 refuses %j", (todos, words) => {
    expect(tool.validateToolParams({ todos })).toContain(words);
  });
});
