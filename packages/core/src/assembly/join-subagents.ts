import type { AgentEvent } from "@burin/contract/agent-event";
import type { Agent } from "../agent/agent.ts";
import type { BackgroundTasks } from "../agent/background-tasks.ts";
import type { Budget } from "../agent/budget.ts";
import { Conversation } from "../agent/conversation.ts";
import type { SubagentDefinition } from "../agent/subagent.ts";
import type { Subagents } from "../tools/task.ts";
import type { Home } from "./home.ts";
import { createAgent } from "./join-agent.ts";
import type { Models } from "./session-models.ts";
import type { SubagentMaker } from "./tool-set.ts";

const READING = [
  "list_directory",
  "read_file",
  "read_many_files",
  "glob",
  "search_file_content",
  "run_shell_command",
  "web_fetch",
  "web_search",
];

const BUILT_IN_SUBAGENTS: readonly SubagentDefinition[] = [
  {
    name: "explore",
    description: "finds things out in the files or on the web; changes nothing",
    prompt:
      "You explore. Search broadly first, read what matters, and answer with facts and where they stand (path and line).",
    tools: READING,
    approvalMode: "plan",
  },
  {
    name: "plan",
    description: "works out how to do something, step by step; changes nothing",
    prompt:
      "You plan. Look at what is there, then answer with the steps in order, the files each one touches, and what could go wrong.",
    tools: READING,
    approvalMode: "plan",
  },
  {
    name: "general",
    description: "does a whole task with all tools",
    prompt: "You do the whole task, check that it works, and answer with what you did.",
  },
];

/** What a session shares with its subagents. */
interface SubagentOptions {
  readonly home: Home;
  readonly models: Models;
  readonly budget: Budget | undefined;
  readonly maxTurns: number | undefined;
  /** The embedder's own system prompt, instead of Burin's. */
  readonly mainPrompt: string | undefined;
  /** Reports what the session should know about its subagents. */
  readonly tell: (event: AgentEvent) => void;
  readonly background: BackgroundTasks;
}

export interface JoinedSubagents extends SubagentMaker {
  readonly known: readonly SubagentDefinition[];
  /** Adds definitions from files. They replace built-in ones of the same name, whose mode is kept if they name none. */
  add(definitions: readonly SubagentDefinition[]): void;
}

/** Joins the built-in subagents with those that are added later. */
export function joinSubagents(ground: SubagentOptions): JoinedSubagents {
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
    with: (tools) => {
      const run: Subagents["run"] = async (order, signal, onStep) => {
        const definition = definitions.get(order.subagent_type);
        if (definition === undefined) throw new Error(`There is no subagent "${order.subagent_type}".`);
        const { runSubagent, toSessionEvent } = await import("../agent/subagent.ts");
        const agent = openAgent(definition, order.callId, {
          ...ground,
          tools,
          hear: (event) => {
            const told = toSessionEvent(event, order);
            if (told !== null) ground.tell(told);
          },
        });
        if (typeof agent === "string") return { status: "failed", text: "", reason: agent, steps: [] };
        return runSubagent(agent, { prompt: order.prompt, signal }, onStep);
      };
      return {
        get known() {
          return joined.known;
        },
        run,
        start: (order) => ground.background.start(order, (signal, onStep) => run(order, signal, onStep)),
      };
    },
  };
  return joined;
}

interface TaskContext extends SubagentOptions {
  readonly tools: Parameters<SubagentMaker["with"]>[0];
  readonly hear: (event: AgentEvent) => void;
}

/** Returns the agent for one task, or why there can be none. */
function openAgent(
  definition: SubagentDefinition,
  parentCallId: string,
  ground: TaskContext,
): Agent | string {
  const { tools, hear, home, models, budget, maxTurns, mainPrompt } = ground;
  const conversation = new Conversation(hear);
  const own = tools.forSubagent(definition, parentCallId, () => conversation.history.messages);
  const { prompt: instructions, model: name, tools: named = [] } = definition;
  if (named.length > 0 && own.registry.getAllTools().length === 0)
    return `none of its tools is known here: ${named.join(", ")}`;
  const words = { mainPrompt, instructions };
  const model = models.getModelOrDefault(name ?? home.settings.model.subagent);
  const { small } = models;
  return createAgent({ ...own, ...words, model, small, home, conversation, budget, maxTurns });
}
