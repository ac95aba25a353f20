import { isPlainJson, isRecord } from "@burin/contract/messages/untrusted-json";
import { messageOf } from "@burin/contract/text/error-message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import {
  type Confirmation,
  kindOf,
  type PreparedCall,
  type Tool,
  type ToolDisplay,
  type ToolError,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";

const ASKED: readonly Confirmation["kind"][] = ["edit", "exec", "info", "mcp", "discovered", "plan", "form"];
const MOST_DESCRIPTION = 10_000;
/** More than a user reads of one result. */
export const MOST_DISPLAY = 200_000;
export const TOO_LONG = "it is too long to show";

/** A tool as the flow needs it. What is not our own is checked. */
export function flowTool(tool: Tool, isOwn: boolean): SoundTool {
  return isOwn ? ownTool(tool) : soundTool(tool);
}

/** The types and tests of our own tools keep their contract. */
function ownTool(tool: Tool): SoundTool {
  const { name, displayName, description, parameterSchema } = tool;
  return {
    name,
    displayName,
    description,
    parameterSchema,
    kind: kindOf(tool),
    ruleSubjects: (params) => tool.ruleSubjects?.(params) ?? [],
    validateToolParams: (params) => tool.validateToolParams(params),
    getDescription: (params) => sentence(tool.getDescription(params)),
    prepare: async (params, signal) => {
      const prepared = await preparedCall(tool, params, signal);
      return {
        confirmation: prepared.confirmation,
        takesEdits: takesEdits(tool, prepared),
        run: async (...given) => bounded(await prepared.run(...given)),
      };
    },
  };
}

/**
 * Wraps a tool of others so that it keeps its contract, because types are not checked at run time. Each field is read
 * once, here, and an invalid answer throws where the caller catches.
 */
function soundTool(tool: Tool): SoundTool {
  const { name, displayName, description, parameterSchema } = tool;
  return {
    name,
    displayName: typeof displayName === "string" ? displayName : name,
    description,
    parameterSchema,
    kind: kindOf(tool),
    ruleSubjects: (params) => texts(atOnce("ruleSubjects", tool.ruleSubjects?.(params) ?? [])),
    validateToolParams: (params) => fault(atOnce("validateToolParams", tool.validateToolParams(params))),
    getDescription: (params) => sentence(atOnce("getDescription", tool.getDescription(params))),
    prepare: async (params, signal) => {
      const prepared = await preparedCall(tool, params, signal);
      if (typeof prepared?.run !== "function") throw new Error("prepare returned no work to run.");
      return {
        confirmation: question(prepared.confirmation),
        takesEdits: takesEdits(tool, prepared),
        run: async (approval, running, { onUpdate, ...context } = {}) => {
          const shown = (display: ToolDisplay) => {
            if (typeof display === "string" || isPlainJson(display)) onUpdate?.(display);
          };
          return result(await prepared.run(approval, running, { ...context, onUpdate: shown }));
        },
      };
    },
  };
}

/** What the flow needs of a tool. */
export interface SoundTool
  extends Pick<Tool, "name" | "displayName" | "description" | "parameterSchema">,
    Required<Pick<Tool, "ruleSubjects" | "validateToolParams" | "getDescription">> {
  readonly kind: ToolKind;
  prepare(params: Params, signal: AbortSignal): Promise<SoundCall>;
}

export interface SoundCall extends PreparedCall {
  /** The user may answer its question with edited content. */
  readonly takesEdits: boolean;
}

type Params = Record<string, unknown>;

async function preparedCall(tool: Tool, params: Params, signal: AbortSignal): Promise<PreparedCall> {
  return tool.prepare ? tool.prepare(params, signal) : inSteps(tool, params, signal);
}

function takesEdits(tool: Tool, prepared: PreparedCall): boolean {
  return (tool.prepare ?? tool.approvedByUser) !== undefined && prepared.takesEdits !== false;
}

