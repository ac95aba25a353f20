import type { Workspace } from "@burin/contract/machine/workspace";
import { Agent, type AgentOptions, type CollectBriefing } from "../agent/agent.ts";
import { ContextFiles } from "../agent/context-files.ts";
import { buildSystemPrompt, describeEnvironment } from "./environment-facts.ts";
import type { Home } from "./home.ts";
import { createDeclarationList } from "./join-declarations.ts";
import type { JoinedHooks } from "./join-hooks.ts";
import { resolveContextWindow } from "./session-models.ts";
import type { ToolDiscovery } from "./tool-discovery.ts";

/** The fields of `AgentOptions` that `createAgent` computes from the other parts. */
type DerivedPart =
  | "declarations"
  | "systemPrompt"
  | "maxTurns"
  | "contextWindow"
  | "contextFiles"
  | "detectLoops";

interface AgentParts extends Omit<AgentOptions, DerivedPart> {
  readonly home: Home;
  /** The maximum number of replies of the model to one prompt. */
  readonly maxTurns: number | undefined;
  readonly workspace: Workspace;
  /** Tool sources that may still add tools. */
  readonly waiting?: ToolDiscovery;
  /** The embedder's own system prompt, instead of Burin's. */
  readonly mainPrompt?: string | undefined;
  /** Additional instructions, added to the system prompt. */
  readonly instructions?: string;
}

const DEFAULT_MAX_TURNS = 200;
const MAX_CONTEXT_CHARACTERS = 24_000;
/** Characters of instruction files per token of the window, so that they leave room for the work. */
const CONTEXT_SHARE = 0.3;

export function createAgent(parts: AgentParts): Agent {
  const { home, workspace, mainPrompt, instructions, waiting, maxTurns, ...needs } = parts;
  const { settings } = home;
  const contextWindow = resolveContextWindow(settings.model, needs.model);
  const maxCharacters = Math.floor(Math.min(MAX_CONTEXT_CHARACTERS, contextWindow * CONTEXT_SHARE));
  return new Agent({
    ...needs,
    declarations: createDeclarationList(parts),
    systemPrompt: [
      mainPrompt ?? buildSystemPrompt(workspace.roots),
      ...(settings.context.environment ? [describeEnvironment(workspace.root, home.environment)] : []),
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
        maxCharacters,
        readInside: (path) => readTextInside(workspace, path, maxCharacters),
      },
      needs.conversation,
    ),
  });
}

/** Returns a function that collects what the model gets about skills and from hooks. */
export function createBriefing(
  definitions: Home["definitions"],
  hooks: JoinedHooks | undefined,
): CollectBriefing {
  return async (moment, signal) => {
    const { skillsText } = await definitions();
    const at = moment === "start" ? "session_start" : "before_compaction";
    const said = (await hooks?.runEvent(at, signal)) ?? [];
    return [...(skillsText === null ? [] : [skillsText]), ...said];
  };
}

/** Reads a little more than will be shown, so that a cut is noticed. Returns null if the content is not text. */
async function readTextInside(workspace: Workspace, path: string, shown: number): Promise<string | null> {
  const max = shown * 2;
  const range = { offset: 0, limit: max, maxLineCharacters: max, maxCharacters: max };
  const content = await workspace.read(path, range, new AbortController().signal);
  return content.kind === "text" ? content.text : null;
}
