import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Tool } from "@burin/contract/tools";
import { type ApprovalMode, stricterMode } from "@burin/shell-judge";
import type { SubagentDefinition } from "../agent/subagent-definitions.ts";
import type { CallHooks } from "../scheduler/hooked-call.ts";
import { type Confirm, Scheduler, type SchedulerNeeds } from "../scheduler/scheduler.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";

/** What the session's own tools and flow lend to those of a subagent. */
export interface LentParts {
  readonly registry: ToolRegistry;
  /** Built-in tools anew, which know nothing of what the session has read. */
  readonly newTools: () => Tool[];
  readonly session: { readonly mode: ApprovalMode };
  readonly judgeIn: (current: { readonly mode: ApprovalMode }) => SchedulerNeeds["judge"];
  readonly onGrant: SchedulerNeeds["onGrant"];
  readonly confirm?: Confirm;
  readonly recorded?: () => Promise<void>;
  readonly hooks?: CallHooks;
}

/** What belongs to the session alone: its plan, its list of steps, the handing out of tasks, and what it has found. */
const NOT_FOR_SUBAGENTS = new Set(["task", "todo_write", "exit_plan_mode", "tool_search"]);

/** The registry and the flow of one subagent: never more tools and never more rights than the session's. */
export function subagentTools(lent: LentParts, { name, tools, approvalMode }: SubagentDefinition) {
  const registry = new ToolRegistry();
  const wanted = (tools ?? ["*"]).map((pattern) => globMatcher(pattern, { caseSensitive: true }));
  const anew = new Map(lent.newTools().map((tool) => [tool.name, tool]));
  for (const tool of lent.registry.getAllTools()) {
    if (NOT_FOR_SUBAGENTS.has(tool.name) || !wanted.some((matches) => matches(tool.name))) continue;
    registry.registerTool(anew.get(tool.name) ?? tool, lent.registry.sourceOf(tool.name));
  }
  const current = {
    get mode() {
      return stricterMode(lent.session.mode, approvalMode ?? lent.session.mode);
    },
  };
  const { confirm, onGrant, recorded, hooks } = lent;
  const needs = {
    registry,
    judge: lent.judgeIn(current),
    onGrant,
    ...(recorded ? { recorded } : {}),
    ...(hooks ? { hooks } : {}),
  };
  return {
    registry,
    scheduler: new Scheduler(confirm ? { ...needs, confirm: askedBy(name, confirm) } : needs),
  };
}

/** The person sees who asks. */
function askedBy(name: string, confirm: Confirm): Confirm {
  return (question, signal) => confirm({ ...question, title: `[${name}] ${question.title}` }, signal);
}
