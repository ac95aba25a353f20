import { type ApprovalMode, stricterMode } from "@burin/contract/approval-mode";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Tool } from "@burin/contract/tools";
import type { SubagentDefinition } from "../agent/subagent-definitions.ts";
import { type RunCalls, Scheduler, type SchedulerNeeds } from "../scheduler/scheduler.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";

/** What a subagent shares with the session's own tools and flow. */
interface LentParts
  extends Pick<SchedulerNeeds, "onGrant" | "questions" | "recorded" | "recordsReads" | "hooks" | "registry"> {
  /** Makes new built-in tools, which do not know what the session has read. */
  readonly newTools: () => Tool[];
  readonly session: { readonly mode: ApprovalMode };
  readonly judgeIn: (current: { readonly mode: ApprovalMode }) => SchedulerNeeds["judge"];
}

/** Tools of the session only: its plan, its todos, starting tasks, and searching for tools. */
const NOT_FOR_SUBAGENTS = new Set(["task", "todo_write", "exit_plan_mode", "tool_search"]);

export interface LentTo {
  readonly definition: SubagentDefinition;
  /** The call of `task` that it works for. */
  readonly parentCallId: string;
}

/** The registry and the flow of one subagent: never more tools or rights than the session has. */
export function subagentTools(lent: LentParts, { definition, parentCallId }: LentTo) {
  const { name, tools, approvalMode } = definition;
  const { newTools, session, judgeIn, ...flow } = lent;
  const registry = new ToolRegistry();
  const wanted = (tools ?? ["*"]).map((pattern) => globMatcher(pattern, { caseSensitive: true }));
  const anew = new Map(newTools().map((tool) => [tool.name, tool]));
  for (const tool of lent.registry.getAllTools()) {
    if (NOT_FOR_SUBAGENTS.has(tool.name) || !wanted.some((matches) => matches(tool.name))) continue;
    registry.registerTool(anew.get(tool.name) ?? tool, lent.registry.sourceOf(tool.name));
  }
  const current = {
    get mode() {
      return stricterMode(session.mode, approvalMode ?? session.mode);
    },
  };
  const judge = judgeIn(current);
  const scheduler = new Scheduler({ ...flow, registry, judge, subagent: { agent: name, parentCallId } });
  const runCalls: RunCalls = (calls, signal, onCall) => scheduler.run(calls, signal, onCall);
  return { registry, runCalls };
}
