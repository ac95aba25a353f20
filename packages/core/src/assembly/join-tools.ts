import { join } from "node:path";
import type { Workspace } from "@burin/contract/machine/workspace";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { mergeSettings, type Settings } from "@burin/contract/settings/settings";
import type { ReadMemory } from "@burin/machine/files/read-record";
import { openWorkspace, type WorkspaceSettings } from "@burin/machine/node-workspace";
import { commandList } from "@burin/machine/processes/command-list";
import type { Rule } from "@burin/shell-judge";
import { type ApprovalMode, CurrentMode } from "@burin/shell-judge";
import type { SubagentDefinition } from "../agent/subagent-definitions.ts";
import { type Confirm, Scheduler } from "../scheduler/scheduler.ts";
import { burinHome } from "../settings/load-settings.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { builtInTools } from "../tools/built-in-tools.ts";
import type { Planning } from "../tools/exitPlanMode.ts";
import type { Subagents } from "../tools/task.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import type { AnswerFromPage } from "../tools/web-fetch.ts";
import { lazyApproval, oneAtATime, parsedRules } from "./join-approval.ts";
import { commandsOf } from "./join-commands.ts";
import { grantsOf } from "./join-grants.ts";
import { joinHooks } from "./join-hooks.ts";
import type { ForServers } from "./join-mcp.ts";
import { memoryPlaces } from "./join-memory.ts";
import { undoJournal } from "./join-recording.ts";
import { webParts } from "./join-search.ts";
import { discoveryOf } from "./open-sources.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

const READING_TOOLS = ["read_file", "read_many_files", "search_file_content"];

/** What only a session has. */
interface SessionParts {
  readonly correctEdit?: CorrectEdit;
  readonly mostAnswerCharacters?: number;
  readonly subagents?: Subagents;
  readonly answerFromPage?: AnswerFromPage;
  readonly forServers?: ForServers;
  readonly recorded?: () => Promise<void>;
  /** Who changes files, for undo; without it nothing is kept for that. */
  readonly undoWriter?: string;
  readonly sessionId?: string;
  /** What the session's own agent is shown of files; subagents have their own. */
  readonly reads?: ReadMemory;
  /** Asked instead of a person; subagents have nobody to ask then. */
  readonly park?: Confirm;
}

/** The tools and the flow around them. */
export function joinParts(given: ToolboxOptions, forSession: SessionParts = {}) {
  const options = given.confirm ? { ...given, confirm: oneAtATime(given.confirm) } : given;
  const { recorded, forServers = {}, undoWriter, sessionId, reads, park, ...toolParts } = forSession;
  const settings = mergeSettings([options.settings ?? {}]);
  const rules = parsedRules(settings.permissions);
  const home = burinHome(options.environment ?? process.env);
  const access = {
    ...settings.files,
    denied: unreadablePaths(rules.deny),
    readable: [join(home, "output"), join(home, "skills")],
    ...(undoWriter ? { openJournal: () => undoJournal(home, workspace.root, undoWriter) } : {}),
  };
  const open = (more: Pick<WorkspaceSettings, "reads"> = {}) =>
    openWorkspace(options.root, options.includeDirectories, { ...access, ...more });
  const workspace: Workspace = open(reads ? { reads } : {});
  const current = new CurrentMode(options.approvalMode ?? "default");
  const commands = commandsOf(options, settings, { workspace, current });
  const { surroundings } = commands;
  const registry = new ToolRegistry((name) => isDeclared(name, settings.tools));
  const spoken = { inputs: 0 };
  const shared = {
    ...toolParts,
    commands,
    svgAsText: settings.tools.svgAsText,
    overwriteUnread: options.overwriteUnread ?? false,
    memory: memoryPlaces({ workspace, home, fileNames: settings.context.fileNames }),
    planning: planningOf(current, spoken),
    ...webParts(settings, { environment: options.environment ?? process.env, discovery: () => discovery }),
  };
  const toolsIn = (place: Workspace) => builtInTools({ ...shared, workspace: place });
  for (const tool of toolsIn(workspace)) {
    if (isDeclared(tool.name, settings.tools)) registry.registerTool(tool);
  }
  for (const tool of options.tools ?? []) registry.registerTool(tool, "embedder");
  const discovery = discoveryOf({ settings, options, registry, workspace, commands, forServers });
  const grants = grantsOf(home, workspace.root);
  const judgeIn = (mode: { readonly mode: ApprovalMode }) =>
    lazyApproval({ current: mode, rules, grants, roots: workspace.roots, surroundings });
  const approval = judgeIn(current);
  const notes: string[] = [];
  const report = (message: string) => void notes.push(message);
  const session = sessionId === undefined ? {} : { sessionId };
  const hooks = joinHooks({ settings, workspace, commands, report, ...session });
  const flow = {
    ...(hooks ? { hooks } : {}),
    onGrant: grants.add,
    ...(options.confirm ? { confirm: options.confirm } : {}),
    ...(recorded ? { recorded } : {}),
  };
  const scheduler = new Scheduler({
    ...flow,
    ...(park ? { confirm: oneAtATime(park) } : {}),
    registry,
    judge: approval,
    awaitTools: (names, signal) => discovery.waitFor(names, signal),
  });
  const forSubagent = async (definition: SubagentDefinition) => {
    const { subagentTools } = await import("./join-subagent-tools.ts");
    const own = open();
    const lent = { ...flow, registry, newTools: () => toolsIn(own), session: current, judgeIn };
    return { ...subagentTools(lent, definition), workspace: own };
  };
  const close = async () => {
    await discovery.close();
    await commands.close();
  };
  const parts = { registry, scheduler, discovery, workspace, approval, current, spoken, forSubagent };
  return { ...parts, root: workspace.root, commands: commandList(commands), close, hooks, notes };
}

/** `spoken` counts what the person has said, for a plan that is shown again. */
function planningOf(current: CurrentMode, spoken: { readonly inputs: number }): Planning {
  return {
    get isActive() {
      return current.mode === "plan";
    },
    get inputs() {
      return spoken.inputs;
    },
    leave: (mode) => current.leavePlan(mode),
  };
}

function isDeclared(name: string, { include, exclude }: Settings["tools"]): boolean {
  const matches = (pattern: string) => globMatcher(pattern, { caseSensitive: true })(name);
  return (include.length === 0 || include.some(matches)) && !exclude.some(matches);
}

/** A deny rule for one way to read a file is meant for the file: it closes it to every tool. */
function unreadablePaths(deny: readonly Rule[]): string[] {
  return deny.flatMap(({ tool, pattern }) => {
    const matches = globMatcher(tool, { caseSensitive: true });
    return pattern !== undefined && READING_TOOLS.some(matches) ? [pattern] : [];
  });
}
