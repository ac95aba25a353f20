import { foreignParamsFault } from "@burin/contract/messages/check-schema";
import type { JsonSchema, PartUnion } from "@burin/contract/messages/message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import { untrustedFromServer } from "@burin/contract/text/untrusted-text";
import { visibleText } from "@burin/contract/text/visible-text";
import {
  BaseTool,
  type Confirmation,
  type OnUpdate,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";
import { hashOf } from "./definition.ts";
import { McpError } from "./mcp-error.ts";
import type { OfferedTool } from "./offered-tools.ts";
import { declaredName } from "./tool-names.ts";

export interface CallRequest {
  /** The server's own name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly inputSchema: object;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CallProgress) => void;
  /** Whether it may run twice if the connection breaks. */
  readonly mayRepeat: boolean;
}

interface CallProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface McpToolServer {
  readonly alias: string;
  readonly prefix: string;
  /** Its tools run without a question, and their annotations are trusted. */
  readonly isTrusted: boolean;
  /** Changes when the settings name another program or address. */
  readonly hash: string;
  readonly connection: { callTool(request: CallRequest): Promise<unknown> };
  /** By the server's own names: the definition that the user last approved, also in an earlier session. */
  readonly approved: Map<string, string>;
  onApproved(): void;
}

type Params = Record<string, unknown>;

const MOST_DESCRIPTION = 2000;
const MOST_DISPLAY = 10_000;

/** One tool of an MCP server, declared as `alias__tool`. */
export class DiscoveredMCPTool extends BaseTool {
  readonly name: string;
  /** The server's own name, which a call may use as long as it is not ambiguous. */
  readonly plainName: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  readonly kind: ToolKind;
  readonly serverName: string;
  readonly #server: McpToolServer;
  readonly #offered: OfferedTool;

  constructor(server: McpToolServer, offered: OfferedTool) {
    super();
    this.#server = server;
    this.#offered = offered;
    this.serverName = server.alias;
    this.plainName = offered.name;
    this.name = declaredName(server.prefix, offered.name);
    const shown = shownName(offered.title || offered.name);
    this.displayName = `${shown} (${shownName(server.alias)} MCP server)`;
    this.description = describe(offered);
    this.parameterSchema = offered.inputSchema;
    // What a server says about its own tools is ignored unless the user trusts it.
    this.kind = server.isTrusted && offered.isReadOnly ? "read" : "execute";
  }

  /** Rules and grants can be bound to the tool and its server as they were at that time. */
  ruleSubjects(): readonly string[] {
    return [this.#definition];
  }

  get #definition(): string {
    return `definition:${hashOf([this.#server.hash, this.#offered.hash])}`;
  }

  override validateToolParams(params: Params): string | null {
    return foreignParamsFault(this, params);
  }

  getDescription(params: Params): string {
    const args = visibleText(JSON.stringify(params));
    return `${this.displayName}: ${args.length > 200 ? `${args.slice(0, 197)}...` : args}`;
  }

  override shouldConfirmExecute(params: Params): Promise<Confirmation | false> {
    if (this.#server.isTrusted) return Promise.resolve(false);
    const { alias, approved } = this.#server;
    const known = approved.get(this.plainName) ?? this.#definition;
    const change = known === this.#definition ? "" : " It has changed since it was last allowed.";
    return Promise.resolve({
      kind: "mcp",
      title: `Run ${shownName(this.plainName)} of the MCP server ${shownName(alias)}?${change}`,
      server: alias,
      tool: this.plainName,
      args: params,
      grants: [`${this.name}(${this.#definition})`],
    });
  }

  approvedByUser(): void {
    const { approved } = this.#server;
    if (approved.get(this.plainName) === this.#definition) return;
    approved.set(this.plainName, this.#definition);
    this.#server.onApproved();
  }

  async execute(params: Params, signal: AbortSignal, onUpdate: OnUpdate = () => {}): Promise<ToolResult> {
    const { isTrusted, connection } = this.#server;
    const { isReadOnly, isIdempotent, inputSchema } = this.#offered;
    try {
      const result = await connection.callTool({
        tool: this.plainName,
        args: params,
        inputSchema,
        signal,
        onProgress: (progress) => onUpdate(progressText(progress)),
        mayRepeat: isTrusted && (isReadOnly || isIdempotent),
      });
      return await this.#toolResult(result);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      const message = visibleText(error.message);
      return { llmContent: message, returnDisplay: message, error: { type: error.code, message } };
    }
  }

  async #toolResult(result: unknown): Promise<ToolResult> {
    const { readCallResult } = await import("./result-parts.ts");
    const { parts, isError } = readCallResult(result);
    const { randomBytes } = process.getBuiltinModule("node:crypto");
    const source = `MCP server ${shownName(this.serverName)}`;
    const llmContent = parts.map((part) =>
      typeof part === "string" ? untrustedFromServer(part, source, randomBytes(6).toString("hex")) : part,
    );
    const display = parts.map(displayText).join("\n");
    const shown = keepHeadAndTail(display, MOST_DISPLAY, "the model has more of it");
    if (!isError) return { llmContent, returnDisplay: shown };
    return { llmContent, returnDisplay: shown, error: { type: "mcp_tool_error", message: shown } };
  }
}

function shownName(name: string): string {
  return visibleText(name).replace(/\s+/g, " ").slice(0, 100);
}

function describe({ title, name, description }: OfferedTool): string {
  const text = visibleText(description).trim() || visibleText(title ?? name);
  return keepHeadAndTail(text, MOST_DESCRIPTION, "the description is too long");
}

function displayText(part: PartUnion): string {
  if (typeof part === "string") return visibleText(part);
  return `[${part.inlineData?.mimeType ?? "data"}]`;
}

function progressText({ progress, total, message }: CallProgress): string {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? share : `${visibleText(message).slice(0, 500)} (${share})`;
}
