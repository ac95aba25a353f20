import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import type { BackgroundTasks } from "../agent/background-tasks.ts";
import type { Budget } from "../agent/budget.ts";
import { Conversation } from "../agent/conversation.ts";
import { BUILT_IN_SUBAGENTS } from "../agent/subagent-definitions.ts";
import type { Subagents } from "../tools/task.ts";
import type { Home } from "./home.ts";
import { agentOf } from "./join-agent.ts";
import type { Models } from "./session-models.ts";
import type { ToolSet } from "./tool-set.ts";

/** What a session lends to its subagents. */
interface SubagentGround {
  readonly home: Home;
  readonly models: Models;
  readonly budget: Budget | undefined;
  readonly maxTurns: number | undefined;
  readonly tools: ToolSet;
  /** Hears what the session is to know of what its subagents do. */
  readonly tell: (event: AgentEvent) => void;
  readonly background: BackgroundTasks;
}

export interface JoinedSubagents extends Subagents {
  /** Reads the definitions, the first time it is called; resolves to what was wrong with some of them. */
  load(): Promise<readonly string[]>;
}

/** The subagents built in and those that files define; a file's definition wins over one built in. */
export function joinSubagents(ground: SubagentGround): JoinedSubagents {
  const definitions = new Map(BUILT_IN_SUBAGENTS.map((definition) => [definition.name, definition]));
  let isLoaded = false;
  const joined: JoinedSubagents = {
    get known() {
      return [...definitions.values()];
    },
    async load() {
      if (isLoaded) return [];
      isLoaded = true;
      const folders = ground.home.definitionFolders
        .map((folder) => join(folder, "agents"))
        .filter((folder) => existsSync(folder));
      if (folders.length === 0) return [];
      const { subagentsIn } = await import("../agent/subagent-files.ts");
      const { found, problems } = await subagentsIn(folders);
      for (const definition of found) definitions.set(definition.name, definition);
      return problems;
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
      const { home, models, budget, maxTurns, tools } = ground;
      const own = await tools.forSubagent({ definition, parentCallId }, () => conversation.history.messages);
      const { prompt: instructions, model: name } = definition;
      const model = models.or(name ?? home.settings.model.subagent);
      const agent = agentOf({ ...own, model, home, conversation, budget, maxTurns, instructions });
      return runSubagent(agent, { prompt, signal }, onStep);
    },
    start: (order) => ground.background.start(order, (signal, onStep) => joined.run(order, signal, onStep)),
  };
  return joined;
}
