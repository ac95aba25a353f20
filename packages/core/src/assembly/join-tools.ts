import { join } from "node:path";
import { type ApprovalMode, CurrentMode } from "@burin/contract/approval-mode";
import type { Workspace } from "@burin/contract/machine/workspace";
import type { Message } from "@burin/contract/messages/message";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { mergeSettings, type Settings } from "@burin/contract/settings/settings";
import { nodeMachine } from "@burin/machine/files/node-machine";
import type { ReadMemory } from "@burin/machine/files/read-record";
import type { Machine } from "@burin/machine/machine";
import { commandList } from "@burin/machine/processes/command-list";
import type { Rule } from "@burin/shell-judge";
import { CallIds } from "../agent/call-ids.ts";
import type { Confirm, QuestionNeeds } from "../scheduler/questions.ts";
import type { RunCalls, Scheduler, SchedulerNeeds } from "../scheduler/scheduler.ts";
import { burinHome } from "../settings/load-settings.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { builtInTools } from "../tools/built-in-tools.ts";
import type { Planning } from "../tools/exitPlanMode.ts";
import type { Subagents } from "../tools/task.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import type { AnswerFromPage } from "../tools/web-fetch.ts";
import { LazyQuestions, lazyApproval, parsedRules } from "./join-approval.ts";
import { commandsOf } from "./join-commands.ts";
import { grantsOf } from "./join-grants.ts";
import { joinHooks } from "./join-hooks.ts";
import type { ForServers } from "./join-mcp.ts";
import { memoryPlaces } from "./join-memory.ts";
import { undoJournal } from "./join-recording.ts";
import { webParts } from "./join-search.ts";
import type { LentTo } from "./join-subagent-tools.ts";
import { discoveryOf } from "./open-sources.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

const READING_TOOLS = ["read_file", "read_many_files", "search_file_content"];

type History = () => readonly Message[];

/** What only a session has. */
interface SessionParts {
  /** Knows what was said around a call by the history of the agent that makes it. */
  readonly correctEditOf?: (history: History) => CorrectEdit;
  readonly history?: History;
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
  /** Asked instead of the user; subagents have nobody to ask then. */
  readonly park?: Confirm | undefined;
  /** Questions wait for an answer by their id. */
  readonly awaitsAnswers?: boolean | undefined;
  readonly asking?: Pick<QuestionNeeds, "tell" | "recall"> | undefined;
  readonly onMode?: ((mode: ApprovalMode) => void) | undefined;
}

