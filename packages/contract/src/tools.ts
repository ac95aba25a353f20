import { paramsFault } from "./messages/check-schema.ts";
import type { FunctionDeclaration, JsonSchema, ObjectSchema } from "./messages/message.ts";
import type { FileDiff, ToolDisplay, ToolError, ToolResult } from "./tool-result.ts";

export type {
  ChangedFile,
  FileDiff,
  Progress,
  ResultData,
  Todo,
  TodoList,
  ToolDisplay,
  ToolError,
  ToolErrorType,
  ToolResult,
} from "./tool-result.ts";
export { changeData } from "./tool-result.ts";

/**
 * What a call does to the world; it decides what may run in parallel and what requires a question. `delegate`:
 * others do the work, and each of their calls is judged separately.
 */
export type ToolKind = "read" | "edit" | "execute" | "fetch" | "delegate" | "plan";

const KINDS: readonly ToolKind[] = ["read", "edit", "execute", "fetch", "delegate", "plan"];

/** The kind of a tool as it counts: without a known one it may do anything. undefined when there is no tool. */
export function kindOf(tool: { readonly kind?: unknown }): ToolKind;
export function kindOf(tool: { readonly kind?: unknown } | undefined): ToolKind | undefined;
export function kindOf(tool: { readonly kind?: unknown } | undefined): ToolKind | undefined {
  return tool && (KINDS.find((one) => one === tool.kind) ?? "execute");
}

/** Kinds without an effect that requires approval. Any other or missing kind may have one. */
export const HARMLESS: ReadonlySet<unknown> = new Set<ToolKind>(["read", "fetch", "delegate", "plan"]);

/**
 * How wide an "always" is: for this exact command or file; also for the same command with other arguments that cannot
 * widen it, or for the file's folder; for everything that the tool does.
 */
export type GrantWidth = "exact" | "wide" | "all";

/** The rules that an "always" of each width would store; absent widths are not offered. */
export type GrantWidths = Readonly<Partial<Record<GrantWidth, readonly string[]>>>;

/**
 * What a command would do, as far as its words say it. `deletes`: files. `discards`: work that git may have nowhere else.
 * `protected`: changes files that run code later. `sends`: changes something on another machine. `may_network`: needs the
 * network if something is missing here. `hidden`: starts what its words do not show. `unknown`: may change files.
 */
export type EffectKind =
  | "deletes"
  | "discards"
  | "protected"
  | "changes"
  | "sends"
  | "reads"
  | "network"
  | "hidden"
  | "writes"
  | "may_network"
  | "unknown";

export interface Effect {
  readonly kind: EffectKind;
  /** The paths or machines that the words name; empty where they name none. */
  readonly on: readonly string[];
  /** It reaches out of the project. */
  readonly isOutside: boolean;
}

/** One simple command of a command line, and what it would do; without an effect it only reads in the project. */
export interface PartReach {
  readonly text: string;
  /** Neither a rule nor what is known of the program covers it. */
  readonly asks: boolean;
  /** The rule that covers it, as written. */
  readonly rule?: string;
  /** Worst first. */
  readonly effects: readonly Effect[];
}

/** What the system lets a command do after a yes. */
export interface CommandLimits {
  /** Where it can write: in the project, nowhere, or wherever the user can. */
  readonly writes: "project" | "nothing" | "everywhere";
  /**
   * What it can reach. `hosts`: those that the question names; others are asked about. `asked`: each host is asked about.
   * `offered`: nothing, unless the answer gives it the network of this machine.
   */
  readonly network: "none" | "hosts" | "asked" | "whole" | "offered";
  /** Its words say that it needs the network, so an answer may withhold it: `"network": false`. */
  readonly needsNetwork: boolean;
  /** Why there is no sandbox. */
  readonly reason?: string;
}

/** What every question has. "Always" would store the rules in `grants`, and needs at least one. */
interface Asked {
  readonly title: string;
  readonly grants: readonly string[];
  /** Where the user can choose; an answer that names no width means `grants`. */
  readonly widths?: GrantWidths;
}

