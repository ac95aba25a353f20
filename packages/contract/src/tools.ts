import { findParamsError } from "./messages/check-schema.ts";
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
export { buildChangeData } from "./tool-result.ts";

/**
 * What kind of effect a tool has. It decides which calls may run in parallel and which need a question. `delegate`: a
 * subagent does the work, and each of its calls is judged separately.
 */
export type ToolKind = "read" | "edit" | "execute" | "fetch" | "delegate" | "plan";

const KINDS: readonly ToolKind[] = ["read", "edit", "execute", "fetch", "delegate", "plan"];

/** Returns the effective kind of a tool: "execute" if it is missing or unknown, undefined without a tool. */
export function resolveToolKind(tool: { readonly kind?: unknown }): ToolKind;
export function resolveToolKind(tool: { readonly kind?: unknown } | undefined): ToolKind | undefined;
export function resolveToolKind(tool: { readonly kind?: unknown } | undefined): ToolKind | undefined {
  return tool && (KINDS.find((one) => one === tool.kind) ?? "execute");
}

/** Kinds of tools that have no effect to approve. A tool of any other kind, or without one, may have such an effect. */
export const HARMLESS_KINDS: ReadonlySet<unknown> = new Set<ToolKind>(["read", "fetch", "delegate", "plan"]);

/**
 * How much an "always" covers. `exact`: this exact command or file. `wide`: also the same command with other arguments
 * that cannot widen it, or the file's folder. `all`: everything that the tool does.
 */
export type GrantWidth = "exact" | "wide" | "all";

/** The rules that an "always" of each width would store. Widths that are absent are not offered. */
export type GrantWidths = Readonly<Partial<Record<GrantWidth, readonly string[]>>>;

/**
 * What a command would do, judged by its words alone. `deletes`: files. `discards`: work of which git may have no other
 * copy. `protected`: changes files that run code later. `sends`: changes something on another machine. `may_network`:
 * needs the network if something is missing here. `hidden`: runs something that its words do not show. `unknown`: may
 * change files.
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
  /** The paths or machines that the command names; empty if it names none. */
  readonly on: readonly string[];
  /** true if the effect reaches outside the project. */
  readonly isOutside: boolean;
}

/** One simple command of a command line, with its effects. Without an effect, it only reads inside the project. */
export interface CommandPart {
  readonly text: string;
  /** true if neither a rule nor Burin's knowledge of the program allows it without a question. */
  readonly asks: boolean;
  /** The rule that allows it, as written in settings. */
  readonly rule?: string;
  /** Worst first. */
  readonly effects: readonly Effect[];
}

/** The limits that the system enforces on a command after a yes. */
export interface CommandLimits {
  /** Where the command can write: in the project, nowhere, or wherever the user can. */
  readonly writes: "project" | "nothing" | "everywhere";
  /**
   * Which network the command can use. `hosts`: the hosts in the question; it asks about others. `asked`: it asks about
   * every host. `whole`: the whole network. `offered`: none, unless the answer grants this machine's network.
   */
  readonly network: "none" | "hosts" | "asked" | "whole" | "offered";
  /** true if the command's words say that it needs the network. The answer may withhold it: `"network": false`. */
  readonly needsNetwork: boolean;
  /** Why the command runs without a sandbox. */
  readonly reason?: string;
}

/** The fields of every question. An "always" stores the rules in `grants`; it is offered only if there are some. */
interface Asked {
  readonly title: string;
  readonly grants: readonly string[];
  /** Set when the user can choose how much an "always" covers. An answer without a width means `grants`. */
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
        /** The simple commands with what each would do, worst first. Absent if that is not known. */
        readonly reach?: readonly CommandPart[];
        /** What the sandbox allows the command. Absent if the machine has no limits of its own. */
        readonly limits?: CommandLimits;
        /** The resolved path of the directory in which the command would run. */
        readonly directory?: string;
        /** What the command needs beyond the sandbox. */
        readonly exception?: "network" | "unlimited";
        /** The hosts that a yes allows the command to reach, and thus to upload to. */
        readonly hosts?: readonly string[];
        /** Protected files that the command would write, and why they are protected. A yes allows these writes. */
        readonly writes?: readonly { readonly path: string; readonly why: string }[];
      }
    | {
        readonly kind: "info";
        readonly prompt: string;
        readonly urls: readonly string[];
        /** A folder outside the project. A yes lets tools read there until the session ends. */
        readonly folder?: string;
        /** Protected files that a command has created, and why they are protected. A yes keeps the files. */
        readonly created?: readonly { readonly path: string; readonly why: string }[];
      }
    | {
        readonly kind: "mcp";
        readonly server: string;
        readonly tool: string;
        readonly args: unknown;
        /** How the tool's definition differs from the one last allowed, line by line. */
        readonly changes?: readonly string[];
      }
    /** A tool that a discovery command declared. `command` runs it and gets the arguments as JSON on stdin. */
    | { readonly kind: "discovered"; readonly tool: string; readonly command: string; readonly args: unknown }
    | { readonly kind: "plan"; readonly plan: string }
    /** A form that an MCP server asks the user to fill in. The message comes from the server. */
    | {
        readonly kind: "form";
        readonly server: string;
        readonly message: string;
        readonly schema: JsonSchema;
        /** Questions from the model itself. The schema has two values for each: a choice, and the user's own words. */
        readonly questions?: readonly ChoiceQuestion[];
      }
  );