/** The tools and the flow around them. */
export function joinParts(options: ToolboxOptions, forSession: SessionParts = {}) {
  const { recorded, forServers = {}, undoWriter, sessionId, reads, ...others } = forSession;
  const { park, awaitsAnswers, asking, onMode, ...toolParts } = others;
  const { queue, questions, own: ownQuestions } = questionsOf(options, { park, awaitsAnswers, asking });
  const settings = mergeSettings([options.settings ?? {}]);
  const rules = parsedRules(settings.permissions);
  const { machine = nodeMachine, environment = process.env } = options;
  const home = burinHome(environment);
  const open = workspaceOpener(options, { settings, rules, home, undoWriter, machine });
  const workspace = open(reads);
  const current = new CurrentMode(options.approvalMode ?? "default", onMode);
  const commands = commandsOf(options, settings, { workspace, current, machine });
  const registry = new ToolRegistry((name) => isDeclared(name, settings.tools));
  const spoken = { inputs: 0 };
  const shared = {
    ...toolParts,
    commands,
    svgAsText: settings.tools.svgAsText,
    overwriteUnread: options.overwriteUnread ?? false,
    memory: memoryPlaces({ workspace, home, fileNames: settings.context.fileNames }),
    planning: planningOf(current, spoken),
    ...webParts(settings, { environment, discovery: () => discovery }),
  };
  const toolsIn = (at: Workspace, own: Correction) => builtInTools({ ...shared, ...own, workspace: at });
  for (const tool of toolsIn(workspace, correctionOf(forSession))) {
    if (isDeclared(tool.name, settings.tools)) registry.registerTool(tool);
  }
  for (const tool of options.tools ?? []) registry.registerTool(tool, "embedder");
  const grants = grantsOf(home, workspace.root);
  const ground = { rules, grants, workspace, commands, machine, environment, settings };
  const discovery = discoveryOf({ ...ground, options, registry, forServers, ...questions });
  const judgeIn = (mode: { readonly mode: ApprovalMode }) => lazyApproval({ ...ground, current: mode });
  const approval = judgeIn(current);
  const notes: string[] = [];
  const report = (note: string) => void notes.push(note);
  const session = sessionId === undefined ? {} : { sessionId };
  const hooks = joinHooks({ ...ground, report, ...session });
  const flow = {
    ...(hooks ? { hooks } : {}),
    onGrant: grants.add,
    ...questions,
    ...(recorded ? { recorded } : {}),
  };
  const runCalls = lazyCalls({
    ...flow,
    ...ownQuestions,
    registry,
    judge: approval,
    awaitTools: (names, signal) => discovery.waitFor(names, signal),
  });
  const callIds = new CallIds();
  const forSubagent = async (to: LentTo, said: History) => {
    const { subagentTools } = await import("./join-subagent-tools.ts");
    const [own, correction] = [open(), correctionOf({ ...forSession, history: said })];
    const lent = { ...flow, registry, newTools: () => toolsIn(own, correction), session: current, judgeIn };
    return { ...subagentTools(lent, to), callIds, workspace: own };
  };
  const close = async () => {
    await discovery.close();
    await commands.close();
  };
  const parts = { registry, runCalls, callIds, discovery, workspace, approval, current, spoken, forSubagent };
  const { root } = workspace;
  return { ...parts, questions: queue, root, commands: commandList(commands), close, hooks, notes };
}

/** Who answers questions. `own`: to the session's own calls, where nobody may be there to ask and they are parked. */
function questionsOf(
  { confirm }: ToolboxOptions,
  { park, awaitsAnswers = false, asking }: Pick<SessionParts, "park" | "awaitsAnswers" | "asking">,
) {
  const answering = park ?? confirm;
  const queue = new LazyQuestions({ ...asking, ...(answering ? { confirm: answering } : {}) });
  const ask = { questions: queue.load };
  return { queue, questions: confirm || awaitsAnswers ? ask : {}, own: park ? ask : {} };
}

interface OpenerGround {
  readonly settings: Settings;
  readonly rules: { readonly deny: readonly Rule[] };
  readonly home: string;
  readonly undoWriter: string | undefined;
  readonly machine: Machine;
}

/** Opens the workspace, anew for each agent: one knows nothing of what another has read. */
function workspaceOpener(
  { root, includeDirectories = [] }: ToolboxOptions,
  { settings, rules, home, undoWriter, machine }: OpenerGround,
) {
  const access = {
    ...settings.files,
    denied: unreadablePaths(rules.deny),
    readable: [join(home, "output"), join(home, "skills")],
    ...(undoWriter ? { openJournal: () => undoJournal(home, opened?.root ?? root, undoWriter) } : {}),
  };
  let opened: Workspace | undefined;
  return (reads?: ReadMemory): Workspace => {
    opened = machine.openFiles(root, includeDirectories, reads ? { ...access, reads } : access);
    return opened;
  };
}

/** The flow of calls; its code is loaded with the first one. */
function lazyCalls(needs: SchedulerNeeds): RunCalls {
  let loading: Promise<Scheduler> | null = null;
  const load = async () => new (await import("../scheduler/scheduler.ts")).Scheduler(needs);
  return async (calls, signal, onCall) => {
    loading ??= load();
    return (await loading).run(calls, signal, onCall);
  };
}

interface Correction {
  readonly correctEdit?: CorrectEdit;
}

function correctionOf({ correctEditOf, history }: SessionParts): Correction {
  return history && correctEditOf ? { correctEdit: correctEditOf(history) } : {};
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
