import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MachineCommands } from "@burin/commands/machine";
import { openWorkspace } from "@burin/commands/node-machine";
import { type ApprovalMode, CurrentMode, stricterMode } from "@burin/contract/approval-mode";
import { lazily } from "@burin/contract/async/lazily";
import { once } from "@burin/contract/async/once";
import type { Workspace } from "@burin/contract/machine/workspace";
import type { Message } from "@burin/contract/messages/message";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { Settings } from "@burin/contract/settings/settings";
import type { Tool } from "@burin/contract/tools";
import type { ReadMemory } from "@burin/files/workspace/read-record";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Rule } from "@burin/shell-judge";
import { contextFileNames } from "../agent/context-files.ts";
import type { SubagentDefinition } from "../agent/subagent.ts";
import { CallIds } from "../scheduler/call-ids.ts";
import type { Confirm, QuestionNeeds } from "../scheduler/questions.ts";
import type { RunCalls, SchedulerNeeds } from "../scheduler/scheduler.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { builtInTools } from "../tools/built-in-tools.ts";
import type { Planning } from "../tools/exitPlanMode.ts";
import type { MemoryPlaces } from "../tools/memoryTool.ts";
import type { Subagents } from "../tools/task.ts";
import { ToolRegistry } from "../tools/tool-registry.ts";
import type { AnswerFromPage } from "../tools/web-fetch.ts";
import type { WebSearcher } from "../tools/web-search.ts";
import { GitNews } from "./environment-facts.ts";
import { guardedTool } from "./guarded-tool.ts";
import { chooseMode, type Home } from "./home.ts";
import { Grants, LazyQuestions, lazyApproval } from "./join-approval.ts";
import { type JoinedHooks, joinHooks } from "./join-hooks.ts";
import type { JoinedJournal } from "./join-journal.ts";
import type { ForServers } from "./join-mcp.ts";
import type { SessionGrants, ToolboxOptions } from "./options.ts";
import { discoveryOf, lazyMcp, lazyServerCall, type ToolDiscovery } from "./tool-discovery.ts";

const IDLE_MS = 300;
const EXACT = { caseSensitive: true };
/** Tools of the session only: its plan, its todos, starting tasks, and searching for tools. */
const NOT_FOR_SUBAGENTS = new Set(["task", "todo_write", "exit_plan_mode", "tool_search"]);
const READING_TOOLS = ["read_file", "read_many_files", "search_file_content"];

/** The messages of an agent so far. */
export type Said = () => readonly Message[];

export interface SessionParts {
  /** Corrects edits with the help of the text around a call, from the messages of the agent that made it. */
  readonly correctEditOf?: (said: Said) => CorrectEdit;
  readonly said?: Said;
  readonly mostAnswerCharacters?: number;
  readonly answerFromPage?: AnswerFromPage;
  readonly subagents?: SubagentMaker;
  readonly forServers?: ForServers;
  readonly recorded?: () => Promise<void>;
  readonly recordsReads?: boolean;
  /** Who changes files, for undo; without it nothing is stored for undo. */
  readonly undoWriter?: string | undefined;
  readonly sessionId?: string;
  /** The model is told what is not committed. */
  readonly tellsGit?: boolean;
  /** What the session's own agent has seen of files; subagents have their own. */
  readonly reads?: ReadMemory;
  /** Called instead of asking the user; subagents then cannot ask at all. */
  readonly park?: Confirm | undefined;
  /** Questions wait for an answer by their id. */
  readonly awaitsAnswers?: boolean | undefined;
  readonly asking?: Asking;
  readonly onMode?: (mode: ApprovalMode) => void;
}

export interface SubagentMaker {
  /** Subagents that have these tools, or fewer. */
  with(tools: Pick<ToolSet, "forSubagent">): Subagents;
}

interface Asking extends Pick<QuestionNeeds, "tell" | "recall"> {
  /** Whether the answer to this call's question was given before it comes up. */
  readonly knows: (callId: string) => boolean;
}