/** A question from the model with a few choices. The user can always answer in other words. */
export interface ChoiceQuestion {
  readonly question: string;
  readonly choices: readonly { readonly label: string; readonly description?: string }[];
  /** true if the user may choose several. */
  readonly multiple?: boolean;
}

/** An open question. Anyone who knows its id can answer it. Ids stay unique when a session is resumed. */
export interface Question {
  readonly id: string;
  /** The id of the call that waits for the answer; null when an MCP server asks. */
  readonly callId: string | null;
  /** The name of the subagent that made the call; null for the session itself. */
  readonly agent: string | null;
  /** The id of the `task` call that the subagent works for; null for the session itself. */
  readonly parentCallId: string | null;
  readonly confirmation: Confirmation;
  /** Why Burin asks the user. */
  readonly reason: string;
}

/** How long an "always" applies: until the session ends, or permanently, in this project or in all projects. */
export type GrantScope = "session" | "project" | "everywhere";

/**
 * The user's answer to a Confirmation. A question takes only the answers of its kind: `Decision<"edit">` are those to
 * an edit, and `Decision` without a kind are all.
 *
 * @example
 * const confirm = async (confirmation: Confirmation): Promise<Decision | null> => {
 *   if (confirmation.kind !== "edit") return { outcome: "once" };
 *   const answer: Decision<"edit"> = { outcome: "edited", content: confirmation.diff.newContent };
 *   return answer;
 * };
 */
export type Decision<Kind extends Confirmation["kind"] = Confirmation["kind"]> =
  /** Allows the call once. `network` (only for a command that needs it) grants or withholds the network. */
  | { readonly outcome: "once"; readonly network?: "exec" extends Kind ? boolean : never }
  | { readonly outcome: "always"; readonly scope: GrantScope; readonly width?: GrantWidth }
  | { readonly outcome: "cancel"; readonly reason?: string }
  | ("edit" extends Kind ? EditedDecision : "exec" extends Kind ? EditedDecision : never)
  | ("form" extends Kind ? FilledDecision : never)
  | ("plan" extends Kind ? PlanDecision : never);

/** Approves this content instead of the proposed one, with words for the model. A command is judged again. */
interface EditedDecision {
  readonly outcome: "edited";
  readonly content: string;
  readonly reason?: string;
}

/** Answers a form with these values, by the names in its schema. */
interface FilledDecision {
  readonly outcome: "filled";
  readonly values: Readonly<Record<string, unknown>>;
}

/** Approves a plan, and names the approval mode to continue in; "once" returns to the previous mode. */
interface PlanDecision {
  readonly outcome: "approved_plan";
  readonly mode: PlanExecutionMode;
}

/** The modes in which an approved plan can be carried out. */
export type PlanExecutionMode = "default" | "auto-edit";

/** A decision that lets the call run. */
export type Approval = Exclude<Decision, { readonly outcome: "cancel" }>;

/** Live output while a call runs; each update replaces the previous one. */
export type OnUpdate = (display: ToolDisplay) => void;

/** What a tool is told about the call that it works on. */
export interface CallContext {
  readonly callId?: string;
  /**
   * What of a command without the user's approval was allowed because it only reads: all of it ("wholly"), or the git
   * commands in it that no rule covers ("partly").
   */
  readonly reads?: "wholly" | "partly";
  /** Set for a command that no user approved: absolute paths that must not change, because undo cannot restore them. */
  readonly readOnly?: readonly string[];
  /** Asks the user another question while the call runs. Resolves to null when nobody answers. */
  readonly ask?: (confirmation: Confirmation, reason: string) => Promise<Decision | null>;
}

export interface RunContext extends CallContext {
  readonly onUpdate?: OnUpdate;
  /** The question that the user approved, if one did. */
  readonly confirmation?: Confirmation;
}

/** What a tool computed before the user is asked: the question, and the work to do after the answer. */
export interface PreparedCall {
  /** The question, or false when none is needed. */
  readonly confirmation: Confirmation | false;
  /** false if the user cannot replace the proposed content. Default: true. */
  readonly takesEdits?: boolean;
  /** For a command: returns the parameters with another command, which is judged again before it runs. */
  readonly withCommand?: (command: string) => Readonly<Record<string, unknown>>;
  /** Does the work. `approval` is the user's answer; null when a mode or a rule allowed the call. */
  readonly run: (approval: Approval | null, signal: AbortSignal, context?: RunContext) => Promise<ToolResult>;
}

