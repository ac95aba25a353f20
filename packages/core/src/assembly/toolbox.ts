import { type CommandList, createCommandList } from "@burin/commands/shell/command-list";
import type { QuestionEvent } from "@burin/contract/agent-event";
import type { FunctionCall, FunctionDeclaration } from "@burin/contract/messages/message";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import type { AnsweredCall } from "@burin/contract/tool-call";
import type { Decision, Question } from "@burin/contract/tools";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Verdict } from "@burin/shell-judge";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import { createSessionId } from "../session/log/session-id.ts";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import { type Home, resolveHome } from "./home.ts";
import { createDeclarationList } from "./join-declarations.ts";
import type { ReadyOptions, ToolboxOptions } from "./options.ts";
import { type CallAllOptions, type CallOptions, type CallRequest, callAll, callOne } from "./run-calls.ts";
import { ToolSet } from "./tool-set.ts";

/** Selects the tools that `tools` returns, by name. Names may contain `*`, as in `github__*`. */
export interface ToolFilter {
  /** Returns only these tools. */
  readonly only?: readonly string[];
  /** Leaves these tools out. */
  readonly except?: readonly string[];
}

/** Tools that work only with a model and a conversation. */
const FOR_SESSIONS = ["task", "exit_plan_mode"];

/**
 * The tools with the whole flow but without a model, for an agent loop of your own. See `createToolbox`.
 * @example
 * const toolbox = createToolbox({ root: process.cwd() });
 * const { llmContent } = await toolbox.call("read_file", { absolute_path: "/project/a.txt" });
 * await toolbox.close();
 */
export class Toolbox {
  /** The toolbox's tools. Each call of them goes through the whole flow, like `call`. */
  readonly registry: ToolRegistry;
  /** Access to MCP servers apart from their tools: prompts, resources, logins. */
  readonly mcp: McpDoor;
  /** The running commands, to be shown to the user. */
  readonly commands: CommandList;
  readonly #tools: ToolSet;
  readonly #home: Home;
  readonly #declarations: () => FunctionDeclaration[];

  constructor(options: ToolboxOptions) {
    const undoWriter = options.record ? `call-${createSessionId()}` : undefined;
    const home = resolveHome(options);
    this.#home = home;
    const { awaitsAnswers, onQuestion } = options;
    const forwardQuestion = (event: QuestionEvent) => {
      if (event.type !== "question") return;
      const { type: _, ...question } = event;
      onQuestion?.(question);
    };
    const asking = onQuestion ? { tell: forwardQuestion, knows: () => false } : undefined;
    this.#tools = new ToolSet(options, home, { undoWriter, awaitsAnswers, ...(asking && { asking }) });
    const { registry, discovery: waiting } = this.#tools;
    this.#declarations = createDeclarationList({ home, registry, waiting });
    this.registry = this.#tools.guarded;
    this.mcp = this.#tools.mcp;
    this.commands = createCommandList(this.#tools.commands);
    // Bind the methods, so that they can be passed on as plain functions.
    this.tools = this.tools.bind(this);
    this.call = this.call.bind(this);
    this.callAll = this.callAll.bind(this);
    this.run = this.run.bind(this);
    this.explain = this.explain.bind(this);
    this.close = this.close.bind(this);
  }

  /**
   * Returns the declarations of the tools for the next request. Tools that need a session, or something that is not
   * installed, are left out. If sources have many tools, only those that fit `tools.schemaBudget` are returned, with
   * `tool_search` to find the others. So call this again before each request.
   */
  tools({ only, except = [] }: ToolFilter = {}): FunctionDeclaration[] {
    const createNameMatcher = (patterns: readonly string[]) => {
      const matchers = patterns.map((pattern) => createGlobMatcher(pattern, { caseSensitive: true }));
      return (name: string) => matchers.some((matches) => matches(name));
    };
    const isWanted = only === undefined ? () => true : createNameMatcher(only);
    const isUnwanted = createNameMatcher([...except, ...FOR_SESSIONS]);
    return this.#declarations().filter(({ name }) => isWanted(name) && !isUnwanted(name));
  }

  /**
   * Takes one call through lookup, validation, approval and execution. Never rejects: a failure is a result with
   * `error`.
   */
  call(name: string, params: FunctionCall["args"], options?: CallOptions): Promise<AnsweredCall>;
  /** @deprecated Pass the signal as an option: `{ signal }`. */
  call(name: string, params: FunctionCall["args"], signal?: AbortSignal): Promise<AnsweredCall>;
  call(
    name: string,
    params: FunctionCall["args"],
    options?: CallOptions | AbortSignal,
  ): Promise<AnsweredCall> {
    return callOne(this.#tools, { name, args: params }, options);
  }

  /**
   * Runs all calls of one reply, each like `call`. Neighbouring calls that only read run in parallel, all others alone.
   * The answers keep the order of the calls.
   */
  callAll(calls: readonly CallRequest[], options?: CallAllOptions): Promise<AnsweredCall[]> {
    return callAll(this.#tools, calls, options);
  }

  /** @deprecated Use `call`, which returns the same. */
  run(name: string, args: FunctionCall["args"], options?: CallOptions): Promise<AnsweredCall> {
    return callOne(this.#tools, { name, args }, options);
  }

  /** The open questions, if `awaitsAnswers` is set. */
  get questions(): readonly Question[] {
    return this.#tools.questions.loaded?.open ?? [];
  }

  /**
   * Answers a question by its id, from anywhere. The decision is null if no user will answer. Returns null if the
   * answer is accepted, otherwise what is wrong with it.
   */
  answer(questionId: string, decision: Decision | null): string | null {
    return this.#tools.questions.answer(questionId, decision);
  }

  /** Returns what would be decided about a shell command, and why. Runs nothing. */
  async explain(command: string): Promise<Verdict> {
    return this.#tools.judge(createCommandRequest(command, this.#tools.workspace.root));
  }

  /**
   * Starts the tool sources. Resolves to the failures when each source has answered. A source that has not answered in
   * time counts as a failure; its tools are added when it does. Never rejects.
   */
  ready(wait?: ReadyOptions): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.ready(wait);
  }

  /** Asks all tool sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.refresh();
  }

  /** The failures of the tool sources so far. */
  get discoveryFailures(): readonly DiscoveryFailure[] {
    return this.#tools.discovery.failures;
  }

  /** Ends all commands that still run, including those in the background. Must be called at the end. */
  async close(): Promise<void> {
    await this.#tools.close();
    await this.#home.close();
  }
}

/** Returns the request that the shell tool would make for the command. */
function createCommandRequest(command: string, directory: string): ApprovalRequest {
  const title = "";
  const confirmation = { kind: "exec" as const, title, command, parts: [command], directory, grants: [] };
  return { tool: "run_shell_command", kind: "execute", confirmation, subjects: [command] };
}
