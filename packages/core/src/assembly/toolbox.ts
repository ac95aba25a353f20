import { type CommandList, commandList } from "@burin/commands/shell/command-list";
import type { QuestionEvent } from "@burin/contract/agent-event";
import type { FunctionCall, FunctionDeclaration } from "@burin/contract/messages/message";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { AnsweredCall } from "@burin/contract/tool-call";
import type { Decision, Question } from "@burin/contract/tools";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Verdict } from "@burin/shell-judge";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import { newSessionId } from "../session/log/session-id.ts";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import { type Home, resolveHome } from "./home.ts";
import { declarationsOf } from "./join-declarations.ts";
import type { ReadyOptions, ToolboxOptions } from "./options.ts";
import { type CallAllOptions, type CallOptions, type CallRequest, callAll, callOne } from "./run-calls.ts";
import { ToolSet } from "./tool-set.ts";

/** The names that `tools` returns; both may have `*`, as in `github__*`. */
export interface ToolFilter {
  /** Only these. */
  readonly only?: readonly string[];
  /** None of these. */
  readonly except?: readonly string[];
}

/** What works only with a model and a conversation around it. */
const FOR_SESSIONS = ["task", "exit_plan_mode"];

/**
 * The tools behind the whole flow, with no model: for a loop of your own. Made by `createToolbox`.
 *
 * @example
 * const toolbox = createToolbox({ root: process.cwd() });
 * const { llmContent } = await toolbox.call("read_file", { absolute_path: "/project/a.txt" });
 * await toolbox.close();
 */
export class Toolbox {
  /** Its tools run only through the whole flow, as by `call`. */
  readonly registry: ToolRegistry;
  /** What MCP servers offer in addition to tools, and logins to them. */
  readonly mcp: McpDoor;
  /** The running commands, for the user. */
  readonly commands: CommandList;
  readonly #tools: ToolSet;
  readonly #home: Home;
  readonly #declarations: () => FunctionDeclaration[];

  constructor(options: ToolboxOptions) {
    const undoWriter = options.record ? `call-${newSessionId()}` : undefined;
    const home = resolveHome(options);
    this.#home = home;
    const { awaitsAnswers, onQuestion } = options;
    const tell = (event: QuestionEvent) => {
      if (event.type !== "question") return;
      const { type: _, ...question } = event;
      onQuestion?.(question);
    };
    const asking = onQuestion ? { tell, knows: () => false } : undefined;
    this.#tools = new ToolSet(options, home, { undoWriter, awaitsAnswers, ...(asking && { asking }) });
    const { registry, discovery: waiting } = this.#tools;
    this.#declarations = declarationsOf({ home, registry, waiting });
    this.registry = this.#tools.guarded;
    this.mcp = this.#tools.mcp;
    this.commands = commandList(this.#tools.commands);
    // So that they can be passed on as plain functions.
    this.tools = this.tools.bind(this);
    this.call = this.call.bind(this);
    this.callAll = this.callAll.bind(this);
    this.run = this.run.bind(this);
    this.explain = this.explain.bind(this);
    this.close = this.close.bind(this);
  }

  /**
   * What the model is told about the tools, for the next request. Tools that need a session, or something that is not
   * installed, are left out; of very many tools from sources those that fit `tools.schemaBudget`, with `tool_search`
   * to find the others: so ask again before each request.
   */
  tools({ only, except = [] }: ToolFilter = {}): FunctionDeclaration[] {
    const isOneOf = (patterns: readonly string[]) => {
      const matchers = patterns.map((pattern) => globMatcher(pattern, { caseSensitive: true }));
      return (name: string) => matchers.some((matches) => matches(name));
    };
    const isWanted = only === undefined ? () => true : isOneOf(only);
    const isUnwanted = isOneOf([...except, ...FOR_SESSIONS]);
    return this.#declarations().filter(({ name }) => isWanted(name) && !isUnwanted(name));
  }

  /**
   * Takes one call through lookup, validation, approval and execution. Never rejects: a failure is a result with
   * `error`.
   */
  call(name: string, params: FunctionCall["args"], options?: CallOptions): Promise<AnsweredCall>;
  /** @deprecated Give the signal as an option: `{ signal }`. */
  call(name: string, params: FunctionCall["args"], signal?: AbortSignal): Promise<AnsweredCall>;
  call(
    name: string,
    params: FunctionCall["args"],
    options?: CallOptions | AbortSignal,
  ): Promise<AnsweredCall> {
    return callOne(this.#tools, { name, args: params }, options);
  }

  /**
   * The same for all calls of one reply: neighbours that only read run side by side, all others alone, and the
   * answers keep the order of the calls.
   */
  callAll(calls: readonly CallRequest[], options?: CallAllOptions): Promise<AnsweredCall[]> {
    return callAll(this.#tools, calls, options);
  }

  /** @deprecated `call` returns the same. */
  run(name: string, args: FunctionCall["args"], options?: CallOptions): Promise<AnsweredCall> {
    return callOne(this.#tools, { name, args }, options);
  }

  /** The questions that wait for an answer, with `awaitsAnswers`. */
  get questions(): readonly Question[] {
    return this.#tools.questions.loaded?.open ?? [];
  }

  /**
   * Answers a question by its id, from anywhere; the decision is null when no user will answer. Returns null when the
   * answer is accepted, otherwise what is wrong with it.
   */
  answer(questionId: string, decision: Decision | null): string | null {
    return this.#tools.questions.answer(questionId, decision);
  }

  /** What would be decided about a shell command, and why; runs nothing. */
  async explain(command: string): Promise<Verdict> {
    return this.#tools.judge(commandRequest(command, this.#tools.workspace.root));
  }

  /**
   * Starts the tool sources and resolves when each has answered, with the failures. A source that has not
   * answered in time is one of them, and its tools are added when they come. Never rejects.
   */
  ready(wait?: ReadyOptions): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.ready(wait);
  }

  /** Asks the sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.refresh();
  }

  /** The failures of the sources so far. */
  get discoveryFailures(): readonly DiscoveryFailure[] {
    return this.#tools.discovery.failures;
  }

  /** Ends all commands that still run, including those in the background. Must be called at the end. */
  async close(): Promise<void> {
    await this.#tools.close();
    await this.#home.close();
  }
}

/** A command in the form that the shell tool asks about. */
function commandRequest(command: string, directory: string): ApprovalRequest {
  const title = "";
  const confirmation = { kind: "exec" as const, title, command, parts: [command], directory, grants: [] };
  return { tool: "run_shell_command", kind: "execute", confirmation, subjects: [command] };
}
