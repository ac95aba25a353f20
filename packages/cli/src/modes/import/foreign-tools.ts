import { type Fields, fields, list, text } from "./found.ts";

/** Our tools, and the equivalent ones of other agents. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  run_shell_command: ["Bash", "Shell", "ShellTool", "exec_command", "shell", "shell_command", "local_shell"],
  read_file: ["Read", "ReadFile", "ReadFileTool", "View", "view_image"],
  read_many_files: [],
  write_file: ["Write", "WriteFile", "WriteFileTool"],
  edit: ["Edit", "MultiEdit", "EditTool", "replace"],
  glob: ["Glob", "GlobTool"],
  search_file_content: ["Grep", "GrepTool", "grep_search", "grep"],
  list_directory: ["LS"],
  web_fetch: ["WebFetch"],
  web_search: ["WebSearch", "google_web_search"],
  todo_write: ["TodoWrite", "write_todos", "update_plan"],
  task: ["Task", "Agent", "agent"],
  save_memory: [],
};
const OWN_NAMES = new Map(
  Object.entries(NAMES).flatMap(([own, others]) => [own, ...others].map((name) => [name, own] as const)),
);
/** Their names for arguments of ours. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run_shell_command: { cmd: "command" },
  read_file: { file_path: "absolute_path", path: "absolute_path" },
  search_file_content: { glob: "include", dir_path: "path" },
  list_directory: { dir_path: "path" },
  todo_write: { plan: "todos" },
};

/** The name of our tool; undefined when none of ours is equivalent. */
export function ownToolName(name: string): string | undefined {
  return OWN_NAMES.get(name);
}

/** Translates a call into ours, so that the model does not learn tools that it does not have. */
export function ownCall(name: string, args: Fields): { readonly name: string; readonly args: Fields } {
  const tool = ownToolName(name);
  if (tool === undefined) return { name: name.replace(/^mcp__(.+?__.)/, "$1"), args };
  const renamed = Object.entries(args).map(([key, value]) => [ARGUMENTS[tool]?.[key] ?? key, value]);
  const own: Record<string, unknown> = Object.fromEntries(renamed);
  // A command may be a list of words: the last one is what the shell got.
  if (Array.isArray(own.command)) own.command = commandIn(own.command);
  if (tool === "todo_write") own.todos = list(own.todos).map(ownTodo);
  return { name: tool, args: own };
}

function ownTodo(written: unknown, at: number): Fields {
  const { id, content, description, step, status } = fields(written);
  const state = status === "in_progress" || status === "completed" ? status : "pending";
  return { id: text(id) || `${at + 1}`, content: text(content ?? description ?? step), status: state };
}

function commandIn(words: readonly unknown[]): string {
  const isOfShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(String(words[0])) && /^-l?c$/.test(String(words[1]));
  return isOfShell ? String(words[2] ?? "") : words.join(" ");
}