/** A question to the user, as plain data. */
export type Confirmation = Asked &
  (
    | { readonly kind: "edit"; readonly path: string; readonly diff: FileDiff }
    | {
        readonly kind: "exec";
        readonly command: string;
        readonly parts: readonly string[];
        /** The same with what each would do, worst first; absent where that is not known. */
        readonly reach?: readonly PartReach[];
        /** What the sandbox lets it do; absent where nothing limits by itself. */
        readonly limits?: CommandLimits;
        /** The resolved directory that it would run in. */
        readonly directory?: string;
        /** What it needs beyond the sandbox. */
        readonly exception?: "network" | "unlimited";
        /** The hosts that a yes lets it reach, and upload to. */
        readonly hosts?: readonly string[];
        /** Protected files that it would write, and why they are protected. A yes covers them. */
        readonly writes?: readonly { readonly path: string; readonly why: string }[];
      }
    | {
        readonly kind: "info";
        readonly prompt: string;
        readonly urls: readonly string[];
        /** Protected files that a command has created, and why they are protected: a yes keeps them. */
        readonly created?: readonly { readonly path: string; readonly why: string }[];
      }
    | {
        readonly kind: "mcp";
        readonly server: string;
        readonly tool: string;
        readonly args: unknown;
        /** How the tool differs from what was last allowed, line by line. */
        readonly changes?: readonly string[];
      }
    /** A tool that a discovery command declared; the command line runs it and gets the arguments as JSON on stdin. */
    | { readonly kind: "discovered"; readonly tool: string; readonly command: string; readonly args: unknown }
    | { readonly kind: "plan"; readonly plan: string }
    /** What an MCP server asks the user while it works. The message comes from the server. */
    | {
        readonly kind: "form";
        readonly server: string;
        readonly message: string;
        readonly schema: JsonSchema;
        /** What the model itself asks. The schema has two values for each: the choice, and words of the user's own. */
        readonly questions?: readonly AskedQuestion[];
      }
  );

/** A question of the model with a few choices; an answer in other words is always possible. */
export interface AskedQuestion {
  readonly question: string;
  readonly choices: readonly { readonly label: string; readonly description?: string }[];
  /** Several may be chosen. */
  readonly multiple?: boolean;
}

/** A question that waits: anyone who knows its id can answer it. Ids stay unique when a session is resumed. */
export interface Question {
  readonly id: string;
  /** The call that waits; null when an MCP server asks. */
  readonly callId: string | null;
  /** The name of the subagent that made the call; null for the session itself. */
  readonly agent: string | null;
  /** The call of `task` that the subagent works for; null for the session itself. */
  readonly parentCallId: string | null;
  readonly confirmation: Confirmation;
  /** Why the user is asked. */
  readonly reason: string;
}

/** How long an "always" applies: until this session ends, or permanently in this project or in all projects. */
export type GrantScope = "session" | "project" | "everywhere";

/** The user's answer to a Confirmation. */
export type Decision =
  /** `network`, only for a command that needs it: gives it, or withholds it. */
  | { readonly outcome: "once"; readonly network?: boolean }
  | { readonly outcome: "always"; readonly scope: GrantScope; readonly width?: GrantWidth }
  /** Only for an edit: approves this content instead of the proposed one, with words for the model. */
  | { readonly outcome: "edited"; readonly content: string; readonly reason?: string }
  /** Only for a form: these values, by the names in its schema. */
  | { readonly outcome: "filled"; readonly values: Readonly<Record<string, unknown>> }
  /** Only for a plan: approval, and the approval mode to continue in; "once" returns to the previous mode. */
  | { readonly outcome: "approved_plan"; readonly mode: PlanFollower }
  | { readonly outcome: "cancel"; readonly reason?: string };

/** The modes in which an approved plan can be carried out. */
export type PlanFollower = "default" | "auto-edit";

/** A Decision that lets the call run. */
export type Approval = Exclude<Decision, { readonly outcome: "cancel" }>;

