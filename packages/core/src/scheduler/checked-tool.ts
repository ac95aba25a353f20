import { isPlainJson, isRecord } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import {
  type Confirmation,
  type PreparedCall,
  resolveToolKind,
  type Tool,
  type ToolDisplay,
  type ToolError,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";

const ASKED: readonly Confirmation["kind"][] = ["edit", "exec", "info", "mcp", "discovered", "plan", "form"];
const MAX_DESCRIPTION = 10_000;
/** The maximum number of characters of a result for the user, more than anyone reads. */
export const MAX_DISPLAY_CHARACTERS = 200_000;
export const TOO_LONG_HINT = "it is too long to show";

/** A tool as the flow needs it. What is not our own is checked. */
export function checkTool(tool: Tool, isOwn: boolean): CheckedTool {
  return isOwn ? copyOwnTool(tool) : checkForeignTool(tool);
}

/** The types and tests of our own tools keep their contract. */
function copyOwnTool(tool: Tool): CheckedTool {
  const { name, displayName, description, parameterSchema } = tool;
  return {
    name,
    displayName,
    description,
    parameterSchema,
    kind: resolveToolKind(tool),
    ruleSubjects: (params) => tool.ruleSubjects?.(params) ?? [],
    validateToolParams: (params) => tool.validateToolParams(params),
    getDescription: (params) => limitDescription(tool.getDescription(params)),
    prepare: async (params, signal) => {
      const prepared = await prepareCall(tool, params, signal);
      return {
        confirmation: prepared.confirmation,
        ...(prepared.withCommand && { withCommand: prepared.withCommand }),
        takesEdits: acceptsEditedCall(tool, prepared),
        run: async (...given) => limitResult(await prepared.run(...given)),
      };
    },
  };
}

/**
 * Wraps a tool of others so that it keeps its contract, because types are not checked at run time. Each field is read
 * once, here, and an invalid answer throws where the caller catches.
 */
function checkForeignTool(tool: Tool): CheckedTool {
  const { name, displayName, description, parameterSchema } = tool;
  return {
    name,
    displayName: typeof displayName === "string" ? displayName : name,
    description,
    parameterSchema,
    kind: resolveToolKind(tool),
    ruleSubjects: (params) =>
      checkTexts(assertSynchronous("ruleSubjects", tool.ruleSubjects?.(params) ?? [])),
    validateToolParams: (params) =>
      checkValidationResult(assertSynchronous("validateToolParams", tool.validateToolParams(params))),
    getDescription: (params) =>
      limitDescription(assertSynchronous("getDescription", tool.getDescription(params))),
    prepare: async (params, signal) => {
      const prepared = await prepareCall(tool, params, signal);
      if (typeof prepared?.run !== "function") throw new Error("prepare returned no work to run.");
      return {
        confirmation: checkQuestion(prepared.confirmation),
        takesEdits: acceptsEditedCall(tool, prepared),
        run: async (approval, running, { onUpdate, ...context } = {}) => {
          const passUpdate = (display: ToolDisplay) => {
            if (typeof display === "string" || isPlainJson(display)) onUpdate?.(display);
          };
          return checkResult(await prepared.run(approval, running, { ...context, onUpdate: passUpdate }));
        },
      };
    },
  };
}

/** The parts of a tool that the flow uses, checked. */
export interface CheckedTool
  extends Pick<Tool, "name" | "displayName" | "description" | "parameterSchema">,
    Required<Pick<Tool, "ruleSubjects" | "validateToolParams" | "getDescription">> {
  readonly kind: ToolKind;
  prepare(params: Params, signal: AbortSignal): Promise<SafeCall>;
}

export interface SafeCall extends PreparedCall {
  /** Whether the user may answer the question with edited content. */
  readonly takesEdits: boolean;
}

/** What the user made of a call instead of answering yes. It is a new call: nothing is decided about it yet. */
export interface EditedCall {
  readonly args: Readonly<Record<string, unknown>>;
}

type Params = Record<string, unknown>;

async function prepareCall(tool: Tool, params: Params, signal: AbortSignal): Promise<PreparedCall> {
  return tool.prepare ? tool.prepare(params, signal) : prepareFromSteps(tool, params, signal);
}

function acceptsEditedCall(tool: Tool, prepared: PreparedCall): boolean {
  return (tool.prepare ?? tool.approvedByUser) !== undefined && prepared.takesEdits !== false;
}

/** Builds a PreparedCall for a tool without `prepare`. */
async function prepareFromSteps(tool: Tool, params: Params, signal: AbortSignal): Promise<PreparedCall> {
  return {
    confirmation: await tool.shouldConfirmExecute(params, signal),
    run: async (approval, running, { onUpdate, confirmation, ...context } = {}) => {
      if (approval && confirmation) {
        assertSynchronous("approvedByUser", tool.approvedByUser?.(params, confirmation, approval));
      }
      return tool.execute(params, running, onUpdate, context);
    },
  };
}

/** Rejects a promise where a plain value is required: it would count as a yes, and its rejection would be lost. */
function assertSynchronous(method: string, value: unknown): unknown {
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw new Error(`${method} must return a value, not a promise.`);
}

function checkTexts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new Error("ruleSubjects must return a list of strings.");
}

