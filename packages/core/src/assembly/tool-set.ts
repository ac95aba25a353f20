import { join } from "node:path";
import type { MachineCommands } from "@burin/commands/machine";
import { openWorkspace } from "@burin/commands/node-machine";
import { type ApprovalMode, CurrentMode, pickStricterMode } from "@burin/contract/approval-mode";
import { createLazyMethods } from "@burin/contract/async/lazy-methods";
import { once } from "@burin/contract/async/once";
import type { Workspace } from "@burin/contract/machine/workspace";
import type { Message } from "@burin/contract/messages/message";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Settings } from "@burin/contract/settings/settings";
import type { Tool } from "@burin/contract/tools";
import { makeFolders } from "@burin/files/disk/own-files";
import type { ReadMemory } from "@burin/files/workspace/node-workspace";
import type { McpDoor } from "@burin/mcp/mcp-door";
import { resolveContextFileNames } from "../agent/context-files.ts";
import type { SubagentDefinition } from "../agent/subagent.ts";
import { CallIds } from "../scheduler/call-ids.ts";
import type { Confirm, QuestionOptions } from "../scheduler/questions.ts";
import type { RunCalls, SchedulerOptions } from "../scheduler/scheduler.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { createBuiltInTools } from "../tools/built-in-tools.ts";
import type { Planning } from "../tools/exitPlanMode.ts";
import type { MemoryFiles } from "../tools/memoryTool.ts";
import type { Subagents } from "../tools/task.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import type { AnswerPageQuestion } from "../tools/web-fetch.ts";
import type { WebSearcher } from "../tools/web-search.ts";
import { GitNews } from "./environment-facts.ts";
import { guardTool } from "./guarded-tool.ts";
import { buildWorkspaceAccess, chooseMode, type Home } from "./home.ts";
import { createLazyApproval, Grants, LazyQuestions } from "./join-approval.ts";
import { type JoinedHooks, joinHooks } from "./join-hooks.ts";
import type { JoinedJournal } from "./join-journal.ts";
import type { ServerOptions } from "./join-mcp.ts";
import type { SessionGrants, ToolboxOptions } from "./options.ts";
import {
  createLazyMcp,
  createLazyServerCall,
  createToolDiscovery,
  type ToolDiscovery,
} from "./tool-discovery.ts";

const IDLE_MS = 300;
const EXACT = { caseSensitive: true };
/** Tools that only the session itself has: they handle its plan, todos, tasks and tool search. */
const NOT_FOR_SUBAGENTS = new Set(["task", "todo_write", "exit_plan_mode", "tool_search"]);

/** Returns an agent's messages so far. */
export type ReadMessages = () => readonly Message[];

export interface SessionParts {
  /** Corrects edits with the help of the text around a call, taken from the messages of the agent that made it. */
  readonly correctEditOf?: (said: ReadMessages) => CorrectEdit;
  readonly said?: ReadMessages;
  readonly maxAnswerCharacters?: number;
  readonly answerFromPage?: AnswerPageQuestion;
  readonly subagents?: SubagentMaker;
  readonly forServers?: ServerOptions;
  readonly recorded?: () => Promise<void>;
  readonly recordsReads?: boolean;
  /** The id under which changes are stored for undo. Without it, nothing is stored. */
  readonly undoWriter?: string | undefined;
  readonly sessionId?: string;
  /** Whether the model is told what is not committed. */
  readonly tellsGit?: boolean;
  /** What the session's own agent has seen of files. Subagents have a memory of their own. */
  readonly reads?: ReadMemory;
  /** Called instead of asking the user. If set, subagents cannot ask at all. */
  readonly park?: Confirm | undefined;
  /** Whether questions wait for an answer by their id. */
  readonly awaitsAnswers?: boolean | undefined;
  readonly asking?: AskingOptions;
  readonly onMode?: (mode: ApprovalMode) => void;
}

export interface SubagentMaker {
  /** Subagents that have these tools, or fewer. */
  with(tools: Pick<ToolSet, "forSubagent">): Subagents;
}

interface AskingOptions extends Pick<QuestionOptions, "tell" | "recall"> {
  /** Whether the answer to this call's question was already given before the question is asked. */
  readonly knows: (callId: string) => boolean;
}