/** Live output while a call runs; each update replaces the previous one. */
export type OnUpdate = (display: ToolDisplay) => void;

/** What a tool knows about the call that it works on. */
export interface CallContext {
  readonly callId?: string;
  /**
   * For a command line that no user approved: "wholly" when all of it only reads and is restricted to that,
   * "partly" when git only reads in addition to what a rule allows.
   */
  readonly reads?: "wholly" | "partly";
  /** For a command that no user approved: absolute paths that it must not change, since undo could not give them back. */
  readonly readOnly?: readonly string[];
  /** Asks the user something more while the call runs; null when nobody answers. */
  readonly ask?: (confirmation: Confirmation, reason: string) => Promise<Decision | null>;
}

export interface RunContext extends CallContext {
  readonly onUpdate?: OnUpdate;
  /** The question as it was asked, when a user approved it. */
  readonly confirmation?: Confirmation;
}

/** What a tool has worked out before the user is asked, and the work that belongs to the answer. */
export interface PreparedCall {
  /** false when no question is needed. */
  readonly confirmation: Confirmation | false;
  /** false: the user cannot answer with another content than the proposed one. Default: true. */
  readonly takesEdits?: boolean;
  /** `approval` is the user's answer; null when a mode or a rule allowed the call. */
  readonly run: (approval: Approval | null, signal: AbortSignal, context?: RunContext) => Promise<ToolResult>;
}

/** One capability that a model can call: built in, discovered, or registered by an embedder. */
export interface Tool<Params extends object = Record<string, unknown>> {
  readonly name: string;
  /** Another name that a call may use as long as no other tool has it, e.g. the name on the tool's server. */
  readonly plainName?: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  /** Any other word counts as "execute". */
  readonly kind: ToolKind | (string & {});
  /** Its source may declare it in another way by now, and is asked before a call of it is judged. */
  readonly isOutdated?: boolean;
  /** What must be installed before the tool can be used, and how; until then the model does not see the tool. */
  readonly missing?: string | undefined;
  /**
   * What the pattern of an approval rule is compared with: paths relative to the root, a host as
   * `domain:example.org`. Without it only rules for the whole tool apply.
   */
  ruleSubjects?(params: Params): readonly string[];
  /** Returns null when the parameters are valid, otherwise what is wrong and how to fix it. */
  validateToolParams(params: Params): string | null;
  /** One sentence about what this call will do; has no side effect. */
  getDescription(params: Params): string;
  /** Returns false when no question is needed. Has no side effect that the user can see. */
  shouldConfirmExecute(params: Params, signal: AbortSignal): Promise<Confirmation | false>;
  /** Replaces `shouldConfirmExecute`, `approvedByUser` and `execute`. Has no side effect that the user can see. */
  prepare?(params: Params, signal: AbortSignal): Promise<PreparedCall>;
  /** Called before `execute`, with the same params object, when a user, not a mode or a rule, approved this. */
  approvedByUser?(params: Params, confirmation: Confirmation, answer: Approval): void;
  execute(
    params: Params,
    signal: AbortSignal,
    onUpdate?: OnUpdate,
    context?: CallContext,
  ): Promise<ToolResult>;
}

/** What a tool says about itself. */
export interface ToolFields extends Pick<Tool, "name" | "description" | "parameterSchema"> {
  /** What people see. Default: the name. */
  readonly displayName?: string;
  /** Default: "execute", so that each call asks. */
  readonly kind?: Tool["kind"];
}

/**
 * The fields as a subclass may write them. Abstract here, plain in the class and in an interface: so the compiler takes
 * fields with `override` and without, accessors, and values for the constructor.
 */
type FieldsOfTool = AbstractFields & ReadFields;

interface ReadFields {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  readonly kind: ToolKind | (string & {});
}

declare abstract class AbstractFields {
  abstract readonly name: string;
  abstract readonly displayName: string;
  abstract readonly description: string;
  abstract readonly parameterSchema: JsonSchema;
  abstract readonly kind: ToolKind | (string & {});
}