/** The tools and the flow around them, of a toolbox or a session. */
export class ToolSet {
  /** For our own use: its tools run without any question. */
  readonly registry: ToolRegistry;
  /** For others. */
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
  /** For the user, before the next event. */
  readonly notes: string[] = [];
  /** Counts the user's prompts, so that a plan can be presented again after a new one. */
  readonly spoken = { inputs: 0 };
  readonly judge: SchedulerNeeds["judge"];
  readonly runCalls: RunCalls;
  /** What only git knows about the folder; only for a session. */
  readonly gitNews: GitNews | undefined;
  /** Asks git, beside the first request only: later, calls may have changed its answer. */
  readonly onRequestSent = once(() => this.gitNews?.look(this.#closing.signal));
  readonly #closing = new AbortController();
  readonly #home: Home;
  readonly #grants: Grants;
  readonly #openWorkspace: (own: Pick<SessionParts, "reads">) => Workspace;
  readonly #report = (message: string) => void this.notes.push(message);
  readonly #toolsIn: (workspace: Workspace, said?: Said) => Tool[];
  readonly #flow: Pick<
    SchedulerNeeds,
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
    const access = { ...accessOf(given), beginWrite, ...(undoWriter ? { openJournal } : {}) };
    this.#openWorkspace = (own) =>
      machine.openFiles(given.root, options.includeDirectories ?? [], { ...access, ...own });
    this.workspace = this.#openWorkspace(reads ? { reads } : {});
    // A machine from an embedder may know its root by another path.
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
    this.registry = new ToolRegistry((name) => isDeclared(name, settings.tools));
    const nobody = parts.awaitsAnswers ? undefined : async () => null;
    this.questions = new LazyQuestions({ ...parts.asking, confirm: park ?? options.confirm ?? nobody });
    const questions = options.confirm || parts.awaitsAnswers ? this.questions.load : undefined;
    const { registry, commands, workspace } = this;
    const { forServers = {}, sessionId } = parts;
    this.discovery = discoveryOf({ home, roots, commands, registry, forServers, questions });
    // Where a program keeps the log, as a fleet does, it has the changes of a task as a patch.
    const writer = recordsReads ? undefined : undoWriter;
    const noted = { home, roots, registry, report, writer, signal: this.#closing.signal };
    const loadJournal = once(async () => (await import("./join-journal.ts")).joinJournal(noted));
    this.journal = lazily(loadJournal, ["ofCalls", "ofCommand", "look", "findContainment"]);
    this.hooks = joinHooks({ home, commands, report, sessionId, journal: this.journal });
    this.#grants = new Grants(home.folder, home.root);
    this.judge = this.#judgeIn(this.current);
    const closing = this.#closing.signal;
    const journal = this.journal.ofCalls;
    const { hooks } = this;
    const { toolTimeouts: timeouts } = options;
    const store = { recorded, recordsReads, journal };
    this.#flow = { hooks, onGrant: this.#grants.add, questions, closing, timeouts, ...store };
    this.#toolsIn = this.#toolMaker(options, parts, parts.subagents?.with(this));
    for (const tool of this.#toolsIn(workspace, parts.said)) {
      if (isDeclared(tool.name, settings.tools)) registry.registerOwn(tool);
      else registry.leftOut.push(tool.name);
    }
    for (const tool of options.tools ?? []) registry.registerTool(tool, "embedder");
    const { judge, callIds } = this;
    const asking = park ? this.questions.load : (questions ?? this.#alreadyAnswered(parts.asking));
    const flow = { ...this.#flow, questions: asking, judge };
    const guard = (tool: Tool) => guardedTool(tool, { ...flow, callIds });
    this.guarded = registry.guarded(guard);
    this.mcp = lazyMcp(this.discovery, guard);
    this.runCalls = lazyCalls({
      ...flow,
      registry,
      awaitTools: (names, signal) => this.discovery.waitFor(names, signal),
    });
  }

  /**
   * The registry and the flow of one subagent: never more tools or rights than the session has. Its built-in tools are
   * new ones, which do not know what the session has read.
   */
  forSubagent(definition: SubagentDefinition, parentCallId: string, said: Said) {
    const { name, tools = ["*"], withoutTools = [], approvalMode } = definition;
    const workspace = this.#openWorkspace({});
    const registry = new ToolRegistry();
    const anyOf = (patterns: readonly string[]) => {
      const matchers = patterns.map((pattern) => globMatcher(pattern, EXACT));
      return (tool: string) => matchers.some((matches) => matches(tool));
    };
    const [isWanted, isUnwanted] = [anyOf(tools), anyOf(withoutTools)];
    const isOffered = (tool: string) => isWanted(tool) && !isUnwanted(tool) && !NOT_FOR_SUBAGENTS.has(tool);
    const fresh = new Map(this.#toolsIn(workspace, said).map((tool) => [tool.name, tool]));
    for (const tool of this.registry.getAllTools()) {
      if (!isOffered(tool.name)) continue;
      const own = this.registry.isOwn(tool.name) ? fresh.get(tool.name) : undefined;
      if (own) registry.registerOwn(own);
      else registry.registerTool(tool, this.registry.sourceOf(tool.name));
    }
    const { current, callIds } = this;
    const judge = this.#judgeIn({
      get mode() {
        return stricterMode(current.mode, approvalMode ?? current.mode);
      },
    });
    const subagent = { agent: name, parentCallId };
    const awaitTools = async (names: readonly string[], signal: AbortSignal) => {
      await this.discovery.waitFor(
        names.filter((name) => registry.getTool(name)),
        signal,
      );
      registry.takeNewer(this.registry);
    };
    const runCalls = lazyCalls({ ...this.#flow, registry, judge, subagent, awaitTools });
    return { registry, runCalls, callIds, workspace };
  }

  /** What was allowed until this session ends. */
  get sessionGrants(): SessionGrants {
    return this.#grants;
  }

  /** From here on every call is refused, those that wait too. */
  refuseCalls(): void {
    this.#closing.abort();
  }

  async close(): Promise<void> {
    this.refuseCalls();
    await this.discovery.close();
    await this.commands.close();
  }

  /** With nobody to ask, a question that was answered earlier still gets its answer. */
  #alreadyAnswered(asking: Asking | undefined): SchedulerNeeds["questions"] {
    return (callId) => (asking?.knows(callId) ? this.questions.load() : undefined);
  }

  #judgeIn(current: { readonly mode: ApprovalMode }): SchedulerNeeds["judge"] {
    const { roots } = this.workspace;
    const { shell } = this.commands;
    const containment = () => this.journal.findContainment(() => this.commands.sandbox());
    const ground = { home: this.#home, grants: this.#grants, roots, shell };
    return lazyApproval({ ...ground, current, containment, report: this.#report });
  }

  #toolMaker(
    { overwriteUnread = false }: ToolboxOptions,
    { correctEditOf, mostAnswerCharacters, answerFromPage }: SessionParts,
    subagents: Subagents | undefined,
  ): (workspace: Workspace, said?: Said) => Tool[] {
    const { settings } = this.#home;
    const needs = {
      mostCharacters: mostAnswerCharacters,
      answerFromPage,
      subagents,
      commands: this.commands,
      svgAsText: settings.tools.svgAsText,
      overwriteUnread,
      memory: memoryPlaces(this.workspace, this.#home),
      planning: planningOf(this.current, this.spoken),
      allowedHosts: settings.web.allowedHosts,
      environment: this.#home.environment,
      searcher: searcherOf(this.#home, this.discovery),
    };
    return (workspace, said) =>
      builtInTools({ ...needs, correctEdit: said && correctEditOf?.(said), workspace });
  }

  /** Which hosts commands reach; its code is loaded with the first command. */
  async #joinEgress() {
    const { joinEgress } = await import("./join-egress.ts");
    const { current, notes, questions } = this;
    const load = this.#flow.questions && questions.load;
    return joinEgress({ home: this.#home, grants: this.#grants, current, notes, questions: load });
  }

  /** Commands run with the sandbox and the environment from settings and options; leftovers of a crash are ended. */
  #openCommands(): MachineCommands {
    const { machine, environment, folder, settings, variables, secrets } = this.#home;
    const commands = machine.openCommands({
      roots: this.workspace.roots,
      home: folder,
      environment,
      sandbox: settings.sandbox.mode,
      network: settings.sandbox.network === true,
      egress: lazily(
        once(() => this.#joinEgress()),
        ["rules", "ask"],
      ),
      hide: settings.sandbox.hide,
      passEnvironment: variables.pass,
      secretEnvironment: variables.secret,
      isReadOnly: () => this.current.mode === "plan",
      cleanOutput: async (file) => {
        const [{ cleanFile }, { Redactor }] = await Promise.all([
          import("../session/log/clean-file.ts"),
          import("../session/log/redactor.ts"),
        ]);
        await cleanFile(file, new Redactor(secrets, "latin1"));
      },
    });
    void commands.endLeftBehind();
    return commands;
  }
}

/** The flow of calls; its code is loaded with the first one. */
function lazyCalls(needs: SchedulerNeeds): RunCalls {
  const load = once(async () => new (await import("../scheduler/scheduler.ts")).Scheduler(needs));
  return lazily(load, ["run"]).run;
}

function accessOf({ folder, environment, settings, rules, skillFolders }: Home) {
  return {
    ...settings.files,
    environment,
    home: folder,
    denied: unreadablePaths(rules.deny),
    readable: [join(folder, "output"), ...skillFolders.filter((one) => existsSync(one))],
  };
}

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

/** Facts are stored where the next session finds them: a project's in its root, the user's own in their home. */
function memoryPlaces(workspace: Workspace, { folder, settings }: Home): MemoryPlaces {
  // Looked up for each fact: a file may have come that the next session reads in place of the other.
  const placeIn = (top: string, open: MemoryPlaces["project"]["open"]) => ({
    get file() {
      return join(top, contextFileNames(settings.context.fileNames, top)[0]);
    },
    open,
  });
  let personal: Workspace | undefined;
  const openHome = async () => {
    if (personal === undefined) {
      (await import("@burin/files/disk/make-folders")).makeFolders(folder);
      personal = openWorkspace(folder);
    }
    return personal;
  };
  return { project: placeIn(workspace.root, async () => workspace), global: placeIn(folder, openHome) };
}

/** The web search in the settings; undefined when there is none. Its code is loaded with the first search. */
function searcherOf({ settings: all, environment }: Home, discovery: ToolDiscovery): WebSearcher | undefined {
  const settings = all.web.search;
  if (settings === undefined) return undefined;
  const isByServer = settings.provider === "mcp";
  const call = lazyServerCall(discovery);
  return {
    name: (isByServer && settings.server) || settings.provider,
    search: async (question, signal) => {
      if (isByServer) {
        const { searchByServer } = await import("@burin/web/search/mcp-search");
        return searchByServer(question, { settings, call }, signal);
      }
      const { searchWeb } = await import("@burin/web/search/search-web");
      return searchWeb(question, { settings, environment }, signal);
    },
  };
}

function isDeclared(name: string, { include, exclude }: Settings["tools"]): boolean {
  const matches = (pattern: string) => globMatcher(pattern, EXACT)(name);
  return (include.length === 0 || include.some(matches)) && !exclude.some(matches);
}

/** A deny rule for one tool that reads files applies to the file: it is closed to every tool. */
function unreadablePaths(deny: readonly Rule[]): string[] {
  return deny.flatMap(({ tool, pattern }) => {
    const matches = globMatcher(tool, EXACT);
    return pattern !== undefined && READING_TOOLS.some(matches) ? [pattern] : [];
  });
}
