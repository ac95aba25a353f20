import type { AgentEvent } from "@burin/contract/agent-event";
import type { BackgroundTasks } from "../agent/background-tasks.ts";
import type { Budget } from "../agent/budget.ts";
import { Conversation } from "../agent/conversation.ts";
import { BUILT_IN_SUBAGENTS, type SubagentDefinition } from "../agent/subagent-definitions.ts";
import type { Subagents } from "../tools/task.ts";
import type { Home } from "./home.ts";
import { agentOf } from "./join-agent.ts";
import type { Models } from "./session-models.ts";
import type { ToolSet } from "./tool-set.ts";

/** What a session shares with its subagents. */
interface SubagentGround {
  readonly home: Home;
  readonly models: Models;
  readonly budget: Budget | undefined;
  readonly maxTurns: number | undefined;
  /** The embedder's own words, in place of Burin's. */
  readonly mainPrompt: string | undefined;
  readonly tools: ToolSet;
  /** Gets what the session should know about its subagents. */
  readonly tell: (event: AgentEvent) => void;
  readonly background: BackgroundTasks;
}

export interface JoinedSubagents extends Subagents {
  /** Definitions in files replace the built-in ones, but for a mode that they do not name. */
  add(definitions: readonly SubagentDefinition[]): void;
}

/** The built-in subagents and those that are added. */
export function joinSubagents(ground: SubagentGround): JoinedSubagents {
  const definitions = new Map(BUILT_IN_SUBAGENTS.map((definition) => [definition.name, definition]));
  const joined: JoinedSubagents = {
    get known() {
      return [...definitions.values()];
    },
    add: (added) => {
      for (const definition of added) {
        const approvalMode = definition.approvalMode ?? definitions.get(definition.name)?.approvalMode;
        definitions.set(definition.name, { ...definition, approvalMode });
      }
    },
    async run(order, signal, onStep) {
      const { prompt, subagent_type, callId: parentCallId } = order;
      const definition = definitions.get(subagent_type);
      if (definition === undefined) throw new Error(`There is no subagent "${subagent_type}".`);
      const { runSubagent, toldToSession } = await import("../agent/subagent.ts");
      const conversation = new Conversation((event) => {
        const told = toldToSession(event, order);
        if (told !== null) ground.tell(told);
      });
      const { home, models, budget, maxTurns, mainPrompt, tools } = ground;
      const own = tools.forSubagent(definition, parentCallId, () => conversation.history.messages);
      const { prompt: instructions, model: name, tools: named = [] } = definition;
      if (named.length > 0 && own.registry.getAllTools().length === 0) {
        const reason = `none of its tools is known here: ${named.join(", ")}`;
        return { status: "failed", text: "", reason, steps: [] };
      }
      const words = { mainPrompt, instructions };
      const model = models.or(name ?? home.settings.model.subagent);
      const { small } = models;
      const agent = agentOf({ ...own, ...words, model, small, home, conversation, budget, maxTurns });
      return runSubagent(agent, { prompt, signal }, onStep);
    },
    start: (order) => ground.background.start(order, (signal, onStep) => joined.run(order, signal, onStep)),
  };
  return joined;
}
