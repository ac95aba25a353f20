import { parseRule } from "@burin/core/internal";
import { type Fields, type Found, type FoundRule, toFields, toList, toText, toTexts } from "./found.ts";

type List = FoundRule["list"];

const READING = new Set(["read_file", "glob", "search_file_content", "list_directory", "read_many_files"]);
/** Other agents' names for our three lists. */
const LISTS: ReadonlyMap<unknown, List> = new Map([
  ["allow", "allow"],
  ["prompt", "ask"],
  ["ask_user", "ask"],
  ["deny", "deny"],
  ["forbidden", "deny"],
]);

/** Adds the rules that have an exact equivalent here, and reports the others. */
export function addRules(found: Found, given: Fields, isOfProject = false): void {
  for (const kind of ["allow", "ask", "deny"] as const) {
    for (const of of toTexts(given[kind])) {
      try {
        if (isOfProject && kind !== "allow") throw new Error("write it into .burin/settings.json");
        const rules = convertRules(of, kind).map((rule) => parseRule(rule).text);
        found.rules.push(...rules.map((rule) => ({ list: kind, rule, of, isOfProject })));
      } catch (error) {
        found.noteLeftOut(`${kind} ${of}`, error);
      }
    }
  }
}

/** Translates a rule. Throws an error that says why it has no equivalent. */
function convertRules(given: string, kind: List): string[] {
  const [, name = "", written] = /^\s*([^()\s]+)\s*(?:\((.*)\))?\s*$/s.exec(given) ?? [];
  // Claude Code stores `(`, `)` and `\` with a preceding backslash.
  const pattern = written?.replace(/\\([\\()])/g, "$1");
  const [, server, tool = "*"] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
  if (server !== undefined) return [`${server}__${tool}`];
  const own = findOwnToolName(name);
  if (own === undefined) throw new Error("no tool of Burin does that");
  const isWhole = pattern === undefined || /^\**$/.test(pattern.trim());
  if (own === "run_shell_command") return [convertCommandRule(isWhole ? null : (pattern ?? ""), kind)];
  if (READING.has(own) && kind === "allow") throw new Error("reading inside the folder never asks");
  if (isWhole) return own === "edit" || own === "write_file" ? ["edit", "write_file"] : [own];
  if (READING.has(own)) return [convertPathRule("read_file", pattern, kind)];
  if (own === "edit" || own === "write_file")
    return ["edit", "write_file"].map((one) => convertPathRule(one, pattern, kind));
  if (own === "web_fetch" && pattern.startsWith("domain:")) return [`${own}(${pattern})`];
  throw new Error("such a pattern has no meaning here");
}

/** Translates a command pattern. `x:*` and `x *` allow any arguments; without them, only this exact command matches. */
function convertCommandRule(pattern: string | null, kind: List): string {
  if (pattern === null) {
    if (kind === "allow") throw new Error("it would allow every command; burin --yes does that for one run");
    return "run_shell_command";
  }
  const [, words = "", any] = /^(.*?)(:\*| \*)?$/s.exec(pattern.trim()) ?? [];
  if (/[*?]/.test(words)) throw new Error("a rule of Burin is the words that a command begins with");
  return any === undefined && kind === "allow"
    ? `run_shell_command(${words};)`
    : `run_shell_command(${words})`;
}

