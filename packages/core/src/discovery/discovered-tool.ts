import type { ExchangeEnd } from "@burin/commands/processes/server-processes";
import { findForeignParamsError } from "@burin/contract/messages/check-schema";
import type { FunctionDeclaration, JsonSchema } from "@burin/contract/messages/message";
import { stringifySorted } from "@burin/contract/messages/untrusted-json";
import { quoteShellWord } from "@burin/contract/text/shell-words";
import { BaseTool, type Confirmation, type ToolResult } from "@burin/contract/tools";

/** Runs a shell command in the project's folder with the given input. Never rejects. */
export type RunToolCommand = (request: {
  readonly command: string;
  readonly input: string;
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** The command as it is in the settings, if `command` has something added to it. */
  readonly inSettings?: string;
}) => Promise<ExchangeEnd>;

export interface DiscoveredToolOptions {
  /** The shell command that runs every discovered tool, and the time limit of one call in seconds. */
  readonly callCommand: string;
  readonly callSeconds: number;
  readonly run: RunToolCommand;
}

type Args = Record<string, unknown>;

/** A tool that a discovery command declared. The call command runs it, and what that prints is the answer. */
export class DiscoveredTool extends BaseTool<Args> {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  readonly kind = "execute";
  readonly #needs: DiscoveredToolOptions;
  readonly #mark: string;

  constructor(declaration: FunctionDeclaration, needs: DiscoveredToolOptions) {
    super();
    this.name = declaration.name;
    this.displayName = declaration.name;
    this.description = declaration.description;
    this.parameterSchema = declaration.parameters;
    this.#needs = needs;
    const { callCommand } = needs;
    const definition = stringifySorted({ ...declaration, callCommand });
    const { createHash } = process.getBuiltinModule("node:crypto");
    this.#mark = `definition:${createHash("sha256").update(definition).digest("hex").slice(0, 24)}`;
  }

  override validateToolParams(args: Args): string | null {
    return findForeignParamsError(this, args);
  }

  getDescription(args: Args): string {
    return `Run ${this.#formatCommandLine()} with ${shortenText(JSON.stringify(args))}`;
  }

  /** Returns a mark of this definition and command, so that an "always" applies to exactly them. */
  ruleSubjects(): readonly string[] {
    return [this.#mark];
  }

  override shouldConfirmExecute(args: Args): Promise<Confirmation> {
    return Promise.resolve({
      kind: "discovered",
      title: `Run ${this.name}, a tool of the discovery command?`,
      tool: this.name,
      command: this.#formatCommandLine(),
      args,
      grants: [`${this.name}(${this.#mark})`],
    });
  }

  async execute(args: Args, signal: AbortSignal): Promise<ToolResult> {
    const end = await this.#needs.run({
      command: this.#formatCommandLine(),
      inSettings: this.#needs.callCommand,
      input: JSON.stringify(args),
      seconds: this.#needs.callSeconds,
      signal,
    });
    const fault = describeFault(end, this.#needs.callSeconds);
    if (fault !== null) return createFailure(this.name, end, fault);
    const text = end.stdout.toString("utf8");
    if (text.trim() !== "") return { llmContent: text, returnDisplay: text };
    const silent = `${this.name} succeeded and printed nothing.`;
    return { llmContent: silent, returnDisplay: silent };
  }

  /** Returns the shell command for this tool. Its name contains only characters that the shell takes literally. */
  #formatCommandLine(): string {
    return `${this.#needs.callCommand} ${quoteShellWord(this.name)}`;
  }
}

export function describeFault(end: ExchangeEnd, seconds: number): string | null {
  if (end.startError !== null) return `could not be started: ${end.startError}`;
  if (end.stopped === "abort") return "was interrupted";
  if (end.stopped === "time") return `timed out after ${seconds} s`;
  if (end.stopped === "size") return "was stopped because it printed more than 10 MiB";
  if (end.signal !== null) return `was killed by ${end.signal}`;
  return end.exitCode === 0 ? null : `failed with exit code ${end.exitCode}`;
}

/** Returns the end of what the command printed to stderr. */
export function readLastOutput(end: ExchangeEnd): string {
  return end.stderr.trim().split("\n").slice(-5).join("\n").slice(-1000);
}

function createFailure(name: string, end: ExchangeEnd, fault: string): ToolResult {
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

const MAX_DESCRIBED = 200;

function shortenText(text: string): string {
  return text.length > MAX_DESCRIBED ? `${text.slice(0, MAX_DESCRIBED)}...` : text;
}
