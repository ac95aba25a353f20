import { join } from "node:path";
import { Agent } from "./agent/agent.ts";
import type { AgentEvent } from "./agent/agent-event.ts";
import { editCorrector } from "./agent/edit-corrector.ts";
import { systemPrompt } from "./agent/system-prompt.ts";
import type { ApprovalMode, ApprovalRequest, Verdict } from "./approval/approval-policy.ts";
import { parseRule, type Rule, type Rules } from "./approval/rules.ts";
import type { Message } from "./messages/message.ts";
import type { ChatModel } from "./models/chat-model.ts";
import { configuredModel } from "./models/configured-model.ts";
import { type Confirm, type OnCall, Scheduler } from "./scheduler/scheduler.ts";
import { type AnsweredCall, isAnswered } from "./scheduler/tool-call.ts";
import { burinHome } from "./settings/load-settings.ts";
import { mergeSettings, type Settings, type SettingsInput } from "./settings/settings.ts";
import { globMatcher } from "./text/glob-pattern.ts";
import { builtInTools } from "./tools/built-in-tools.ts";
import type { CorrectEdit } from "./tools/edit.ts";
import { ToolRegistry } from "./tools/tool-registry.ts";
import type { Tool, ToolResult } from "./tools/tools.ts";
import { Commands } from "./workspace/commands.ts";
import { openWorkspace } from "./workspace/node-workspace.ts";
import type { Workspace } from "./workspace/workspace.ts";

export interface ToolboxOptions {
  /** The folder that all work stays in. It must exist. */
  readonly root: string;
  /** More folders that may be used beside the root; relative ones count from it. */
  readonly includeDirectories?: readonly string[];
  readonly settings?: SettingsInput;
  /** Asks the person; without it a call that must be asked about is refused. */
  readonly confirm?: Confirm;
  readonly approvalMode?: ApprovalMode;
  /** For calls that a person wrote: write_file may overwrite what was not read before. Without it, it refuses. */
  readonly overwriteUnread?: boolean;
  /** More tools, beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Instead of this process's own: where BURIN_HOME and the variables of commands come from. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** The tools behind the whole flow, with no model. */
export interface Toolbox {
  readonly registry: ToolRegistry;
  /** One call through lookup, validation, approval and execution. Never rejects: a failure is a result. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ToolResult>;
  /** What would be decided about a shell command, and why; runs nothing. */
  explain(command: string): Promise<Verdict>;
  /** The same, told as the call's states; resolves to the last one. */
  run(name: string, args: Readonly<Record<string, unknown>>, options?: RunOptions): Promise<AnsweredCall>;
  /** Ends every command that still runs, in the background too. To be called when the toolbox is done with. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly onCall?: OnCall;
}

export interface SessionOptions extends Omit<ToolboxOptions, "root"> {
  /** The folder that all work stays in. It must exist. */
  readonly cwd: string;
  /** Instead of the one that settings and environment name. */
  readonly model?: ChatModel;
  /** Most replies of the model to one prompt. */
  readonly maxTurns?: number;
}

export interface Session {
  readonly id: string;
  readonly registry: ToolRegistry;
  /** What the model has been sent and has said so far. */
  readonly history: readonly Message[];
  /** Works on one prompt; the events end with one `done`. A reader that stops early stops the work. */
  run(text: string, signal?: AbortSignal): AsyncGenerator<AgentEvent>;
  /** Ends every command that still runs, in the background too. To be called when the session is done with. */
  close(): Promise<void>;
}

const DEFAULT_MAX_TURNS = 200;
const READING_TOOLS = ["read_file", "read_many_files", "search_file_content"];

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { registry, scheduler, approval, root, close } = joinParts(options);
  const run: Toolbox["run"] = async (name, args, { signal, onCall } = {}) => {
    const call = { id: "call_1", name, args };
    const answers = await scheduler.run([call], signal ?? new AbortController().signal, onCall ?? (() => {}));
    const answer = answers[0];
    if (answer === undefined || !isAnswered(answer)) throw new Error("The scheduler left a call unanswered.");
    return answer;
  };
  return {
    registry,
    run,
    close,
    explain: (command) => approval(commandRequest(command, root)),
    call: async (name, args, signal) => resultOf(await run(name, args, signal ? { signal } : {})),
  };
}

/** A command as the shell tool would ask about it. */
function commandRequest(command: string, directory: string): ApprovalRequest {
  const title = "";
  const confirmation = { kind: "exec" as const, title, command, parts: [command], directory, grants: [] };
  return { tool: "run_shell_command", kind: "execute", confirmation, subjects: [command] };
}

function resultOf(answer: AnsweredCall): ToolResult {
  const { llmContent, returnDisplay } = answer;
  return answer.status === "success"
    ? { llmContent, returnDisplay }
    : { llmContent, returnDisplay, error: answer.error };
}

