import { allowListeners } from "@burin/commands/processes/allow-listeners";
import { runWithEitherSignal } from "@burin/contract/async/wait";
import { coerceArguments } from "@burin/contract/messages/check-schema";
import { type FunctionCall, joinText } from "@burin/contract/messages/message";
import { isTooDeep } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import type { AnsweredCall, ToolCall, ToolCallState } from "@burin/contract/tool-call";
import type {
  Approval,
  Confirmation,
  Decision,
  GrantScope,
  OnUpdate,
  RunContext,
  ToolError,
  ToolKind,
} from "@burin/contract/tools";
import { withFallback } from "@burin/contract/with-fallback";
import type { Verdict } from "@burin/shell-judge";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import type { BeforeCall, HookedCall, Hooks } from "../hooks/hooks.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { createAnswerLimiter, limitContent } from "./bounded-content.ts";
import type { CallJournal } from "./call-journal.ts";
import {
  addEdits,
  addUserWords,
  addVerdict,
  appendNotes,
  applyHook,
  buildApprovalRequest,
  buildQuestion,
  createCancelled,
  createDeclined,
  createDenied,
  createFailed,
  createNeedsApproval,
  createResult,
  type FinalState,
  NOT_EDITABLE,
  NOT_HOOKED,
  runWithTimeout,
  toToolError,
} from "./call-outcome.ts";
import { type CheckedTool, checkTool, type EditedCall, type SafeCall } from "./checked-tool.ts";
import type { CallQuestion, SubagentRef } from "./decision.ts";
import type { Questions } from "./questions.ts";

export interface SchedulerOptions {
  readonly registry: ToolRegistry;
  readonly judge: (request: ApprovalRequest) => Verdict | Promise<Verdict>;
  /** Returns the queue for this call's question. undefined if nobody can answer; then the call is refused. */
  readonly questions?: ((callId: string) => Promise<QuestionQueue | undefined> | undefined) | undefined;
  /** The subagent that makes these calls. */
  readonly subagent?: SubagentRef;
  /** Called when the user answers "always". Resolves to a message for the user, or null. */
  readonly onGrant: (grants: readonly string[], scope: GrantScope) => Promise<string | null>;
  /** Waits for tools with these names if they are still loading or outdated. Never rejects. */
  readonly awaitTools?: (names: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Resolves when all reported states are on disk. Awaited before an effect (which a failure prevents) and after. */
  readonly recorded?: (() => Promise<void>) | undefined;
  /** Whether `runRecorded` is also awaited around calls that only read, so that no reply is requested again later. */
  readonly recordsReads?: boolean;
  /** Hooks that see each call and may decide about it. */
  readonly hooks?: CallHooks | undefined;
  /** Runs the work of a call and stores what it changes. */
  readonly journal?: CallJournal | undefined;
  /** Aborts when the toolbox or session is closed. From then on, every call is refused. */
  readonly closing: AbortSignal;
  /** The time limit of calls in milliseconds, by the tool's name. */
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
}

type QuestionQueue = Pick<Questions, "ask" | "inTurn">;

type CallHooks = Pick<Hooks, "runBefore" | "runAfter">;

/** Called with each new state of each call. */
export type OnCall = (call: ToolCall) => void;

export interface Round {
  readonly signal: AbortSignal;
  readonly onCall: OnCall;
  /** The maximum number of characters of all answers together. */
  readonly room?: number;
}

interface Work {
  /** The call. A hook may change its arguments before it runs. */
  call: FunctionCall;
  readonly tool: CheckedTool | undefined;
  /** Set when even the tool's name, kind and schema cannot be read. */
  readonly fault: ToolError | null;
  readonly report: (state: ToolCallState, description?: string) => ToolCall;
  /** Aborts with the caller's signal, or when the toolbox or session is closed. */
  readonly signal: AbortSignal;
  /** The caller's own signal. */
  readonly given: AbortSignal;
  hasBegun: boolean;
  /** The commands that the user wrote in place of the proposed one, the last one last. */
  readonly edits: string[];
}

/** See `Scheduler.run`. */
export type RunCalls = Scheduler["run"];

/** Takes calls from request to response. Every call gets exactly one answer, whatever happens. */
export class Scheduler {
  readonly #needs: SchedulerOptions;

  constructor(needs: SchedulerOptions) {
    this.#needs = needs;
  }

