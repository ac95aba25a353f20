import type { Fields } from "./found.ts";

interface OwnTool {
  readonly name: string;
  /** Other names of arguments. */
  readonly args?: Readonly<Record<string, string>>;
}

const SHELL = { name: "run_shell_command", args: { cmd: "command" } };
const READ = { name: "read_file", args: { file_path: "absolute_path" } };
const SEARCH = { name: "search_file_content", args: { glob: "include", dir_path: "path" } };
const LIST = { name: "list_directory", args: { dir_path: "path" } };
const EDIT = { name: "edit" };
const TASK = { name: "task" };
const STEPS = { name: "todo_write" };

/** Tools of other agents that do what one of ours does. */
const TOOLS: Readonly<Record<string, OwnTool>> = {
  Bash: SHELL,
  Shell: SHELL,
  ShellTool: SHELL,
  run_shell_command: SHELL,
  exec_command: SHELL,
  shell: SHELL,
  shell_command: SHELL,
  local_shell: SHELL,
  Read: READ,
  ReadFile: READ,
  ReadFileTool: READ,
  read_file: READ,
  Write: { name: "write_file" },
  WriteFile: { name: "write_file" },
  WriteFileTool: { name: "write_file" },
  write_file: { name: "write_file" },
  Edit: EDIT,
  MultiEdit: EDIT,
  EditTool: EDIT,
  replace: EDIT,
  edit: EDIT,
  Glob: { name: "glob" },
  glob: { name: "glob" },
  Grep: SEARCH,
  grep_search: SEARCH,
  search_file_content: SEARCH,
  LS: LIST,
  list_directory: LIST,
  WebFetch: { name: "web_fetch" },
  web_fetch: { name: "web_fetch" },
  WebSearch: { name: "web_search" },
  google_web_search: { name: "web_search" },
  web_search: { name: "web_search" },
  TodoWrite: STEPS,
  write_todos: STEPS,
  todo_write: STEPS,
  Task: TASK,
  Agent: TASK,
  agent: TASK,
  task: TASK,
  save_memory: { name: "save_memory" },
  read_many_files: { name: "read_many_files" },
};

/** The name of our tool; undefined where no tool of ours does that. */
export function ownToolName(name: string): string | undefined {
  return Object.hasOwn(TOOLS, name) ? TOOLS[name]?.name : undefined;
}

/** A call as ours would be made, so that the model does not learn tools that it does not have. */
export function ownCall(name: string, args: Fields): { readonly name: string; readonly args: Fields } {
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  const [, server, inner] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (tool === undefined) return { name: server === undefined ? name : `${server}__${inner}`, args };
  const renamed = Object.entries(args).map(([key, value]) => [tool.args?.[key] ?? key, value] as const);
  const own = Object.fromEntries(renamed);
  // A command may be a list of words: the last one is what the shell was given.
  if (tool === SHELL && Array.isArray(own.command)) own.command = commandIn(own.command);
  return { name: tool.name, args: own };
}

function commandIn(words: readonly unknown[]): string {
  const isOfShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(String(words[0])) && /^-l?c$/.test(String(words[1]));
  return isOfShell ? String(words[2] ?? "") : words.join(" ");
}
