import type { Workspace } from "@burin/contract/machine/workspace";
import { Agent, type AgentNeeds, type Briefing } from "../agent/agent.ts";
import { ContextFiles } from "../agent/context-files.ts";
import { environmentFacts, systemPrompt } from "./environment-facts.ts";
import type { Home } from "./home.ts";
import { declarationsOf } from "./join-declarations.ts";
import type { JoinedHooks } from "./join-hooks.ts";
import { contextWindowOf } from "./session-models.ts";
import type { ToolDiscovery } from "./tool-discovery.ts";

/** What is worked out here from the parts. */
type Made = "declarations" | "systemPrompt" | "maxTurns" | "contextWindow" | "contextFiles" | "detectLoops";

interface AgentParts extends Omit<AgentNeeds, Made> {
  readonly home: Home;
  /** Most replies of the model to one prompt. */
  readonly maxTurns: number | undefined;
  readonly workspace: Workspace;
  /** Sources that may still bring tools. */
  readonly waiting?: ToolDiscovery;
  /** The embedder's own words, in place of Burin's. */
  readonly mainPrompt?: string | undefined;
  /** More instructions, added to the system prompt. */
  readonly instructions?: string;
}

const DEFAULT_MAX_TURNS = 200;
const MOST_CONTEXT_CHARACTERS = 24_000;
/** Characters per token of the window: instruction files must leave room for the work. */
const CONTEXT_SHARE = 0.3;

export function agentOf(parts: AgentParts): Agent {
  const { home, workspace, mainPrompt, instructions, waiting, maxTurns, ...needs } = parts;
  const { settings } = home;
  const contextWindow = contextWindowOf(settings.model, needs.model);
  const mostCharacters = Math.floor(Math.min(MOST_CONTEXT_CHARACTERS, contextWindow * CONTEXT_SHARE));
  return new Agent({
    ...needs,
    declarations: declarationsOf(parts),
    systemPrompt: [
      mainPrompt ?? systemPrompt(workspace.roots),
      ...(settings.context.environment ? [environmentFacts(workspace.root, home.environment)] : []),
      ...(instructions ? [instructions] : []),
    ].join("\n\n"),
    maxTurns: maxTurns ?? DEFAULT_MAX_TURNS,
    contextWindow,
    detectLoops: settings.loop.detection,
    contextFiles: new ContextFiles(
      {
        home: home.folder,
        roots: workspace.roots,
        fileNames: settings.context.fileNames,
        mostCharacters,
        readInside: (path) => textInside(workspace, path, mostCharacters),
      },
      needs.conversation,
    ),
  });
}

/** What the model gets about skills and from hooks. */
export function briefingOf(definitions: Home["definitions"], hooks: JoinedHooks | undefined): Briefing {
  return async (moment, signal) => {
    const { skillsText } = await definitions();
    const at = moment === "start" ? "session_start" : "before_compaction";
    const said = (await hooks?.at(at, signal)) ?? [];
    return [...(skillsText === null ? [] : [skillsText]), ...said];
  };
}

/** Reads a little more than is shown, so that a cut is noticed; null when tools may not read the file. */
async function textInside(workspace: Workspace, path: string, shown: number): Promise<string | null> {
  const most = shown * 2;
  const range = { offset: 0, limit: most, mostLineCharacters: most, mostCharacters: most };
  const content = await workspace.read(path, range, new AbortController().signal);
  return content.kind === "text" ? content.text : null;
}
