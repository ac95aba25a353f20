import { schemaError } from "./messages/check-schema.ts";
import type { FunctionDeclaration } from "./messages/function-call.ts";
import type { JsonSchema } from "./messages/json-schema.ts";
import type { PartListUnion } from "./messages/parts.ts";

/**
 * What a call does to the world; it decides what may run side by side and what must be asked. `delegate` has others
 * do the work, whose calls are judged one by one.
 */
export type ToolKind = "read" | "edit" | "execute" | "fetch" | "delegate" | "plan";

/** A change of one file, for a user to read: before approval in a Confirmation, afterwards in a result. */
export interface FileDiff {
  readonly kind: "file_diff";
  readonly fileName: string;
  /** Unified diff. */
  readonly fileDiff: string;
  /** null when the file is new. */
  readonly originalContent: string | null;
  readonly newContent: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** Set when the contents are only a part of a file too large to show: the line that they begin at. */
  readonly firstLine?: number;
}

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** The steps of a task, for a user to see how far it is. */
export interface TodoList {
  readonly kind: "todo_list";
  readonly todos: readonly Todo[];
}

/** What a long work has done lately. */
export interface Progress {
  readonly kind: "progress";
  readonly title: string;
  readonly lines: readonly string[];
}

/** What the user sees of a result: Markdown, or a special object drawn by its `kind`. */
export type ToolDisplay = string | FileDiff | TodoList | Progress;

/** A failure that the model can act upon. `type` is stable and made for programs, `message` for readers. */
export interface ToolError {
  readonly type: string;
  readonly message: string;
}

export interface ToolResult {
  /** For the model's history. */
  readonly llmContent: PartListUnion;
  /** For the user. */
  readonly returnDisplay: ToolDisplay;
  readonly error?: ToolError;
}

/** A question to the user, as plain data. `grants` are the rules that "always" would store; without any it is not offered. */
export type Confirmation = { readonly title: string; readonly grants: readonly string[] } & (
  | { readonly kind: "edit"; readonly path: string; readonly diff: FileDiff }
  | {
      readonly kind: "exec";
      readonly command: string;
      readonly parts: readonly string[];
      /** Where it would run, resolved. */
      readonly directory?: string;
      /** What it asks for beyond the sandbox. */
      readonly exception?: "network" | "unlimited";
    }
  | { readonly kind: "info"; readonly prompt: string; readonly urls: readonly string[] }
  | { readonly kind: "mcp"; readonly server: string; readonly tool: string; readonly args: unknown }
  /** A tool that a discovery command declared; the command line runs it, and gets the arguments as JSON on stdin. */
  | { readonly kind: "discovered"; readonly tool: string; readonly command: string; readonly args: unknown }
  | { readonly kind: "plan"; readonly plan: string }
  /** What an MCP server wants to know of the user while it works. The message is the server's. */
  | { readonly kind: "form"; readonly server: string; readonly message: string; readonly schema: JsonSchema }
);

/**
 * A question that waits for its answer, as plain data: whoever knows the id can answer it, see `Session.answer`.
 * Ids are unique within a session, also when it is resumed.
 */
export interface Question {
  readonly id: string;
  /** The call that waits; null when an MCP server asks. */
  readonly callId: string | null;
  /** The name of the subagent whose call it is; null for the session's own. */
  readonly agent: string | null;
  /** The call of `task` that the subagent works for; null for the session's own. */
  readonly parentCallId: string | null;
  readonly confirmation: Confirmation;
  /** Why the user is asked. */
  readonly reason: string;
}

/** How far an "always" reaches: until this session ends, or for good in this project or in all. */
export type GrantScope = "session" | "project" | "everywhere";

/** The user's answer to a Confirmation. */
export type Decision =
  | { readonly outcome: "once" }
  | { readonly outcome: "always"; readonly scope: GrantScope }
  /** Only for an edit: yes to this content instead of the proposed one. */
  | { readonly outcome: "edited"; readonly content: string }
  /** Only for a form: these values, by the names in its schema. */
  | { readonly outcome: "filled"; readonly values: Readonly<Record<string, unknown>> }
  /** Only for a plan: yes, and the approval mode to go on in; "once" goes back to the mode before. */
  | { readonly outcome: "approved_plan"; readonly mode: PlanFollower }
  | { readonly outcome: "cancel"; readonly reason?: string };

/** The modes in which an approved plan can be carried out. */
export type PlanFollower = "default" | "auto-edit";

/** A Decision that lets the call run. */
export type Approval = Exclude<Decision, { readonly outcome: "cancel" }>;

/** Live output while a call runs; each update replaces the one before. */
export type OnUpdate = (display: ToolDisplay) => void;

/** What a tool is told of the call that it works on. */
export interface CallContext {
  readonly callId?: string;
  /**
   * Of a command line that nobody said yes to: all of it only reads and it is held to that, or git only looks
   * beside what a rule covers.
   */
  readonly reads?: "wholly" | "partly";
}

/** How prepared work is run. */
export interface RunContext extends CallContext {
  readonly onUpdate?: OnUpdate;
  /** The question as it was asked, when a user said yes to it. */
  readonly confirmation?: Confirmation;
}