abstract class PlainTool<Params extends object> implements Tool<Params> {
  declare readonly name: string;
  declare readonly displayName: string;
  declare readonly description: string;
  declare readonly parameterSchema: JsonSchema;
  declare readonly kind: ToolKind | (string & {});

  constructor(fields?: ToolFields) {
    if (fields === undefined) return;
    const { name, displayName = name, description, parameterSchema, kind = "execute" } = fields;
    const given = { name, displayName, description, parameterSchema, kind };
    // An accessor of the subclass stays.
    for (const [key, value] of Object.entries(given))
      if (!(key in this)) Object.assign(this, { [key]: value });
  }

  abstract getDescription(params: Params): string;
  abstract execute(
    params: Params,
    signal: AbortSignal,
    onUpdate?: OnUpdate,
    context?: CallContext,
  ): Promise<ToolResult>;

  validateToolParams(params: Params): string | null {
    return paramsFault(this, params) ?? this.checkParams(params);
  }

  shouldConfirmExecute(_params: Params, _signal: AbortSignal): Promise<Confirmation | false> {
    return Promise.resolve(false);
  }

  /** Rules that a schema cannot express; called only with parameters that fit the schema. */
  protected checkParams(_params: Params): string | null {
    return null;
  }
}

type BaseToolClass = abstract new <Params extends object = Record<string, unknown>>(
  fields?: ToolFields,
) => PlainTool<Params> & FieldsOfTool;

/**
 * The parts that most tools share: validation by schema, and no question. A subclass passes what the tool says about
 * itself to the constructor, or declares it as fields.
 *
 * @example
 * class Count extends BaseTool<{ text: string }> {
 *   readonly name = "count";
 *   readonly displayName = "Count";
 *   readonly kind = "read";
 *   readonly description = "Counts the characters of a text.";
 *   readonly parameterSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
 *   getDescription({ text }: { text: string }) { return `Count ${text}`; }
 *   async execute({ text }: { text: string }) {
 *     return { llmContent: String(text.length), returnDisplay: `**${text.length}**` };
 *   }
 * }
 */
export const BaseTool: BaseToolClass = PlainTool;
export type BaseTool<Params extends object = Record<string, unknown>> = PlainTool<Params> & FieldsOfTool;

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

/** Thrown by a tool that finds only while it prepares a call that its parameters are wrong. */
export class InvalidParams extends Error {
  override readonly name = "InvalidParams";
}

/** A failure that the model can act on. */
export function failedResult(error: ToolError): ToolResult {
  return { llmContent: error.message, returnDisplay: error.message, error };
}

/** Where tools come from that are not built in: a command, an MCP server. */
export interface ToolSource {
  readonly name: string;
  /** The prefix of all its tool names. */
  readonly prefix?: string;
  /** Returns all its tools. It reports skipped tools itself; when it rejects, it has none. */
  discover(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Called once; the source calls back when its tools have changed by themselves. */
  watch?(onTools: (tools: readonly Tool[]) => void): void;
  /** Whether the input of the discovery has changed since. */
  isStale?(): Promise<boolean>;
  /** How long the first request to the model waits for the source, in milliseconds; without it, not at all. */
  readonly patience?: number;
  /** Called when the request is sent without the source's tools. */
  onLate?(): void;
  /** Resolves when tools that came from a cache are up to date; should not take long. */
  settle?(): Promise<void>;
  /** Replaces tools that are outdated by those that the source declares now. Never rejects. */
  renew?(): Promise<void>;
  /** Ends everything that the source has started. */
  close?(): Promise<void>;
}

export function declarationOf(tool: Tool): FunctionDeclaration {
  const { name, description, parameterSchema } = tool;
  // The registry takes no other type.
  const parameters =
    parameterSchema.type === "object" ? parameterSchema : { ...parameterSchema, type: "object" };
  return { name, description, parameters: parameters as ObjectSchema };
}
