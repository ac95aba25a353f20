import { foreignParamsFault } from "@burin/contract/messages/check-schema";
import type { JsonSchema, PartUnion } from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import { untrustedFromServer } from "@burin/contract/text/untrusted-text";
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
import { hashOf } from "./definition.ts";
import { McpError } from "./mcp-error.ts";
import type { OfferedTool, ToolDefinition } from "./offered-tools.ts";
import { declaredName } from "./tool-names.ts";

export interface CallRequest {
  /** The server's own name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly inputSchema: object;
  /** The tool as it was decided about; without it the caller has just asked the server. */
  readonly judged?: OfferedTool;
  /** It was decided some time ago: the server is asked again what the tool is. */
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
  /** Its tools run without a question, and their annotations are trusted. */
  readonly isTrusted: boolean;
  /** Changes when the settings name another program or address. */
  readonly hash: string;
  readonly connection: { callTool(request: CallRequest): Promise<unknown> };
  /** By the server's own names: what the user last approved, also in an earlier session. */
  readonly approved: Map<string, ApprovedTool>;
  onApproved(): void;
  /** Whether the server's list that these tools are from is the one that counts now. */
  isListCurrent(): boolean;
}

/** What the user approved. */
export interface ApprovedTool {
  /** The hash of tool and server. */
  readonly definition: string;
  /** Absent when it is too long to be stored, or is from an earlier version. */
  readonly tool?: ToolDefinition;
}

type Params = Record<string, unknown>;

const MOST_DESCRIPTION = 2000;
const MOST_DISPLAY = 10_000;
const MOST_APPROVED_CHARACTERS = 100_000;

/** One tool of an MCP server, declared as `alias__tool`. */
export class DiscoveredMCPTool extends PreparingTool<Params> {
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

  get isOutdated(): boolean {
    return !this.#server.isListCurrent();
  }

  async prepare(params: Params): Promise<PreparedCall> {
    return {
      confirmation: this.#server.isTrusted ? false : await this.#question(params),
      run: (approval, signal, context) => {
        if (approval !== null) this.#remember();
        return this.#call({ params, approval }, signal, context);
      },
    };
  }

  async #question(params: Params): Promise<Confirmation> {
    const { alias, approved } = this.#server;
    const known = approved.get(this.plainName);
    const isChanged = known !== undefined && known.definition !== this.#definition;
    const title = `Run ${shownName(this.plainName)} of the MCP server ${shownName(alias)}?`;
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
    const isShort = JSON.stringify(tool).length <= MOST_APPROVED_CHARACTERS;
    approved.set(this.plainName, { definition: this.#definition, ...(isShort ? { tool } : {}) });
    this.#server.onApproved();
  }

  async #call(
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
        // Nobody knows how long the user thought about the question.
        isLongAgo: approval !== null,
        signal,
        onProgress: (progress) => onUpdate(progressText(progress)),
        mayRepeat: isTrusted && (isReadOnly || isIdempotent),
      });
      return await this.#toolResult(result);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      return this.#failure(error);
    }
  }

  #failure({ code, message: text, foreign }: McpError): ToolResult {
    const message = visibleText(text);
    const shown = [message, ...foreign].join("\n");
    const forModel = foreign.length === 0 ? [] : [this.#marked(foreign.join("\n"))];
    const llmContent = [message, ...forModel].join("\n");
    return { llmContent, returnDisplay: shown, error: { type: code, message: shown } };
  }

  /** Words of the server, between marks that it cannot know. */
  #marked(text: string): string {
    const { randomBytes } = process.getBuiltinModule("node:crypto");
    const source = `MCP server ${shownName(this.serverName)}`;
    return untrustedFromServer(text, source, randomBytes(6).toString("hex"));
  }

  async #toolResult(result: unknown): Promise<ToolResult> {
    const { readCallResult } = await import("./result-parts.ts");
    const { parts, isError } = readCallResult(result);
    const llmContent = parts.map((part) => (typeof part === "string" ? this.#marked(part) : part));
    const display = parts.map(displayText).join("\n");
    const shown = keepHeadAndTail(display, MOST_DISPLAY, "the model has more of it");
    const answer = { llmContent, returnDisplay: shown, ...structuredIn(result) };
    return isError ? { ...answer, error: { type: "mcp_tool_error", message: shown } } : answer;
  }
}

/** The values that the server returned beside its words, for programs. */
function structuredIn(result: unknown): Pick<ToolResult, "data"> {
  const structured = isRecord(result) ? result.structuredContent : undefined;
  return isRecord(structured) ? { data: structured } : {};
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