  /**
   * Runs the calls of one reply. Neighbouring calls that only read, fetch or delegate run in parallel, all others
   * alone. The answers keep the order of the calls. Every call is announced before the first one starts.
   */
  run(calls: readonly FunctionCall[], round: Round): Promise<AnsweredCall[]> {
    const { closing } = this.#needs;
    allowListeners(round.signal);
    allowListeners(closing);
    return runWithEitherSignal([round.signal, closing], (either) => this.#run(calls, round, either));
  }

  async #run(calls: readonly FunctionCall[], round: Round, signal: AbortSignal): Promise<AnsweredCall[]> {
    const { onCall, room = Number.POSITIVE_INFINITY } = round;
    allowListeners(signal);
    const awaited = calls.map((call) => call.name).filter((name) => !this.#hasCurrentTool(name));
    if (awaited.length > 0) await this.#needs.awaitTools?.(awaited, signal);
    const work = calls.map((call) => this.#prepare(call, { onCall, signal, given: round.signal }));
    for (const item of work) item.report({ status: "validating" });
    const bound = createAnswerLimiter(room, calls.length);
    const answers: AnsweredCall[] = [];
    for (const group of groupWork(work)) {
      answers.push(...(await Promise.all(group.map((item) => this.#answerCall(item, bound)))));
    }
    return answers;
  }

  #hasCurrentTool(name: string): boolean {
    const tool = this.#needs.registry.getTool(name);
    return tool !== undefined && withFallback(true, () => tool.isOutdated !== true);
  }

  /** Returns the question that this call would ask now, or false if it would run, or be refused, without one. */
  async question(call: FunctionCall, signal: AbortSignal): Promise<Confirmation | false> {
    const { tool, call: sound, fault } = this.#findTool(call);
    const isRefused = fault !== null || this.#needs.closing.aborted;
    if (tool === undefined || isRefused || tool.validateToolParams(sound.args) !== null) return false;
    const { confirmation } = await tool.prepare(sound.args, signal);
    const judged = await this.#needs.judge(buildApprovalRequest(tool, sound, confirmation));
    return judged.verdict === "ask" && addVerdict(confirmation || buildQuestion(tool, sound), judged);
  }

  #awaitRecording(tool: CheckedTool | undefined): Promise<void> | undefined {
    const { recorded, recordsReads } = this.#needs;
    const hasEffect = tool !== undefined && tool.kind !== "read" && tool.kind !== "plan";
    return recordsReads || hasEffect ? recorded?.() : undefined;
  }

  #prepare(call: FunctionCall, { onCall, ...signals }: Pick<Work, "signal" | "given"> & Round): Work {
    let description = "";
    const work: Work = {
      ...this.#findTool(call),
      ...signals,
      hasBegun: false,
      edits: [],
      report: (state, newDescription) => {
        description = newDescription ?? description;
        work.hasBegun ||= state.status === "executing";
        const { id: callId, name, args } = work.call;
        const snapshot: ToolCall = { callId, name, args, description, ...state };
        onCall(snapshot);
        return snapshot;
      },
    };
    return work;
  }

  #findTool(call: FunctionCall): Pick<Work, "call" | "tool" | "fault"> {
    try {
      const found = this.#needs.registry.getTool(call.name);
      const tool = found && checkTool(found, this.#needs.registry.isOwn(found.name));
      if (isTooDeep(call.args, MAX_LEVELS)) return { call: { ...call, args: {} }, tool, fault: TOO_DEEP };
      const args = tool ? coerceArguments(tool.parameterSchema, call.args) : call.args;
      return { call: { ...call, args }, tool, fault: null };
    } catch (error) {
      return { call, tool: undefined, fault: toToolError(error) };
    }
  }

  async #answerCall(work: Work, bound: ReturnType<typeof createAnswerLimiter>): Promise<AnsweredCall> {
    const state = await this.#runToFinalState(work);
    const answer = work.report({ ...state, llmContent: bound(state.llmContent) }) as AnsweredCall;
    // The effect has happened. If it cannot be recorded, the next effect will be refused.
    await this.#awaitRecording(work.tool)?.catch(() => {});
    return answer;
  }

  /** Runs the call to its final state. This is the only place that catches what a tool throws. */
  async #runToFinalState(work: Work): Promise<FinalState> {
    try {
      if (work.signal.aborted) return createStopped(work);
      if (work.fault !== null) return createFailed(work.fault);
      const { tool } = work;
      if (tool === undefined) {
        const { describeUnknownTool } = await import("./unknown-tool.ts");
        return describeUnknownTool(work.call.name, this.#needs.registry);
      }
      const { hooks } = this.#needs;
      for (;;) {
        const invalid = validateArguments(work, tool);
        if (invalid !== null) return addEdits(invalid, work.edits);
        const run = hooks
          ? this.#runWithHooks(work, tool, hooks)
          : this.#runValidCall(work, tool, NOT_HOOKED);
        const state = await run;
        if (!("args" in state)) return addEdits(state, work.edits);
        work.call = { ...work.call, args: state.args };
      }
    } catch (error) {
      if (work.signal.aborted) return createStopped(work);
      return createFailed(toToolError(error));
    }
  }

  async #runWithHooks(work: Work, tool: CheckedTool, hooks: CallHooks): Promise<FinalState | EditedCall> {
    const changeArguments = (args: HookedCall["args"]): HookedCall | null => {
      work.call = { ...work.call, args };
      return validateArguments(work, tool) === null ? buildHookTarget(work, tool) : null;
    };
    const hooked = await hooks.runBefore(buildHookTarget(work, tool), changeArguments, work.signal);
    work.signal.throwIfAborted();
    if (hooked.decision === "deny") return createDenied(tool, hooked.reason);
    const changedFault = validateArguments(work, tool);
    if (changedFault !== null) return appendNotes(changedFault, hooked.contexts);
    const state = await this.#runValidCall(work, tool, hooked);
    if ("args" in state) return state;
    const notes = await hooks.runAfter(
      buildHookTarget(work, tool),
      { status: state.status, text: joinText(limitContent(state.llmContent)) },
      work.signal,
    );
    return appendNotes(state, [...hooked.contexts, ...notes]);
  }

  /** Takes a call with valid arguments through approval and execution. */
  async #runValidCall(work: Work, tool: CheckedTool, hooked: BeforeCall): Promise<FinalState | EditedCall> {
    const { call, signal, report } = work;
    report({ status: "validating" }, tool.getDescription(call.args));
    const prepared = await tool.prepare(call.args, signal);
    const approved = await this.#askApproval({ work, tool, prepared }, hooked);
    if ("status" in approved || "args" in approved) return approved;
    const { approval, notice, ...how } = approved;
    report(notice === undefined ? { status: "executing" } : { status: "executing", notice });
    await this.#awaitRecording(tool);
    signal.throwIfAborted();
    let isOver = false;
    const onUpdate: OnUpdate = (display) => {
      if (!isOver) report({ status: "executing", display });
    };
    const ask = async (confirmation: Confirmation, reason: string) => {
      const asked = { callId: call.id, confirmation, reason };
      const asking = { ...this.#needs, signal };
      report({ status: "awaiting_approval", confirmation, reason });
      const { askQuestion } = await import("./decision.ts");
      return askQuestion(asked, asking).finally(() => report({ status: "executing" }));
    };
    const limit = this.#needs.timeouts?.[tool.name];
    const runPrepared = (running: AbortSignal) =>
      prepared.run(approval, running, { ...how, callId: call.id, onUpdate, ask }).then(createResult);
    const run = () => runWithTimeout({ call, signal, limit }, runPrepared);
    const { journal } = this.#needs;
    const { id, args } = call;
    const describeCall = () => ({ id, args, tool, reads: how.reads, description: tool.getDescription(args) });
    try {
      return addUserWords(await (journal ? journal(describeCall(), run) : run()), approval);
    } finally {
      isOver = true;
    }
  }

  async #askApproval(
    prepared: PreparedWork,
    hooked: BeforeCall,
  ): Promise<FinalState | ApprovedRun | EditedCall> {
    const { work, tool } = prepared;
    const { confirmation } = prepared.prepared;
    const request = buildApprovalRequest(tool, work.call, confirmation);
    const judgeWithHook = async () => applyHook(await this.#needs.judge(request), hooked);
    const judged = await judgeWithHook();
    const { verdict, reason } = judged;
    if (verdict === "allow") return createAllowed(judged);
    if (verdict === "deny") return createDenied(tool, reason);
    const question = addVerdict(confirmation || buildQuestion(tool, work.call), judged);
    work.report({ status: "awaiting_approval", confirmation: question, reason });
    const questions = await this.#needs.questions?.(work.call.id);
    const isFolder = question.kind === "info" && question.folder !== undefined;
    // Where nobody can open a folder, the call fails as it does everywhere outside.
    if (questions === undefined)
      return isFolder ? createAllowed(judged) : createNeedsApproval(tool, question, reason);
    return questions.inTurn(async (isChanged) => {
      const again = isChanged ? await judgeWithHook() : judged;
      if (again.verdict === "allow") return createAllowed(again);
      // An earlier answer may have opened the folder.
      if (isFolder && !(await tool.prepare(work.call.args, work.signal)).confirmation)
        return createAllowed(judged);
      const asked = { callId: work.call.id, confirmation: question, reason, edits: work.edits.length };
      return this.#askUser(prepared, asked, questions);
    }, work.signal);
  }

  async #askUser(
    prepared: PreparedWork,
    asked: CallQuestion,
    questions: QuestionQueue,
  ): Promise<FinalState | ApprovedRun | EditedCall> {
    const { work, tool, prepared: call } = prepared;
    const { createQuestion } = await import("./decision.ts");
    let decision: Decision | null;
    try {
      decision = await questions.ask(createQuestion(asked, this.#needs.subagent), work.signal);
    } catch (error) {
      work.signal.throwIfAborted();
      // Whatever is not a clear yes is a no.
      return createDenied(tool, describeError(error), "undecided");
    }
    const { confirmation, reason } = asked;
    if (decision === null) return createNeedsApproval(tool, confirmation, reason);
    if (work.signal.aborted) return createStopped(work);
    if (decision.outcome === "cancel") return createDeclined(work.call, confirmation, decision.reason);
    if (decision.outcome === "edited" && confirmation.kind === "exec") {
      if (call.withCommand === undefined) return createFailed(NOT_EDITABLE);
      work.edits.push(decision.content);
      return { args: call.withCommand(decision.content) };
    }
    if (decision.outcome === "edited" && !call.takesEdits) return createFailed(NOT_EDITABLE);
    const approved = { approval: decision, confirmation };
    if (decision.outcome !== "always") return approved;
    const { scope, width } = decision;
    const chosen = width === undefined ? undefined : confirmation.widths?.[width];
    const notice = await this.#needs.onGrant(chosen ?? confirmation.grants, scope);
    return notice === null ? approved : { ...approved, notice };
  }
}

/** A call that is ready for approval. */
interface PreparedWork {
  readonly work: Work;
  readonly tool: CheckedTool;
  readonly prepared: SafeCall;
}

interface ApprovedRun extends Pick<RunContext, "reads" | "readOnly" | "confirmation"> {
  /** The user's approval; null when no question was needed. */
  readonly approval: Approval | null;
  readonly notice?: string;
}

function createAllowed({ reads, readOnly }: Verdict): ApprovedRun {
  return { approval: null, ...(reads && { reads }), ...(readOnly && { readOnly }) };
}

/** The deepest nesting of arguments. The steps that follow would overflow the stack with more. */
const MAX_LEVELS = 500;
const TOO_DEEP: ToolError = {
  type: "invalid_arguments",
  message: `The arguments are nested deeper than ${MAX_LEVELS} levels.`,
};

/** Returns the state of a call that was interrupted, or that came after the close. */
function createStopped({ call, given, hasBegun }: Work): FinalState {
  if (given.aborted || hasBegun) return createCancelled(call, "interrupted before it was done");
  return createFailed({ type: "closed", message: `${call.name} was not run: ${CLOSED}.` });
}

const CLOSED = "the toolbox or session that it belongs to is closed";

const SIDE_BY_SIDE: ReadonlySet<ToolKind | undefined> = new Set<ToolKind>(["read", "fetch", "delegate"]);

function groupWork(work: readonly Work[]): Work[][] {
  const groups: Work[][] = [];
  for (const item of work) {
    const last = groups.at(-1);
    const isBeside = [item, last?.[0]].every((one) => SIDE_BY_SIDE.has(one?.tool?.kind));
    if (last && isBeside) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

/** Returns null if the arguments are valid. */
function validateArguments({ call: { args, argsError } }: Work, tool: CheckedTool): FinalState | null {
  const fault = argsError ?? tool.validateToolParams(args);
  return fault ? createFailed({ type: "invalid_arguments", message: fault }) : null;
}

function buildHookTarget({ call: { args } }: Work, tool: CheckedTool): HookedCall {
  return { tool: tool.name, kind: tool.kind, args, subjects: tool.ruleSubjects(args) };
}
