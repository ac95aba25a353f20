import type { ExchangeEnd } from "@burin/commands/processes/server-processes";
import { foreignParamsFault } from "@burin/contract/messages/check-schema";
import type { FunctionDeclaration, JsonSchema } from "@burin/contract/messages/message";
import { stableJson } from "@burin/contract/messages/untrusted-json";
import { quoteShellWord } from "@burin/contract/text/shell-words";
import { BaseTool, type Confirmation, type ToolResult } from "@burin/contract/tools";

/** Runs a shell command in the project's folder with the given input. Never rejects. */
export type RunToolCommand = (request: {
  readonly command: string;
  readonly input: string;
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** The command as the settings have it, if this is more. */
  readonly inSettings?: string;
}) => Promise<ExchangeEnd>;

export interface DiscoveredToolNeeds {
  /** The shell command that runs every discovered tool, and the time limit of one call. */
  readonly callCommand: string;
  readonly callSeconds: number;
  readonly run: RunToolCommand;
}

type Args = Record<string, unknown>;

/** A tool that a discovery command has declared: the call command runs it, and its output is the answer. */
export class DiscoveredTool extends BaseTool<Args> {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  readonly kind = "execute";
  readonly #needs: DiscoveredToolNeeds;
  readonly #mark: string;

  constructor(declaration: FunctionDeclaration, needs: DiscoveredToolNeeds) {
    super();
    this.name = declaration.name;
    this.displayName = declaration.name;
    this.description = declaration.description;
    this.parameterSchema = declaration.parameters;
    this.#needs = needs;
    const { callCommand } = needs;
    const definition = stableJson({ ...declaration, callCommand });
    const { createHash } = process.getBuiltinModule("node:crypto");
    this.#mark = `definition:${createHash("sha256").update(definition).digest("hex").slice(0, 24)}`;
  }

  override validateToolParams(args: Args): string | null {
    return foreignParamsFault(this, args);
  }

  getDescription(args: Args): string {
    return `Run ${this.#line()} with ${shortened(JSON.stringify(args))}`;
  }

  /** An "always" applies to exactly this definition and command; a user's own rule names the tool. */
  ruleSubjects(): readonly string[] {
    return [this.#mark];
  }

  override shouldConfirmExecute(args: Args): Promise<Confirmation> {
    return Promise.resolve({
      kind: "discovered",
      title: `Run ${this.name}, a tool of the discovery command?`,
      tool: this.name,
      command: this.#line(),
      args,
      grants: [`${this.name}(${this.#mark})`],
    });
  }

  async execute(args: Args, signal: AbortSignal): Promise<ToolResult> {
    const end = await this.#needs.run({
      command: this.#line(),
      inSettings: this.#needs.callCommand,
      input: JSON.stringify(args),
      seconds: this.#needs.callSeconds,
      signal,
    });
    const fault = faultOf(end, this.#needs.callSeconds);
    if (fault !== null) return failure(this.name, end, fault);
    const text = end.stdout.toString("utf8");
    if (text.trim() !== "") return { llmContent: text, returnDisplay: text };
    const silent = `${this.name} succeeded and printed nothing.`;
    return { llmContent: silent, returnDisplay: silent };
  }

  /** The name contains only characters that a tool name may have, so the shell takes it literally. */
  #line(): string {
    return `${this.#needs.callCommand} ${quoteShellWord(this.name)}`;
  }
}

export function faultOf(end: ExchangeEnd, seconds: number): string | null {
  if (end.startError !== null) return `could not be started: ${end.startError}`;
  if (end.stopped === "abort") return "was interrupted";
  if (end.stopped === "time") return `timed out after ${seconds} s`;
  if (end.stopped === "size") return "was stopped because it printed more than 10 MiB";
  if (end.signal !== null) return `was killed by ${end.signal}`;
  return end.exitCode === 0 ? null : `failed with exit code ${end.exitCode}`;
}

/** The end of what it printed to stderr. */
export function lastWordsOf(end: ExchangeEnd): string {
  return end.stderr.trim().split("\n").slice(-5).join("\n").slice(-1000);
}

function failure(name: string, end: ExchangeEnd, fault: string): ToolResult {
  const message = `${name} ${fault}.`;
  const llmContent = [
    message,
    `Stdout: ${end.stopped === "size" ? "(left out)" : end.stdout.toString("utf8") || "(empty)"}`,
    `Stderr: ${end.stderr || "(empty)"}`,
    `Error: ${end.startError ?? "(none)"}`,
    `Exit Code: ${end.exitCode ?? "(none)"}`,
    `Signal: ${end.signal ?? "(none)"}`,
  ].join("\n");
  const type = end.stopped === "abort" ? "cancelled" : "discovered_tool_failed";
  return { llmContent, returnDisplay: llmContent, error: { type, message } };
}

const MOST_DESCRIBED = 200;

function shortened(text: string): string {
  return text.length > MOST_DESCRIBED ? `${text.slice(0, MOST_DESCRIBED)}...` : text;
}
