import type { ContextFill } from "@burin/contract/agent-event";
import type { ChatModel } from "@burin/contract/chat-model";
import type { Workspace } from "@burin/contract/machine/workspace";
import { type ModelPrice, type Settings, SettingsError } from "@burin/contract/settings/settings";
import { defaultContextWindow } from "@burin/models/choice/context-window";
import { costOf } from "@burin/models/replies/price";
import { Agent, type AgentNeeds, type Briefing } from "../agent/agent.ts";
import { Budget, parseBudget } from "../agent/budget.ts";
import { ContextFiles } from "../agent/context-files.ts";
import { DeclaredTools } from "../agent/declared-tools.ts";
import { systemPrompt } from "../agent/system-prompt.ts";
import { TOOL_SEARCH, ToolSearch } from "../tools/tool-search.ts";
import { environmentFacts } from "./environment-facts.ts";
import type { Home } from "./home.ts";
import type { JoinedHooks } from "./run-command.ts";
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
  /** More instructions, added to the system prompt. */
  readonly instructions?: string;
}

const DEFAULT_MAX_TURNS = 200;
const MOST_CONTEXT_CHARACTERS = 24_000;
/** Characters per token of the window: instruction files must leave room for the work. */
const CONTEXT_SHARE = 0.3;

/** In tokens: from the settings for this model or the main one, otherwise what is known for its name. */
export function contextWindowOf(
  { contextWindow }: { readonly contextWindow?: number },
  model: ChatModel,
): number {
  return model.contextWindow ?? contextWindow ?? defaultContextWindow(model.name);
}

export function agentOf(parts: AgentParts): Agent {
  const { home, workspace, instructions, waiting, maxTurns, ...needs } = parts;
  const { settings } = home;
  const contextWindow = contextWindowOf(settings.model, needs.model);
  const mostCharacters = Math.floor(Math.min(MOST_CONTEXT_CHARACTERS, contextWindow * CONTEXT_SHARE));
  return new Agent({
    ...needs,
    declarations: declarationsOf(parts),
    systemPrompt: [
      systemPrompt(workspace.roots),
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

/** Declares the tools that fit the budget, and a search tool for the rest if there are tool sources. */
function declarationsOf({ home, registry, waiting }: AgentParts) {
  const { tools, mcpServers } = home.settings;
  const declared = new DeclaredTools({
    registry,
    mostCharacters: tools.schemaBudget,
    isWaiting: () => waiting?.isWaiting ?? false,
  });
  const command = tools.toolDiscoveryCommand ? ["the discovery command"] : [];
  const sources = [...command, ...Object.keys(mcpServers)];
  const isExcluded = tools.exclude.includes(TOOL_SEARCH) || registry.getTool(TOOL_SEARCH) !== undefined;
  if (sources.length > 0 && !isExcluded) {
    const search = new ToolSearch({
      sources,
      undeclared: () => declared.undeclared(),
      declare: (names) => declared.declare(names),
      settle: async (signal) => (await waiting?.settle(signal)) ?? [],
    });
    registry.registerTool(search);
  }
  return () => declared.declarations();
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

/** The budget of a session, shared with everything that spends on its behalf. */
export function budgetOf(
  given: string | Budget | undefined,
  { name: model, price }: ChatModel,
  settings: Settings,
): Budget | undefined {
  if (typeof given !== "string") return given;
  const limits = parseBudget(given);
  const own = priceOf(model, settings) ?? price;
  if (limits.money !== undefined && own === undefined) {
    const example = `{"model": {"prices": {"${model}": {"input": 3, "output": 15}}}}`;
    throw new SettingsError(
      `A budget of money needs the price of ${model} per million tokens. Add it to the settings: ${example}`,
    );
  }
  // A subagent's model without a price is assumed to cost the same.
  return new Budget(limits, (name) => priceOf(name, settings) ?? own);
}

/** The price in the settings for a model name, with or without the name of its service in front. */
export function priceOf(name: string, { model: { prices = {} } }: Settings): ModelPrice | undefined {
  const known = new Map(Object.entries(prices));
  return known.get(name) ?? known.get(name.slice(name.lastIndexOf("/") + 1));
}

/** Fewer tokens are not worth a notice. */
const LEAST_TOLD_TOKENS = 10_000;

/** What the next request costs when none of it is cached; empty when that is little. */
export function costNotice(
  what: string,
  { tokens: inputTokens }: ContextFill,
  { model, price }: { readonly model: ChatModel; readonly price: ModelPrice | undefined },
): string[] {
  if (inputTokens < LEAST_TOLD_TOKENS) return [];
  const cost = costOf({ inputTokens, outputTokens: 0, cachedTokens: 0 }, price);
  const money = cost === undefined ? "" : `, about $${cost.toFixed(2)}`;
  const thousands = Math.round(inputTokens / 1000);
  return [`${what} sends about ${thousands}k tokens to ${model.name} that it may not have cached${money}.`];
}