export function createSession(options: SessionOptions): Session {
  const settings = mergeSettings([options.settings ?? {}]);
  const model = options.model ?? modelOf(settings, options.environment ?? process.env);
  const parts = { ...options, root: options.cwd };
  const { registry, scheduler, root, close } = settings.tools.editCorrection
    ? joinParts(parts, editCorrector(model))
    : joinParts(parts);
  const agent = new Agent({
    model,
    registry,
    scheduler,
    systemPrompt: systemPrompt(root),
    maxTurns: options.maxTurns ?? DEFAULT_MAX_TURNS,
  });
  const id = newSessionId();
  let isAnnounced = false;
  return {
    id,
    registry,
    close,
    get history() {
      return agent.history;
    },
    async *run(text, signal) {
      if (!isAnnounced) yield { type: "session", sessionId: id, model: model.name, root };
      isAnnounced = true;
      yield* agent.run(text, signal ?? new AbortController().signal);
    },
  };
}

function modelOf(settings: Settings, environment: NodeJS.ProcessEnv): ChatModel {
  const model = configuredModel(settings.model, environment);
  if (model) return model;
  throw new Error("No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.");
}

function joinParts(options: ToolboxOptions, correctEdit?: CorrectEdit) {
  const settings = mergeSettings([options.settings ?? {}]);
  const rules = parsedRules(settings.permissions);
  const workspace = openWorkspace(options.root, options.includeDirectories, {
    ...settings.files,
    denied: unreadablePaths(rules.deny),
    readable: [join(burinHome(options.environment ?? process.env), "output")],
  });
  const commands = commandsOf(options, settings, workspace);
  void commands.endLeftBehind();
  const registry = new ToolRegistry();
  for (const tool of builtInTools({
    workspace,
    commands,
    svgAsText: settings.tools.svgAsText,
    overwriteUnread: options.overwriteUnread ?? false,
    ...(correctEdit ? { correctEdit } : {}),
  })) {
    if (isDeclared(tool.name, settings.tools)) registry.registerTool(tool);
  }
  for (const tool of options.tools ?? []) registry.registerTool(tool, "embedder");
  const granted: Rule[] = [];
  const approval = lazyApproval(options, { rules, granted, roots: workspace.roots });
  const needs = {
    registry,
    judge: approval,
    onGrant: (grants: readonly string[]) => {
      granted.push(...grants.map(parseRule));
    },
  };
  const scheduler = new Scheduler(options.confirm ? { ...needs, confirm: options.confirm } : needs);
  const close = async () => {
    await commands.close();
  };
  return { registry, scheduler, root: workspace.root, close, approval };
}

interface ApprovalGround {
  readonly rules: Rules;
  /** What the person answered "always" to in this session; it grows. */
  readonly granted: readonly Rule[];
  readonly roots: readonly string[];
}

/** The approval policy with all that it knows of this place. The grammar of commands is loaded with the first call. */
function lazyApproval(
  { approvalMode = "default" }: ToolboxOptions,
  { rules, granted, roots }: ApprovalGround,
) {
  return async (request: ApprovalRequest): Promise<Verdict> => {
    const [{ judge }, { leadsOutside, repositoryProgram }] = await Promise.all([
      import("./approval/approval-policy.ts"),
      import("./workspace/command-surroundings.ts"),
    ]);
    const place = {
      root: roots[0] ?? "",
      includeDirectories: roots.slice(1),
      leadsOutside: (path: string, isPattern: boolean) => leadsOutside(path, isPattern, roots),
      repositoryProgram,
    };
    return judge({ ...request, place }, approvalMode, { ...rules, allow: [...rules.allow, ...granted] });
  };
}

function commandsOf(options: ToolboxOptions, settings: Settings, workspace: Workspace): Commands {
  const environment = options.environment ?? process.env;
  const models = [settings.model, ...(settings.model.fallbacks ?? [])];
  const keys = models.flatMap((model) => (typeof model === "string" ? [] : (model.apiKeyEnv ?? [])));
  return new Commands({
    roots: workspace.roots,
    home: burinHome(environment),
    environment,
    sandbox: settings.sandbox.mode,
    network: settings.sandbox.network,
    passEnvironment: settings.shell.passEnvironment,
    secretEnvironment: keys,
  });
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

function parsedRules({ allow, ask, deny }: Settings["permissions"]): Rules {
  return { allow: allow.map(parseRule), ask: ask.map(parseRule), deny: deny.map(parseRule) };
}

/** Sorts by time; the random part keeps two sessions of one moment apart. */
function newSessionId(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "");
  return `${time}-${Math.floor(Math.random() * 0x1000000)
    .toString(16)
    .padStart(6, "0")}`;
}
