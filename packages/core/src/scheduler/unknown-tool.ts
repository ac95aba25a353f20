import { findNearNames } from "@burin/contract/text/near-names";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { createFailed, type FinalState } from "./call-outcome.ts";

/** If there are more tools than this, only the likeliest are named, because MCP servers may have hundreds. */
const [MAX_LISTED, LIKELIEST] = [20, 5];

/** Says which tools were probably meant or, if none is similar, which tools exist. */
export function describeUnknownTool(name: string, registry: ToolRegistry): FinalState {
  const near = findNearTools(name, registry);
  const known = registry.getUsableTools().map((tool) => tool.name);
  const isLong = known.length > MAX_LISTED;
  const front = isLong ? `Of ${known.length} tools the likeliest are` : "The tools are";
  const list = `${front}: ${(isLong ? findLikeliest(name, known) : known).join(", ")}.`;
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : list;
  return createFailed({ type: "unknown_tool", message: `There is no tool named "${name}". ${hint}` });
}

/** Returns the tools that share the most words with the name. */
function findLikeliest(name: string, known: readonly string[]): string[] {
  const splitWords = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const wanted: readonly string[] = splitWords(name);
  const countSharedWords = (tool: string) => splitWords(tool).filter((word) => wanted.includes(word)).length;
  return [...known].sort((a, b) => countSharedWords(b) - countSharedWords(a)).slice(0, LIKELIEST);
}

/** Returns the tools with similar names. The name may also resemble a display name, or come from another agent. */
export function findNearTools(name: string, registry: ToolRegistry): string[] {
  const usable = registry.getUsableTools();
  const elsewhere = findBuiltInName(name);
  if (elsewhere !== undefined && usable.some((tool) => tool.name === elsewhere)) return [elsewhere];
  const called = new Map(usable.map((tool) => [tool.displayName, tool.name]));
  for (const tool of usable) called.set(tool.name, tool.name);
  return [...new Set(findNearNames(name, called.keys()).map((near) => called.get(near) ?? near))];
}

/** The names under which models know such tools from other agents. */
const ELSEWHERE = {
  run_shell_command: "bash shell sh terminal exec execute executecommand runcommand runterminalcmd",
  search_file_content: "grep rg ripgrep search grepsearch searchfiles",
  list_directory: "ls dir listdir listfiles",
  read_file: "read cat view open",
  write_file: "create createfile write writefile",
  edit: "edit replace strreplace strreplaceeditor multiedit notebookedit applypatch applydiff",
  glob: "glob find findfiles filesearch",
  web_fetch: "webfetch fetch",
  web_search: "websearch googlewebsearch",
  todo_write: "todowrite writetodos updateplan",
  task: "agent",
};

/** Returns our tool for a name that other agents use. */
export function findBuiltInName(name: string): string | undefined {
  const plain = name.replace(/^.*[.:/]|[\s_-]+/g, "").toLowerCase();
  return Object.entries(ELSEWHERE).find(([, names]) => names.split(" ").includes(plain))?.[0];
}
