import { type ApprovalMode, stricterMode } from "@burin/contract/approval-mode";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Tool } from "@burin/contract/tools";
import type { SubagentDefinition } from "../agent/subagent-definitions.ts";
import { type RunCalls, Scheduler, type SchedulerNeeds } from "../scheduler/scheduler.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";

/** What the session's own tools and flow lend to those of a subagent. */
interface LentParts
  extends Pick<SchedulerNeeds, "onGrant" | "questions" | "recorded" | "recordsReads" | "hooks" | "registry"> {
  /** Built-in tools anew, which know nothing of what the session has read. */
  readonly newTools: () => Tool[];
  readonly session: { readonly mode: ApprovalMode };
  readonly judgeIn: (current: { readonly mode: ApprovalMode }) => SchedulerNeeds["judge"];
}

/** What belongs to the session alone: its plan, its list of steps, the handing out of tasks, and what it has found. */
const NOT_FOR_SUBAGENTS = new Set(["task", "todo_write", "exit_plan_mode", "tool_search"]);

export interface LentTo {
  readonly definition: SubagentDefinition;
  /** The call of `task` that it works for. */
  readonly parentCallId: string;
}

/** The registry and the flow of one subagent: never more tools and never more rights than the session's. */
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