/** One capability that a model can call: built in, discovered, or registered by an embedder. */
export interface Tool<Params extends object = Record<string, unknown>> {
  readonly name: string;
  /** Another name that calls may use as long as no other tool has it, e.g. the tool's name on its server. */
  readonly plainName?: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  /** What kind of effect the tool has. Any other word counts as "execute". */
  readonly kind: ToolKind | (string & {});
  /** true if the declaration may be out of date. The source is asked again before a call of the tool is judged. */
  readonly isOutdated?: boolean;
  /** What must be installed before the tool can be used, and how. Until then the model does not see the tool. */
  readonly missing?: string | undefined;
  /**
   * Returns what the patterns of approval rules are compared with: paths relative to the root, or a host as
   * `domain:example.org`. Without this method, only rules for the whole tool apply.
   */
  ruleSubjects?(params: Params): readonly string[];
  /** Returns null when the parameters are valid, otherwise a message that says what is wrong and how to fix it. */
  validateToolParams(params: Params): string | null;
  /** Returns one sentence about what this call will do. Has no side effects. */
  getDescription(params: Params): string;
  /** Returns the question to ask, or false when none is needed. Has no side effect that the user can see. */
  shouldConfirmExecute(params: Params, signal: AbortSignal): Promise<Confirmation | false>;
  /** Replaces `shouldConfirmExecute`, `approvedByUser` and `execute`. Has no side effect that the user can see. */
  prepare?(params: Params, signal: AbortSignal): Promise<PreparedCall>;
  /** Called before `execute` with the same params object, if a user approved the call (not a mode or a rule). */
  approvedByUser?(params: Params, confirmation: Confirmation, answer: Approval): void;
  execute(
    params: Params,
    signal: AbortSignal,
    onUpdate?: OnUpdate,
    context?: CallContext,
  ): Promise<ToolResult>;
}

/** The fields that describe a tool. */
export interface ToolFields extends Pick<Tool, "name" | "description" | "parameterSchema"> {
  /** The name that people see. Default: `name`. */
  readonly displayName?: string;
  /** Default: "execute", so that each call asks. */
  readonly kind?: Tool["kind"];
}

/**
 * The fields that a subclass may declare. They are abstract here and plain in the class and the interface. Thus the
 * compiler accepts fields with and without `override`, accessors, and values passed to the constructor.
 */
type InheritedFields = AbstractFields & ReadFields;

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
    // Keep an accessor of the subclass.
    for (const [key, value] of Object.entries({ name, displayName, description, parameterSchema, kind }))
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
    return findParamsError(this, params) ?? this.checkParams(params);
  }

  shouldConfirmExecute(_params: Params, _signal: AbortSignal): Promise<Confirmation | false> {
    return Promise.resolve(false);
  }

  /** Checks rules that a schema cannot express. Called only with parameters that match the schema. */
  protected checkParams(_params: Params): string | null {
    return null;
  }
}

type BaseToolClass = abstract new <Params extends object = Record<string, unknown>>(
  fields?: ToolFields,
) => PlainTool<Params> & InheritedFields;

/**
 * The base class of most tools: it validates parameters by their schema and asks no question. A subclass passes its
 * name, description and schema to the constructor, or declares them as fields.
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
export type BaseTool<Params extends object = Record<string, unknown>> = PlainTool<Params> & InheritedFields;

/** Base class for tools that compute something before they ask. Both the question and the work come from `prepare`. */
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

/** Thrown by a tool that discovers only while preparing a call that the parameters are wrong. */
export class InvalidParamsError extends Error {
  override readonly name = "InvalidParamsError";
}

/** Creates a result for a failure that the model can act on. */
export function createFailedResult(error: ToolError): ToolResult {
  return { llmContent: error.message, returnDisplay: error.message, error };
}

/** A source of tools that are not built in, such as a command or an MCP server. */
export interface ToolSource {
  readonly name: string;
  /** The prefix of the names of all its tools. */
  readonly prefix?: string;
  /** Returns all tools of the source, which reports skipped tools itself. If it rejects, it has no tools. */
  discover(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Called once. The source calls `onTools` whenever its tools change by themselves. */
  watch?(onTools: (tools: readonly Tool[]) => void): void;
  /** Whether the input of the discovery has changed since the last discovery. */
  hasInputChanged?(): Promise<boolean>;
  /** How many milliseconds the first request to the model waits for the source. Absent: it does not wait. */
  readonly patience?: number;
  /** Called when the first request is sent without the source's tools. */
  noteLateStart?(): void;
  /** Resolves when tools that came from a cache are up to date. Should not take long. */
  settle?(): Promise<void>;
  /** Replaces outdated tools with the ones that the source declares now. Never rejects. */
  renew?(): Promise<void>;
  /** Ends everything that the source has started, such as processes and connections. */
  close?(): Promise<void>;
}

export function buildDeclaration(tool: Tool): FunctionDeclaration {
  const { name, description, parameterSchema } = tool;
  // The registry accepts no other type.
  const parameters =
    parameterSchema.type === "object" ? parameterSchema : { ...parameterSchema, type: "object" };
  return { name, description, parameters: parameters as ObjectSchema };
}