function convertPathRule(tool: string, pattern: string, kind: List): string {
  if (/^(?:~|\/\/)/.test(pattern))
    throw new Error("a rule covers paths in the folder, and file tools reach no others");
  // The pattern is relative to the other agent's settings file, whose location is not known here.
  if (kind === "allow" && pattern.startsWith("/")) throw new Error("it does not name a path in the folder");
  if (pattern.startsWith("!")) throw new Error("a rule of Burin cannot take another one back");
  const path = pattern.replace(/^\.?\//, "").replace(/\/$/, "/**");
  if (kind === "allow" && path !== pattern && !path.includes("/"))
    throw new Error("a name without a folder means one in any folder here");
  return `${tool}(${path})`;
}

/** Adds the rules of Gemini CLI's policies that name only a tool and, for commands, a prefix. */
export function addPolicies(found: Found, { rule }: Fields): void {
  for (const one of toList(rule).map(toFields)) {
    const { toolName, commandPrefix, decision, priority: _, ...conditions } = one;
    const named = LISTS.get(decision);
    if (named === undefined || toolName === undefined || Object.keys(conditions).length > 0) {
      found.noteLeftOut(
        `policy ${JSON.stringify(one)}`,
        "it has conditions that a rule of Burin cannot have",
      );
      continue;
    }
    const ends = toTexts(commandPrefix).map((prefix) => `(${prefix.trim()}:*)`);
    const whole = commandPrefix === undefined ? [""] : ends;
    addRules(found, { [named]: toTexts(toolName).flatMap((tool) => whole.map((end) => tool + end)) });
  }
}

/** Adds Codex's `prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")`, if it has only words. */
export function addPrefixRules(found: Found, source: string): void {
  for (const [whole, inner = ""] of source.matchAll(/^prefix_rule\(([\s\S]*?)\)[ \t]*(?:#.*)?$/gm)) {
    const [, pattern = ""] = /pattern\s*=\s*(\[(?:[^[\]]|\[[^[\]]*\])*\])/.exec(inner) ?? [];
    const [, decision = "allow"] = /decision\s*=\s*"(\w+)"/.exec(inner) ?? [];
    const named = LISTS.get(decision);
    const commands = expandCommandPattern(pattern);
    if (named === undefined || commands.length === 0)
      found.noteLeftOut(whole.split("\n").join(" "), "it is not a list of words");
    else addRules(found, { [named]: commands.map((words) => `Bash(${words}:*)`) });
  }
}

/** Returns all commands that a pattern stands for; none unless it is a list of words or of alternatives. */
function expandCommandPattern(pattern: string): string[] {
  let commands = [""];
  try {
    for (const one of toList(JSON.parse(pattern.replace(/,\s*\]/g, "]")))) {
      const words = toTexts(one).filter((word) => /^[\w./:@=+-]+$/.test(word));
      if (words.length < [one].flat().length) return [];
      commands = commands.flatMap((command) => words.map((word) => `${command} ${word}`.trim()));
    }
  } catch {
    return [];
  }
  return commands.filter((command) => command !== "");
}

/** Our tools, with the names of the equivalent tools of other agents. */
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
/** Other agents' names for the arguments of our tools. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run_shell_command: { cmd: "command" },
  read_file: { file_path: "absolute_path", path: "absolute_path" },
  search_file_content: { glob: "include", dir_path: "path" },
  list_directory: { dir_path: "path" },
  todo_write: { plan: "todos" },
};

/** Returns the name of our equivalent tool; undefined if there is none. */
export function findOwnToolName(name: string): string | undefined {
  return OWN_NAMES.get(name);
}

/** Translates another agent's call into one of ours, so that the model does not learn tools that it does not have. */
export function convertCall(name: string, args: Fields): { readonly name: string; readonly args: Fields } {
  const tool = findOwnToolName(name);
  if (tool === undefined) return { name: name.replace(/^mcp__(.+?__.)/, "$1"), args };
  const renamed = Object.entries(args).map(([key, value]) => [ARGUMENTS[tool]?.[key] ?? key, value]);
  const own: Record<string, unknown> = Object.fromEntries(renamed);
  // A command may be a list of words, of which the last is the shell script.
  if (Array.isArray(own.command)) own.command = quoteCommand(own.command);
  if (tool === "todo_write") own.todos = toList(own.todos).map(convertTodo);
  return { name: tool, args: own };
}

function convertTodo(written: unknown, at: number): Fields {
  const { id, content, description, step, status } = toFields(written);
  const state = status === "in_progress" || status === "completed" ? status : "pending";
  return { id: toText(id) || `${at + 1}`, content: toText(content ?? description ?? step), status: state };
}

function quoteCommand(words: readonly unknown[]): string {
  const isOfShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(String(words[0])) && /^-l?c$/.test(String(words[1]));
  return isOfShell ? String(words[2] ?? "") : words.join(" ");
}
