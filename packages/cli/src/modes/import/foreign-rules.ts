import { parseRule } from "@burin/core";
import { ownToolName } from "./foreign-tools.ts";
import { type Fields, type Found, type FoundRule, texts } from "./found.ts";

type List = FoundRule["list"];

const READING = new Set(["read_file", "glob", "search_file_content", "list_directory", "read_many_files"]);
const NO_TOOL = "no tool of Burin does that";

/** Adds the rules that mean the same here; those that cannot be said exactly are left, so that none allows more. */
export function addRules(found: Found, given: Fields, isOfProject = false): void {
  for (const list of ["allow", "ask", "deny"] as const) {
    for (const of of texts(given[list])) {
      try {
        if (isOfProject && list !== "allow") throw new Error("write it into .burin/settings.json");
        const rules = ownRules(of, list).map((rule) => ({
          list,
          rule: parseRule(rule).text,
          of,
          isOfProject,
        }));
        found.rules.push(...rules);
      } catch (error) {
        found.leave(`${list} ${of}`, error instanceof Error ? error.message : String(error));
      }
    }
  }
}

/** Throws why there is none. */
function ownRules(given: string, list: List): string[] {
  const [, name = "", pattern] = /^\s*([^()\s]+)\s*(?:\((.*)\))?\s*$/s.exec(given) ?? [];
  const [, server, tool = "*"] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
  if (server !== undefined) return [`${server}__${tool}`];
  const own = ownToolName(name);
  if (own === undefined) throw new Error(NO_TOOL);
  const isWhole = pattern === undefined || /^\**$/.test(pattern.trim());
  if (own === "run_shell_command") return [commandRule(isWhole ? null : (pattern ?? ""), list)];
  if (READING.has(own) && list === "allow") throw new Error("reading inside the folder never asks");
  if (isWhole) return own === "edit" || own === "write_file" ? ["edit", "write_file"] : [own];
  if (READING.has(own)) return [pathRule("read_file", pattern, list)];
  if (own === "edit" || own === "write_file")
    return ["edit", "write_file"].map((one) => pathRule(one, pattern, list));
  if (own === "web_fetch" && pattern.startsWith("domain:")) return [`${own}(${pattern})`];
  throw new Error("such a pattern has no meaning here");
}

/** `x:*` and `x *` mean any words after it; without them only this command is meant. */
function commandRule(pattern: string | null, list: List): string {
  if (pattern === null) {
    if (list === "allow") throw new Error("it would allow every command; burin --yes does that for one run");
    return "run_shell_command";
  }
  const [, words = "", any] = /^(.*?)(:\*| \*)?$/s.exec(pattern.trim()) ?? [];
  if (/[*?]/.test(words)) throw new Error("a rule of Burin is the words that a command begins with");
  return any === undefined && list === "allow"
    ? `run_shell_command(${words};)`
    : `run_shell_command(${words})`;
}

function pathRule(tool: string, pattern: string, list: List): string {
  if (/^(?:~|\/\/)/.test(pattern))
    throw new Error("a rule covers paths in the folder, and file tools reach no others");
  if (pattern.startsWith("!")) throw new Error("a rule of Burin cannot take another one back");
  const path = pattern.replace(/^\.?\//, "").replace(/\/$/, "/**");
  if (list === "allow" && path !== pattern && !path.includes("/"))
    throw new Error("a name without a folder means one in any folder here");
  return `${tool}(${path})`;
}
