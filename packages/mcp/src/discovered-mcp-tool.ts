import { findForeignParamsError } from "@burin/contract/messages/check-schema";
import type { JsonSchema, PartUnion } from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import { wrapServerText } from "@burin/contract/text/untrusted-text";
import { visibleText } from "@burin/contract/text/visible-text";
import {
  type Approval,
  type Confirmation,
  type PreparedCall,
  PreparingTool,
  type RunContext,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";
import { hashText } from "./definition.ts";
import { McpError } from "./mcp-error.ts";
import type { OfferedTool, ToolDefinition } from "./offered-tools.ts";
import { formatDeclaredName } from "./tool-names.ts";

export interface CallRequest {
  /** The tool's name on the server. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly inputSchema: object;
  /** The tool as it was when the call was judged. Absent if the caller has just asked the server. */
  readonly judged?: OfferedTool;
  /** true if the call was judged some time ago. The server is then asked again for the tool. */
  readonly isLongAgo?: boolean;
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
  /** Whether the user trusts the server: its tools run without a question, and their annotations are believed. */
  readonly isTrusted: boolean;
  /** Identifies the server. Changes if the settings name another program or address. */
  readonly hash: string;
  readonly connection: { callTool(request: CallRequest): Promise<unknown> };
  /** What the user last approved, also in earlier sessions, by the tool's name on the server. */
  readonly approved: Map<string, ApprovedTool>;
  onApproved(): void;
  /** Whether these tools come from the server's current list. */
  isListCurrent(): boolean;
}

/** A tool as the user approved it. */
export interface ApprovedTool {
  /** The hash of the tool and its server. */
  readonly definition: string;
  /** The tool's definition. Absent if it is too long to be stored, or if an earlier version stored the approval. */
  readonly tool?: ToolDefinition;
}

type Params = Record<string, unknown>;

const MAX_DESCRIPTION = 2000;
const MAX_DISPLAY = 10_000;
const MAX_APPROVED_CHARACTERS = 100_000;

/** A tool of an MCP server, declared as `alias__tool`. */
export class DiscoveredMCPTool extends PreparingTool<Params> {
  readonly name: string;
  /** The tool's name on the server. Calls may use it as long as it is unambiguous. */
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
    this.name = formatDeclaredName(server.prefix, offered.name);
    const shown = formatName(offered.title || offered.name);
    this.displayName = `${shown} (${formatName(server.alias)} MCP server)`;
    this.description = describeOfferedTool(offered);
    this.parameterSchema = offered.inputSchema;
    // A server's annotations of its own tools are ignored unless the user trusts the server.
    this.kind = server.isTrusted && offered.isReadOnly ? "read" : "execute";
  }

  /** Returns a mark of the tool and its server in their current form, to which rules and grants can be bound. */
  ruleSubjects(): readonly string[] {
    return [this.#definition];
  }

  get #definition(): string {
    return `definition:${hashText([this.#server.hash, this.#offered.hash])}`;
  }

  override validateToolParams(params: Params): string | null {
    return findForeignParamsError(this, params);
  }

  getDescription(params: Params): string {
    const args = visibleText(JSON.stringify(params));
    return `${this.displayName}: ${args.length > 200 ? `${args.slice(0, 197)}...` : args}`;
  }

  get isOutdated(): boolean {
    return !this.#server.isListCurrent();
  }

  async prepare(params: Params): Promise<PreparedCall> {
    return {
      confirmation: this.#server.isTrusted ? false : await this.#buildQuestion(params),
      run: (approval, signal, context) => {
        if (approval !== null) this.#remember();
        return this.#callServer({ params, approval }, signal, context);
      },
    };
  }

  async #buildQuestion(params: Params): Promise<Confirmation> {
    const { alias, approved } = this.#server;
    const known = approved.get(this.plainName);
    const isChanged = known !== undefined && known.definition !== this.#definition;
    const title = `Run ${formatName(this.plainName)} of the MCP server ${formatName(alias)}?`;
    const { describeChange } = await import("./tool-change.ts");
    const changes = isChanged && known.tool ? describeChange(known.tool, this.#offered.definition) : [];
    return {
      kind: "mcp",
      title: isChanged ? `${title} It has changed since it was last allowed.` : title,
      server: alias,
      tool: this.plainName,
      args: params,
      ...(changes.length === 0 ? {} : { changes }),
      grants: [`${this.name}(${this.#definition})`],
    };
  }

  #remember(): void {
    const { approved } = this.#server;
    const known = approved.get(this.plainName);
    if (known?.definition === this.#definition && known.tool !== undefined) return;
    const { definition: tool } = this.#offered;
    const isShort = JSON.stringify(tool).length <= MAX_APPROVED_CHARACTERS;
    approved.set(this.plainName, { definition: this.#definition, ...(isShort ? { tool } : {}) });
    this.#server.onApproved();
  }

  async #callServer(
    { params, approval }: { readonly params: Params; readonly approval: Approval | null },
    signal: AbortSignal,
    { onUpdate = () => {} }: RunContext = {},
  ): Promise<ToolResult> {
    const { isTrusted, connection } = this.#server;
    const { isReadOnly, isIdempotent, inputSchema } = this.#offered;
    try {
      const result = await connection.callTool({
        tool: this.plainName,
        args: params,
        inputSchema,
        judged: this.#offered,
        // The user may have thought about the question for a long time.
        isLongAgo: approval !== null,
        signal,
        onProgress: (progress) => onUpdate(formatProgress(progress)),
        mayRepeat: isTrusted && (isReadOnly || isIdempotent),
      });
      return await this.#buildToolResult(result);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      return this.#buildFailure(error);
    }
  }

  #buildFailure({ code, message: text, foreign }: McpError): ToolResult {
    const message = visibleText(text);
    const shown = [message, ...foreign].join("\n");
    const forModel = foreign.length === 0 ? [] : [this.#markServerText(foreign.join("\n"))];
    const llmContent = [message, ...forModel].join("\n");
    return { llmContent, returnDisplay: shown, error: { type: code, message: shown } };
  }

  /** Puts the server's words between marks that the server cannot know. */
  #markServerText(text: string): string {
    const { randomBytes } = process.getBuiltinModule("node:crypto");
    const source = `MCP server ${formatName(this.serverName)}`;
    return wrapServerText(text, source, randomBytes(6).toString("hex"));
  }

  async #buildToolResult(result: unknown): Promise<ToolResult> {
    const { readCallResult } = await import("./result-parts.ts");
    const { parts, isError } = readCallResult(result);
    const llmContent = parts.map((part) => (typeof part === "string" ? this.#markServerText(part) : part));
    const display = parts.map(formatPart).join("\n");
    const shown = keepHeadAndTail(display, MAX_DISPLAY, "the model has more of it");
    const answer = { llmContent, returnDisplay: shown, ...readStructuredContent(result) };
    return isError ? { ...answer, error: { type: "mcp_tool_error", message: shown } } : answer;
  }
}

/** Returns the structured values of a server's result, for programs. */
function readStructuredContent(result: unknown): Pick<ToolResult, "data"> {
  const structured = isRecord(result) ? result.structuredContent : undefined;
  return isRecord(structured) ? { data: structured } : {};
}

function formatName(name: string): string {
  return visibleText(name).replace(/\s+/g, " ").slice(0, 100);
}

function describeOfferedTool({ title, name, description }: OfferedTool): string {
  const text = visibleText(description).trim() || visibleText(title ?? name);
  return keepHeadAndTail(text, MAX_DESCRIPTION, "the description is too long");
}

function formatPart(part: PartUnion): string {
  if (typeof part === "string") return visibleText(part);
  return `[${part.inlineData?.mimeType ?? "data"}]`;
}

function formatProgress({ progress, total, message }: CallProgress): string {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? share : `${visibleText(message).slice(0, 500)} (${share})`;
}