/** The tools of a toolbox or a session, and the flow around them. */
export class ToolSet {
  /** For internal use: tools from this registry run without any question. */
  readonly registry: ToolRegistry;
  /** The registry for others: its tools go through the whole flow. */
  readonly guarded: ToolRegistry;
  readonly mcp: McpDoor;
  readonly workspace: Workspace;
  readonly commands: MachineCommands;
  readonly discovery: ToolDiscovery;
  readonly questions: LazyQuestions;
  readonly current: CurrentMode;
  readonly hooks: JoinedHooks | undefined;
  readonly journal: JoinedJournal;
  readonly callIds = new CallIds();
  /** Messages for the user, passed on before the next event. */
  readonly notes: string[] = [];
  /** Counts the user's prompts, so that a plan can be presented again after a new prompt. */
  readonly spoken = { inputs: 0 };
  readonly judge: SchedulerOptions["judge"];
  readonly runCalls: RunCalls;
  /** The facts about the folder that only git knows. Only set for a session. */
  readonly gitNews: GitNews | undefined;
  /** Asks git, in parallel to the first request and only then: later, calls may have changed the answer. */
  readonly onRequestSent = once(() => this.gitNews?.readGitFacts(this.#closing.signal));
  readonly #closing = new AbortController();
  readonly #home: Home;
  readonly #grants: Grants;
  readonly #openWorkspace: (own: Pick<SessionParts, "reads">) => Workspace;
  readonly #opened: readonly string[];
  readonly #report = (message: string) => void this.notes.push(message);
  readonly #toolsIn: (workspace: Workspace, said?: ReadMessages) => Tool[];
  readonly #flow: Pick<
    SchedulerOptions,
    "hooks" | "onGrant" | "questions" | "recorded" | "recordsReads" | "closing" | "journal" | "timeouts"
  >;

  constructor(options: ToolboxOptions, given: Home, parts: SessionParts = {}) {
    const { settings, machine } = given;
    const { recorded, recordsReads = false, undoWriter, park, reads } = parts;
    const openJournal = async () => {
      const { UndoJournal } = await import("../session/undo/undo-journal.ts");
      return new UndoJournal(given.folder, this.workspace.root, undoWriter ?? "").onChange;
    };
    const beginWrite = (folder: string) => this.commands.beginWrite?.(folder);
    const access = { ...buildWorkspaceAccess(given), beginWrite, ...(undoWriter ? { openJournal } : {}) };
    this.#opened = access.opened;
    this.#openWorkspace = (own) =>
      machine.openFiles(given.root, options.includeDirectories ?? [], { ...access, ...own });
    this.workspace = this.#openWorkspace(reads ? { reads } : {});
    // An embedder's machine may know its root by another path.
    const home = { ...given, root: this.workspace.root };
    this.#home = home;
    const { roots } = this.workspace;
    if (parts.tellsGit) this.gitNews = new GitNews({ ...home, roots });
    // With a user at the screen, there is time before the first request, once the screen is drawn.
    if (parts.awaitsAnswers) setTimeout(this.onRequestSent, IDLE_MS).unref();
    const modes = settings.managed?.approvalModes;
    this.current = new CurrentMode(chooseMode(options, settings), parts.onMode, modes);
    const report = this.#report;
    this.commands = this.#openCommands();
    this.registry = new ToolRegistry((name) => isIncludedTool(name, settings.tools));
    const nobody = parts.awaitsAnswers ? undefined : async () => null;
    this.questions = new LazyQuestions({ ...parts.asking, confirm: park ?? options.confirm ?? nobody });
    const questions = options.confirm || parts.awaitsAnswers ? this.questions.load : undefined;
    const { registry, commands, workspace } = this;
    const { forServers = {}, sessionId } = parts;
    this.discovery = createToolDiscovery({ home, roots, commands, registry, forServers, questions });
    // If a program stores the log itself (as the fleet does), it gets the changes of a task as a patch.
    const writer = recordsReads ? undefined : undoWriter;
    const { isCopy = false } = options;
    const noted = { home, roots, registry, report, writer, isCopy, signal: this.#closing.signal };
    const loadJournal = once(async () => (await import("./join-journal.ts")).joinJournal(noted));
    this.journal = createLazyMethods(loadJournal, ["ofCalls", "ofCommand", "look", "findContainment"]);
    this.hooks = joinHooks({ home, commands, report, sessionId, journal: this.journal });
    this.#grants = new Grants(home.folder, home.root);
    this.judge = this.#createJudge(this.current);
    const closing = this.#closing.signal;
    const journal = this.journal.ofCalls;
    const { hooks } = this;
    const { toolTimeouts: timeouts } = options;
    const store = { recorded, recordsReads, journal };
    this.#flow = { hooks, onGrant: this.#grants.add, questions, closing, timeouts, ...store };
    this.#toolsIn = this.#createToolMaker(options, parts, parts.subagents?.with(this));
    for (const tool of this.#toolsIn(workspace, parts.said)) {
      if (isIncludedTool(tool.name, settings.tools)) registry.registerOwn(tool);
      else registry.leftOut.push(tool.name);
    }
    for (const tool of options.tools ?? []) registry.registerTool(tool, "embedder");
    const { judge, callIds } = this;
    const asking = park ? this.questions.load : (questions ?? this.#createAnsweredQueueLookup(parts.asking));
    const flow = { ...this.#flow, questions: asking, judge };
    const guardOwnTool = (tool: Tool) => guardTool(tool, { ...flow, callIds });
    this.guarded = registry.createGuardedView(guardOwnTool);
    this.mcp = createLazyMcp(this.discovery, guardOwnTool);
    this.runCalls = createLazyCalls({
      ...flow,
      registry,
      awaitTools: (names, signal) => this.discovery.waitFor(names, signal),
    });
  }

  /**
   * Creates the registry and the flow of one subagent, which never has more tools or rights than the session. It gets
   * its own built-in tools, which do not know what the session has read.
   */
  forSubagent(definition: SubagentDefinition, parentCallId: string, said: ReadMessages) {
    const { name, tools = ["*"], withoutTools = [], approvalMode } = definition;
    const workspace = this.#openWorkspace({});
    const registry = new ToolRegistry();
    const createNameMatcher = (patterns: readonly string[]) => {
      const matchers = patterns.map((pattern) => createGlobMatcher(pattern, EXACT));
      return (tool: string) => matchers.some((matches) => matches(tool));
    };
    const [isWanted, isUnwanted] = [createNameMatcher(tools), createNameMatcher(withoutTools)];
    const isOfferedToSubagent = (tool: string) =>
      isWanted(tool) && !isUnwanted(tool) && !NOT_FOR_SUBAGENTS.has(tool);
    const fresh = new Map(this.#toolsIn(workspace, said).map((tool) => [tool.name, tool]));
    for (const tool of this.registry.getAllTools()) {
      if (!isOfferedToSubagent(tool.name)) continue;
      const own = this.registry.isOwn(tool.name) ? fresh.get(tool.name) : undefined;
      if (own) registry.registerOwn(own);
      else registry.registerTool(tool, this.registry.getToolSource(tool.name));
    }
    const { current, callIds } = this;
    const judge = this.#createJudge({
      get mode() {
        return pickStricterMode(current.mode, approvalMode ?? current.mode);
      },
    });
    const subagent = { agent: name, parentCallId };
    const awaitTools = async (names: readonly string[], signal: AbortSignal) => {
      await this.discovery.waitFor(
        names.filter((name) => registry.getTool(name)),
        signal,
      );
      registry.replaceOutdatedTools(this.registry);
    };
    const runCalls = createLazyCalls({ ...this.#flow, registry, judge, subagent, awaitTools });
    return { registry, runCalls, callIds, workspace };
  }

  /** The root, and all other folders that tools can read. */
  get folders(): readonly [root: string, ...more: string[]] {
    return [this.workspace.root, ...this.workspace.roots.slice(1), ...this.#opened];
  }

  /** What the user allowed until this session ends. */
  get sessionGrants(): SessionGrants {
    return this.#grants;
  }

  /** Refuses every call from here on, including those that wait. */
  refuseCalls(): void {
    this.#closing.abort();
  }

  async close(): Promise<void> {
    this.refuseCalls();
    await this.discovery.close();
    await this.commands.close();
  }

  /** Returns the queue for a question that was answered earlier, if nobody can be asked now. */
  #createAnsweredQueueLookup(asking: AskingOptions | undefined): SchedulerOptions["questions"] {
    return (callId) => (asking?.knows(callId) ? this.questions.load() : undefined);
  }

  #createJudge(current: { readonly mode: ApprovalMode }): SchedulerOptions["judge"] {
    const { roots } = this.workspace;
    const { shell } = this.commands;
    const checkContainment = () => this.journal.findContainment(() => this.commands.sandbox());
    const ground = { home: this.#home, grants: this.#grants, roots, shell };
    return createLazyApproval({ ...ground, current, containment: checkContainment, report: this.#report });
  }

  #createToolMaker(
    { overwriteUnread = false }: ToolboxOptions,
    { correctEditOf, maxAnswerCharacters, answerFromPage }: SessionParts,
    subagents: Subagents | undefined,
  ): (workspace: Workspace, said?: ReadMessages) => Tool[] {
    const { settings } = this.#home;
    const needs = {
      maxCharacters: maxAnswerCharacters,
      answerFromPage,
      subagents,
      commands: this.commands,
      svgAsText: settings.tools.svgAsText,
      overwriteUnread,
      memory: resolveMemoryFiles(this.workspace, this.#home),
      planning: createPlanning(this.current, this.spoken),
      allowedHosts: settings.web.allowedHosts,
      environment: this.#home.environment,
      searcher: createSearcher(this.#home, this.discovery),
    };
    return (workspace, said) =>
      createBuiltInTools({ ...needs, correctEdit: said && correctEditOf?.(said), workspace });
  }

  /** Decides which hosts commands may reach. Its code is loaded with the first command. */
  async #joinEgress() {
    const { joinEgress } = await import("./join-egress.ts");
    const { current, notes, questions } = this;
    const load = this.#flow.questions && questions.load;
    return joinEgress({ home: this.#home, grants: this.#grants, current, notes, questions: load });
  }

  /** Opens the commands with the sandbox and environment from settings and options. Ends leftovers of a crash. */
  #openCommands(): MachineCommands {
    const { machine, environment, folder, settings, variables, secrets } = this.#home;
    const commands = machine.openCommands({
      roots: this.workspace.roots,
      home: folder,
      environment,
      sandbox: settings.sandbox.mode,
      network: settings.sandbox.network === true,
      egress: createLazyMethods(
        once(() => this.#joinEgress()),
        ["rules", "ask"],
      ),
      hide: settings.sandbox.hide,
      passEnvironment: variables.pass,
      secretEnvironment: variables.secret,
      isReadOnly: () => this.current.mode === "plan",
      secrets: once(async () => {
        const { createOutputSecrets: outputSecrets } = await import("../session/log/clean-file.ts");
        return outputSecrets(secrets);
      }),
    });
    void commands.endLeftBehind();
    return commands;
  }
}

/** Returns a function that runs calls. Its code is loaded with the first call. */
function createLazyCalls(needs: SchedulerOptions): RunCalls {
  const load = once(async () => new (await import("../scheduler/scheduler.ts")).Scheduler(needs));
  return createLazyMethods(load, ["run"]).run;
}

function createPlanning(current: CurrentMode, spoken: { readonly inputs: number }): Planning {
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

/** Returns where facts are stored for later sessions: a project's in its root, the user's own in their home. */
function resolveMemoryFiles(workspace: Workspace, { folder, settings }: Home): MemoryFiles {
  // Look up the file for each fact: a new file may have appeared that the next session reads instead.
  const locateMemory = (top: string, open: MemoryFiles["project"]["open"]) => ({
    get file() {
      return join(top, resolveContextFileNames(settings.context.fileNames, top)[0]);
    },
    open,
  });
  let personal: Workspace | undefined;
  const openHome = async () => {
    if (personal === undefined) {
      makeFolders(folder);
      personal = openWorkspace(folder);
    }
    return personal;
  };
  return {
    project: locateMemory(workspace.root, async () => workspace),
    global: locateMemory(folder, openHome),
  };
}

/** Returns the web search in the settings, or undefined if there is none. Its code is loaded with the first search. */
function createSearcher(
  { settings: all, environment }: Home,
  discovery: ToolDiscovery,
): WebSearcher | undefined {
  const settings = all.web.search;
  if (settings === undefined) return undefined;
  const isByServer = settings.provider === "mcp";
  const call = createLazyServerCall(discovery);
  return {
    name: (isByServer && settings.server) || settings.provider,
    search: async (question, signal) => {
      if (isByServer) {
        const { searchWithServer } = await import("@burin/web/search/mcp-search");
        return searchWithServer(question, { settings, call }, signal);
      }
      const { searchWeb } = await import("@burin/web/search/search-web");
      return searchWeb(question, { settings, environment }, signal);
    },
  };
}

function isIncludedTool(name: string, { include, exclude }: Settings["tools"]): boolean {
  const matchesTool = (pattern: string) => createGlobMatcher(pattern, EXACT)(name);
  return (include.length === 0 || include.some(matchesTool)) && !exclude.some(matchesTool);
}
