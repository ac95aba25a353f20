import { type CommandList, commandList } from "@burin/commands/shell/command-list";
import { once } from "@burin/contract/async/once";
import type { FunctionCall } from "@burin/contract/messages/message";
import { type AnsweredCall, isAnswered, resultOf } from "@burin/contract/tool-call";
import type { ToolResult } from "@burin/contract/tools";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Verdict } from "@burin/shell-judge";
import type { CallIds } from "../agent/call-ids.ts";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import type { OnCall, RunCalls } from "../scheduler/scheduler.ts";
import { newSessionId } from "../session/log/session-id.ts";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import { resolveHome } from "./home.ts";
import type { ReadyOptions, ToolboxOptions } from "./options.ts";
import { ToolSet } from "./tool-set.ts";

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly onCall?: OnCall;
  /** The id that the model gave the call; default: numbered by the toolbox. */
  readonly callId?: string;
}

/** The tools behind the whole flow, with no model. */
export class Toolbox {
  /** Its tools run only through the whole flow, as by `call`. */
  readonly registry: ToolRegistry;
  /** What MCP servers offer in addition to tools, and logins to them. */
  readonly mcp: McpDoor;
  /** The running commands, for the user. */
  readonly commands: CommandList;
  readonly #tools: ToolSet;

  constructor(options: ToolboxOptions) {
    const undoWriter = options.record ? `call-${newSessionId()}` : undefined;
    this.#tools = new ToolSet(options, resolveHome(options), { undoWriter });
    this.registry = this.#tools.guarded;
    this.mcp = this.#tools.mcp;
    this.commands = commandList(this.#tools.commands);
    // So that they can be passed on as plain functions.
    this.call = this.call.bind(this);
    this.run = this.run.bind(this);
    this.explain = this.explain.bind(this);
    this.close = this.close.bind(this);
  }

  /** Takes one call through lookup, validation, approval and execution. Never rejects: a failure is a result. */
  async call(name: string, args: FunctionCall["args"], signal?: AbortSignal): Promise<ToolResult> {
    return resultOf(await this.run(name, args, signal ? { signal } : {}));
  }

  /** The same, reporting each state of the call; resolves to the last one. */
  async run(name: string, args: FunctionCall["args"], options?: RunOptions): Promise<AnsweredCall> {
    return runOne(this.#tools, { name, args }, options);
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
  close(): Promise<void> {
    return this.#tools.close();
  }
}

const soundTools = once(() => import("../scheduler/sound-tool.ts"));

/** One call of the user, outside any history. */
export async function runOne(
  { runCalls, callIds }: { readonly runCalls: RunCalls; readonly callIds: CallIds },
  { name, args }: Pick<FunctionCall, "name" | "args">,
  { signal, onCall, callId }: RunOptions = {},
): Promise<AnsweredCall> {
  const call = { id: callId ?? callIds.next(), name, args };
  const tell = onCall ? (await soundTools()).soundListener(onCall) : () => {};
  const round = { signal: signal ?? new AbortController().signal, onCall: tell };
  const [answer] = await runCalls([call], round);
  if (answer === undefined || !isAnswered(answer)) throw new Error("The scheduler left a call unanswered.");
  return answer;
}

/** A command in the form that the shell tool asks about. */
function commandRequest(command: string, directory: string): ApprovalRequest {
  const title = "";
  const confirmation = { kind: "exec" as const, title, command, parts: [command], directory, grants: [] };
  return { tool: "run_shell_command", kind: "execute", confirmation, subjects: [command] };
}
