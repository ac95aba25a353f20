import { nearNames } from "@burin/contract/text/near-names";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { type FinalState, failed } from "./call-outcome.ts";

/** Of hundreds that servers may bring. */
const MOST_NAMED = 50;

/** Says which tools the unknown name was probably meant for, else which there are. */
export function unknownTool(name: string, registry: ToolRegistry): FinalState {
  const near = nearTools(name, registry);
  const known = registry.getUsableTools().map((tool) => tool.name);
  const rest = known.length > MOST_NAMED ? ` and ${known.length - MOST_NAMED} more` : "";
  const list = `The tools are: ${known.slice(0, MOST_NAMED).join(", ")}${rest}.`;
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : list;
  return failed({ type: "unknown_tool", message: `There is no tool named "${name}". ${hint}` });
}

/** A name may also be like the one that people see, or be known from another agent. */
function nearTools(name: string, registry: ToolRegistry): string[] {
  const usable = registry.getUsableTools();
  const elsewhere = nameHere(name);
  if (elsewhere !== undefined && usable.some((tool) => tool.name === elsewhere)) return [elsewhere];
  const called = new Map(usable.map((tool) => [tool.displayName, tool.name]));
  for (const tool of usable) called.set(tool.name, tool.name);
  return [...new Set(nearNames(name, called.keys()).map((near) => called.get(near) ?? near))];
}

/** What tools of other agents are called that do the work of ours, where no spelling is near; models know them. */
const ELSEWHERE = {
  run_shell_command: "bash shell sh terminal exec execute executecommand runcommand runterminalcmd",
  search_file_content: "grep rg ripgrep search grepsearch searchfiles",
  list_directory: "ls dir listdir listfiles",
  read_file: "read cat view open",
  write_file: "create createfile",
  edit: "replace strreplace strreplaceeditor multiedit applypatch applydiff",
  glob: "find findfiles filesearch",
  task: "agent",
};

/** The tool of ours that does the work of the one with this name, if it is known from elsewhere. */
function nameHere(name: string): string | undefined {
  const plain = name.replace(/^.*[.:/]|[\s_-]+/g, "").toLowerCase();
  return Object.entries(ELSEWHERE).find(([, names]) => names.split(" ").includes(plain))?.[0];
}