function checkValidationResult(value: unknown): string | null {
  if (value === null || value === undefined || typeof value === "string") return value || null;
  throw new Error("validateToolParams must return null or a string.");
}

function limitDescription(value: unknown): string {
  if (typeof value === "string") return keepHeadAndTail(value, MAX_DESCRIPTION, "it is too long");
  throw new Error("getDescription must return a string.");
}

/** Checks a question. An invalid one cannot be answered, so the call is not run. */
function checkQuestion(value: unknown): Confirmation | false {
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
function limitResult(given: ToolResult): ToolResult {
  const { returnDisplay: display } = given;
  if (typeof display !== "string" || display.length <= MAX_DISPLAY_CHARACTERS) return given;
  return { ...given, returnDisplay: keepHeadAndTail(display, MAX_DISPLAY_CHARACTERS, TOO_LONG_HINT) };
}

function checkResult(given: Partial<ToolResult> | null | undefined): ToolResult {
  const { llmContent, returnDisplay, data, error } = given ?? {};
  const isText = typeof returnDisplay === "string";
  const isShown = isText || (isRecord(returnDisplay) && isPlainJson(returnDisplay));
  if (llmContent === undefined || !isShown || ![llmContent].flat().every(isPart)) {
    throw new Error("it returned no result with llmContent and returnDisplay.");
  }
  const shown = isText
    ? keepHeadAndTail(returnDisplay, MAX_DISPLAY_CHARACTERS, TOO_LONG_HINT)
    : returnDisplay;
  const answer = { llmContent, returnDisplay: shown, ...toPlainData(data) };
  return error === undefined || error === null ? answer : { ...answer, error: toPlainError(error) };
}

/** Drops data that is not JSON or is too large for a log. The model and the user have the result in words. */
function toPlainData(data: unknown): Pick<ToolResult, "data"> {
  const isKept = isRecord(data) && isPlainJson(data) && JSON.stringify(data).length <= MAX_DISPLAY_CHARACTERS;
  return isKept ? { data } : {};
}

function isPart(part: unknown): boolean {
  if (typeof part === "string") return true;
  return isRecord(part) && (part.text === undefined || typeof part.text === "string") && isPlainJson(part);
}

function toPlainError(error: unknown): ToolError {
  const { type, message } = isRecord(error) ? error : { type: undefined, message: describeError(error) };
  return {
    type: typeof type === "string" ? type : "tool_failed",
    message: keepHeadAndTail(describeError(message), MAX_DISPLAY_CHARACTERS, TOO_LONG_HINT),
  };
}

/** Wraps a listener so that its failure does not affect the call. It becomes a process warning instead. */
export function wrapListener<Heard>(onCall: (heard: Heard) => void): (heard: Heard) => void {
  const warnAboutListener = (error: unknown) => process.emitWarning(`onCall failed: ${describeError(error)}`);
  return (call) => {
    try {
      const heard: unknown = onCall(call);
      if (heard instanceof Promise) heard.catch(warnAboutListener);
    } catch (error) {
      warnAboutListener(error);
    }
  };
}