/** The same for a tool without `prepare`. */
async function inSteps(tool: Tool, params: Params, signal: AbortSignal): Promise<PreparedCall> {
  return {
    confirmation: await tool.shouldConfirmExecute(params, signal),
    run: async (approval, running, { onUpdate, confirmation, ...context } = {}) => {
      if (approval && confirmation) {
        atOnce("approvedByUser", tool.approvedByUser?.(params, confirmation, approval));
      }
      return tool.execute(params, running, onUpdate, context);
    },
  };
}

/** A promise instead of a value would count as a yes, and its failure would be lost. */
function atOnce(method: string, value: unknown): unknown {
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw new Error(`${method} must return a value, not a promise.`);
}

function texts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new Error("ruleSubjects must return a list of strings.");
}

function fault(value: unknown): string | null {
  if (value === null || value === undefined || typeof value === "string") return value || null;
  throw new Error("validateToolParams must return null or a string.");
}

function sentence(value: unknown): string {
  if (typeof value === "string") return keepHeadAndTail(value, MOST_DESCRIPTION, "it is too long");
  throw new Error("getDescription must return a string.");
}

/** An invalid question cannot be answered, so the call is not run. */
function question(value: unknown): Confirmation | false {
  if (!value) return false;
  if (isRecord(value) && ASKED.some((kind) => kind === value.kind) && typeof value.title === "string") {
    const { grants } = value;
    const isWhole =
      Array.isArray(grants) && grants.every((one) => typeof one === "string") && isPlainJson(value);
    if (isWhole) return value as unknown as Confirmation;
  }
  throw new Error("shouldConfirmExecute must return false or a question with kind, title and grants.");
}

/** A text that is too long for any face is cut. */
function bounded(given: ToolResult): ToolResult {
  const { returnDisplay: display } = given;
  if (typeof display !== "string" || display.length <= MOST_DISPLAY) return given;
  return { ...given, returnDisplay: keepHeadAndTail(display, MOST_DISPLAY, TOO_LONG) };
}

function result(given: Partial<ToolResult> | null | undefined): ToolResult {
  const { llmContent, returnDisplay, data, error } = given ?? {};
  const isText = typeof returnDisplay === "string";
  const isShown = isText || (isRecord(returnDisplay) && isPlainJson(returnDisplay));
  if (llmContent === undefined || !isShown || ![llmContent].flat().every(isPart)) {
    throw new Error("it returned no result with llmContent and returnDisplay.");
  }
  const shown = isText ? keepHeadAndTail(returnDisplay, MOST_DISPLAY, TOO_LONG) : returnDisplay;
  const answer = { llmContent, returnDisplay: shown, ...plainData(data) };
  return error === undefined || error === null ? answer : { ...answer, error: plainError(error) };
}

/** What is not JSON, or too much for a log, is left out: the other two readers have it in words. */
function plainData(data: unknown): Pick<ToolResult, "data"> {
  const isKept = isRecord(data) && isPlainJson(data) && JSON.stringify(data).length <= MOST_DISPLAY;
  return isKept ? { data } : {};
}

function isPart(part: unknown): boolean {
  if (typeof part === "string") return true;
  return isRecord(part) && (part.text === undefined || typeof part.text === "string") && isPlainJson(part);
}

function plainError(error: unknown): ToolError {
  const { type, message } = isRecord(error) ? error : { type: undefined, message: messageOf(error) };
  return {
    type: typeof type === "string" ? type : "tool_failed",
    message: keepHeadAndTail(messageOf(message), MOST_DISPLAY, TOO_LONG),
  };
}

/** Wraps a listener so that its failure does not affect the call, but becomes a warning of the process. */
export function soundListener<Heard>(onCall: (heard: Heard) => void): (heard: Heard) => void {
  const warn = (error: unknown) => process.emitWarning(`onCall failed: ${messageOf(error)}`);
  return (call) => {
    try {
      const heard: unknown = onCall(call);
      if (heard instanceof Promise) heard.catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}