/** What a tool has worked out of a call before anybody is asked, and the work that goes with the answer. */
export interface PreparedCall {
  /** false when nobody needs to be asked. */
  readonly confirmation: Confirmation | false;
  /** `approval` is the user's answer; null when a mode or a rule allowed the call. */
  readonly run: (approval: Approval | null, signal: AbortSignal, context?: RunContext) => Promise<ToolResult>;
}

/** One capability that a model can ask for, built in, discovered or registered by an embedder. */
export interface Tool<Params extends object = Record<string, unknown>> {
  readonly name: string;
  /** Another name that a call may use while it means no other tool, e.g. the one that the tool's server knows. */
  readonly plainName?: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  readonly kind: ToolKind;
  /** What is missing before it can be used, and how to get it; while it is said, the model is not told of the tool. */
  readonly missing?: string | undefined;
  /**
   * What the pattern of an approval rule is compared with: paths relative to the root, a host as
   * `domain:example.org`. Without it only rules for the whole tool apply.
   */
  ruleSubjects?(params: Params): readonly string[];
  /** null when the parameters are fine, else what is wrong with them and how to say it right. */
  validateToolParams(params: Params): string | null;
  /** One sentence on what this call will do; no side effect. */
  getDescription(params: Params): string;
  /** false when nobody needs to be asked. No side effect on anything that the user can see. */
  shouldConfirmExecute(params: Params, signal: AbortSignal): Promise<Confirmation | false>;
  /**
   * Instead of `shouldConfirmExecute`, `approvedByUser` and `execute`, for a tool that works something out before
   * it asks. No side effect on anything that the user can see.
   */
  prepare?(params: Params, signal: AbortSignal): Promise<PreparedCall>;
  /**
   * Told before `execute`, with the same params object, when a user said yes to this very Confirmation;
   * not when a mode or a rule allowed the call.
   */
  approvedByUser?(params: Params, confirmation: Confirmation, answer: Approval): void;
  execute(
    params: Params,
    signal: AbortSignal,
    onUpdate?: OnUpdate,
    context?: CallContext,
  ): Promise<ToolResult>;
}

/** The part of the contract that is alike for most tools: validation by schema, and no question asked. */
export abstract class BaseTool<Params extends object = Record<string, unknown>> implements Tool<Params> {
  abstract readonly name: string;
  abstract readonly displayName: string;
  abstract readonly description: string;
  abstract readonly parameterSchema: JsonSchema;
  abstract readonly kind: ToolKind;

  abstract getDescription(params: Params): string;
  abstract execute(
    params: Params,
    signal: AbortSignal,
    onUpdate?: OnUpdate,
    context?: CallContext,
  ): Promise<ToolResult>;

  validateToolParams(params: Params): string | null {
    const fault = schemaError(this.parameterSchema, params);
    if (fault === null) return this.checkParams(params);
    const names = Object.keys(this.parameterSchema.properties ?? {}).join(", ");
    return `Invalid parameters for ${this.name}: ${fault}. It takes: ${names || "no parameters"}.`;
  }

  shouldConfirmExecute(_params: Params, _signal: AbortSignal): Promise<Confirmation | false> {
    return Promise.resolve(false);
  }

  /** Rules that a schema cannot say; runs only on parameters that fit the schema. */
  protected checkParams(_params: Params): string | null {
    return null;
  }
}

/** A tool that works something out before it asks: its question and its work come from `prepare`. */
export abstract class PreparingTool<Params extends object> extends BaseTool<Params> {
  abstract prepare(params: Params, signal: AbortSignal): Promise<PreparedCall>;

  override async shouldConfirmExecute(params: Params, signal: AbortSignal): Promise<Confirmation | false> {
    return (await this.prepare(params, signal)).confirmation;
  }

  async execute(
    params: Params,
    signal: AbortSignal,
    ...[onUpdate, context]: [onUpdate?: OnUpdate, context?: CallContext]
  ): Promise<ToolResult> {
    const { run } = await this.prepare(params, signal);
    return run(null, signal, onUpdate ? { ...context, onUpdate } : context);
  }
}

/** A failure that the model can act upon. */
export function failedResult(error: ToolError): ToolResult {
  return { llmContent: error.message, returnDisplay: error.message, error };
}

/** Where tools come from that are not built in: a command, an MCP server. */
export interface ToolSource {
  readonly name: string;
  /** What the names of all its tools begin with. */
  readonly prefix?: string;
  /** All its tools. What it leaves out it reports by itself; when it rejects, it gives none. */
  discover(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Called once; the source tells here when its tools have changed by themselves. */
  watch?(onTools: (tools: readonly Tool[]) => void): void;
  /** true when what it was discovered from has changed since. */
  isStale?(): Promise<boolean>;
  /** How long the first request to the model waits for it, in milliseconds; without it, not at all. */
  readonly patience?: number;
  /** Called when the request goes without it. */
  onLate?(): void;
  /** Resolves when what it gave from memory is what there is now; whoever calls it does not want to wait long. */
  settle?(): Promise<void>;
  /** Ends everything that the source has started. */
  close?(): Promise<void>;
}

/** What the model is told of a tool. */
export function declarationOf(tool: Tool): FunctionDeclaration {
  return { name: tool.name, description: tool.description, parameters: tool.parameterSchema };
}
