import { allowListeners } from "@burin/commands/processes/allow-listeners";
import { withEither } from "@burin/contract/async/wait";
import { coerceArguments } from "@burin/contract/messages/check-schema";
import { type FunctionCall, type PartListUnion, textOf } from "@burin/contract/messages/message";
import { nestsDeeper } from "@burin/contract/messages/untrusted-json";
import { orElse } from "@burin/contract/or-else";
import { messageOf } from "@burin/contract/text/error-message";
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
import type { Verdict } from "@burin/shell-judge";
import type { ApprovalRequest } from "../approval/judge-call.ts";
import type { BeforeCall, HookedCall, Hooks } from "../hooks/hooks.ts";
import { hookWords } from "../text/hook-words.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import { answerBounder, boundedContent } from "./bounded-content.ts";
import type { CallJournal } from "./call-journal.ts";
import {
  answered,
  asked,
  cancelled,
  declined,
  denied,
  errorOf,
  type FinalState,
  failed,
  needsApproval,
  plainQuestion,
  runWithin,
  withWords,
} from "./call-outcome.ts";
import type { AskedOfCall, Asker } from "./decision.ts";
import type { Questions } from "./questions.ts";
import { flowTool, type SoundCall, type SoundTool } from "./sound-tool.ts";

export interface SchedulerNeeds {
  readonly registry: ToolRegistry;
  readonly judge: (request: ApprovalRequest) => Verdict | Promise<Verdict>;
  /** The queue for this call's question; undefined when nobody can answer: then the call is refused. */
  readonly questions?: ((callId: string) => Promise<QuestionQueue | undefined> | undefined) | undefined;
  /** The subagent that makes these calls. */
  readonly subagent?: Asker;
  /** Called when the user answers "always"; resolves to what the user should know about it, or null. */
  readonly onGrant: (grants: readonly string[], scope: GrantScope) => Promise<string | null>;
  /** Waits for tools with these names that may still be loading, or are outdated. Never rejects. */
  readonly awaitTools?: (names: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Resolves when all reported states are on the disk. Awaited before an effect (a failure stops it) and after. */
  readonly recorded?: (() => Promise<void>) | undefined;
  /** Also awaited around calls that only read: the replies that made them are not requested again. */
  readonly recordsReads?: boolean;
  /** Listeners that get each call and may decide about it. */
  readonly hooks?: CallHooks | undefined;
  /** Does what a call does, and notes what that changes. */
  readonly journal?: CallJournal | undefined;
  /** Aborts when the toolbox or session is closed: from then on every call is refused. */
  readonly closing: AbortSignal;
  /** Milliseconds that a call of a tool may take, by its name. */
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
}

type QuestionQueue = Pick<Questions, "ask" | "inTurn">;

type CallHooks = Pick<Hooks, "before" | "after">;

/** Gets each new state of each call. */
export type OnCall = (call: ToolCall) => void;

export interface Round {
  readonly signal: AbortSignal;
  readonly onCall: OnCall;
  /** Characters for all answers together. */
  readonly room?: number;
}

interface Work {
  /** A hook may change its arguments before it runs. */
  call: FunctionCall;
  readonly tool: SoundTool | undefined;
  /** Set when even the tool's name, kind and schema cannot be read. */
  readonly fault: ToolError | null;
  readonly report: (state: ToolCallState, description?: string) => ToolCall;
  /** Aborts with the caller's signal, and when everything is closed. */
  readonly signal: AbortSignal;
  /** The caller's own. */
  readonly given: AbortSignal;
  hasBegun: boolean;
}

/** See `Scheduler.run`. */
export type RunCalls = Scheduler["run"];

/** Takes calls from request to response. Every call gets exactly one answer, whatever happens. */
export class Scheduler {
  readonly #needs: SchedulerNeeds;

  constructor(needs: SchedulerNeeds) {
    this.#needs = needs;
  }

  /**
   * Runs the calls of one reply. Neighbours that only read, fetch or delegate run in parallel, all others alone;
   * the answers keep the order of the calls. Every call is announced before the first one starts.
   */
  run(calls: readonly FunctionCall[], round: Round): Promise<AnsweredCall[]> {
    const { closing } = this.#needs;
    allowListeners(round.signal);
    allowListeners(closing);
    return withEither([round.signal, closing], (either) => this.#run(calls, round, either));
  }

  async #run(calls: readonly FunctionCall[], round: Round, signal: AbortSignal): Promise<AnsweredCall[]> {
    const { onCall, room = Number.POSITIVE_INFINITY } = round;
    allowListeners(signal);
    const awaited = calls.map((call) => call.name).filter((name) => !this.#hasCurrent(name));
    if (awaited.length > 0) await this.#needs.awaitTools?.(awaited, signal);
    const work = calls.map((call) => this.#prepare(call, { onCall, signal, given: round.signal }));
    for (const item of work) item.report({ status: "validating" });
    const bound = answerBounder(room, calls.length);
    const answers: AnsweredCall[] = [];
    for (const group of groupsOf(work)) {
      answers.push(...(await Promise.all(group.map((item) => this.#answer(item, bound)))));
    }
    return answers;
  }

  #hasCurrent(name: string): boolean {
    const tool = this.#needs.registry.getTool(name);
    return tool !== undefined && orElse(true, () => tool.isOutdated !== true);
  }

  /** The question that this call would ask now; false when it would run, or be refused, without one. */
  async question(call: FunctionCall, signal: AbortSignal): Promise<Confirmation | false> {
    const { tool, call: sound, fault } = this.#found(call);
    const isRefused = fault !== null || this.#needs.closing.aborted;
    if (tool === undefined || isRefused || tool.validateToolParams(sound.args) !== null) return false;
    const { confirmation } = await tool.prepare(sound.args, signal);
    const judged = await this.#needs.judge(requestOf(tool, sound, confirmation));
    return judged.verdict === "ask" && asked(confirmation || plainQuestion(tool, sound), judged);
  }

  #recorded(tool: SoundTool | undefined): Promise<void> | undefined {
    const { recorded, recordsReads } = this.#needs;
    const hasEffect = tool !== undefined && tool.kind !== "read" && tool.kind !== "plan";
    return recordsReads || hasEffect ? recorded?.() : undefined;
  }

  #prepare(call: FunctionCall, { onCall, ...signals }: Pick<Work, "signal" | "given"> & Round): Work {
    let description = "";
    const work: Work = {
      ...this.#found(call),
      ...signals,
      hasBegun: false,
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

  #found(call: FunctionCall): Pick<Work, "call" | "tool" | "fault"> {
    try {
      const found = this.#needs.registry.getTool(call.name);
      const tool = found && flowTool(found, this.#needs.registry.isOwn(found.name));
      if (nestsDeeper(call.args, MOST_LEVELS)) return { call: { ...call, args: {} }, tool, fault: TOO_DEEP };
      const args = tool ? coerceArguments(tool.parameterSchema, call.args) : call.args;
      return { call: { ...call, args }, tool, fault: null };
    } catch (error) {
      return { call, tool: undefined, fault: errorOf(error) };
    }
  }

  async #answer(work: Work, bound: ReturnType<typeof answerBounder>): Promise<AnsweredCall> {
    const state = await this.#finalState(work);
    const answer = work.report({ ...state, llmContent: bound(state.llmContent) }) as AnsweredCall;
    // The effect has happened; if it cannot be recorded, the next effect will be refused.
    await this.#recorded(work.tool)?.catch(() => {});
    return answer;
  }

  /** The only place that catches what a tool throws. */
  async #finalState(work: Work): Promise<FinalState> {
    try {
      if (work.signal.aborted) return stopped(work);
      if (work.fault !== null) return failed(work.fault);
      const { tool } = work;
      if (tool === undefined) {
        const { unknownTool } = await import("./unknown-tool.ts");
        return unknownTool(work.call.name, this.#needs.registry);
      }
      const { hooks } = this.#needs;
      const invalid = faultOf(work, tool);
      if (invalid !== null) return invalid;
      return await (hooks ? this.#hooked(work, tool, hooks) : this.#valid(work, tool, NOT_HOOKED));
    } catch (error) {
      if (work.signal.aborted) return stopped(work);
      return failed(errorOf(error));
    }
  }

  async #hooked(work: Work, tool: SoundTool, hooks: CallHooks): Promise<FinalState> {
    const change = (args: HookedCall["args"]): HookedCall | null => {
      work.call = { ...work.call, args };
      return faultOf(work, tool) === null ? targetOf(work, tool) : null;
    };
    const hooked = await hooks.before(targetOf(work, tool), change, work.signal);
    work.signal.throwIfAborted();
    if (hooked.decision === "deny") return denied(tool, hooked.reason);
    const changedFault = faultOf(work, tool);
    if (changedFault !== null) return withNotes(changedFault, hooked.contexts);
    const state = await this.#valid(work, tool, hooked);
    const notes = await hooks.after(
      targetOf(work, tool),
      { status: state.status, text: textOf(boundedContent(state.llmContent)) },
      work.signal,
    );
    return withNotes(state, [...hooked.contexts, ...notes]);
  }

  /** Takes a call with valid arguments through approval and execution. */
  async #valid(work: Work, tool: SoundTool, hooked: BeforeCall): Promise<FinalState> {
    const { call, signal, report } = work;
    report({ status: "validating" }, tool.getDescription(call.args));
    const prepared = await tool.prepare(call.args, signal);
    const approved = await this.#approval({ work, tool, prepared }, hooked);
    if ("status" in approved) return approved;
    const { approval, notice, ...how } = approved;
    report(notice === undefined ? { status: "executing" } : { status: "executing", notice });
    await this.#recorded(tool);
    signal.throwIfAborted();
    let isOver = false;
    const onUpdate: OnUpdate = (display) => {
      if (!isOver) report({ status: "executing", display });
    };
    const ask = async (confirmation: Confirmation, reason: string) => {
      const asked = { callId: call.id, confirmation, reason };
      const asking = { ...this.#needs, signal };
      report({ status: "awaiting_approval", confirmation, reason });
      const { askAfter } = await import("./decision.ts");
      return askAfter(asked, asking).finally(() => report({ status: "executing" }));
    };
    const limit = this.#needs.timeouts?.[tool.name];
    const doIt = (running: AbortSignal) =>
      prepared.run(approval, running, { ...how, callId: call.id, onUpdate, ask }).then(answered);
    const run = () => runWithin({ call, signal, limit }, doIt);
    const { journal } = this.#needs;
    const { id, args } = call;
    const started = () => ({ id, args, tool, reads: how.reads, description: tool.getDescription(args) });
    try {
      return withWords(await (journal ? journal(started(), run) : run()), approval);
    } finally {
      isOver = true;
    }
  }

  async #approval(prepared: Prepared, hooked: BeforeCall): Promise<FinalState | Approved> {
    const { work, tool } = prepared;
    const { confirmation } = prepared.prepared;
    const request = requestOf(tool, work.call, confirmation);
    const judge = async () => withHook(await this.#needs.judge(request), hooked);
    const judged = await judge();
    const { verdict, reason } = judged;
    if (verdict === "allow") return allowedBy(judged);
    if (verdict === "deny") return denied(tool, reason);
    const question = asked(confirmation || plainQuestion(tool, work.call), judged);
    work.report({ status: "awaiting_approval", confirmation: question, reason });
    const questions = await this.#needs.questions?.(work.call.id);
    if (questions === undefined) return needsApproval(tool, question, reason);
    return questions.inTurn(async (isChanged) => {
      const again = isChanged ? await judge() : judged;
      if (again.verdict === "allow") return allowedBy(again);
      return this.#asked(prepared, { callId: work.call.id, confirmation: question, reason }, questions);
    }, work.signal);
  }

  async #asked(
    prepared: Prepared,
    asked: AskedOfCall,
    questions: QuestionQueue,
  ): Promise<FinalState | Approved> {
    const { work, tool, prepared: call } = prepared;
    const { questionOf } = await import("./decision.ts");
    let decision: Decision | null;
    try {
      decision = await questions.ask(questionOf(asked, this.#needs.subagent), work.signal);
    } catch (error) {
      work.signal.throwIfAborted();
      // Whatever is not a clear yes is a no.
      return denied(tool, messageOf(error), "undecided");
    }
    const { confirmation, reason } = asked;
    if (decision === null) return needsApproval(tool, confirmation, reason);
    if (work.signal.aborted) return stopped(work);
    if (decision.outcome === "cancel") return declined(work.call, confirmation, decision.reason);
    if (decision.outcome === "edited" && !call.takesEdits) return failed(NOT_EDITABLE);
    const approved = { approval: decision, confirmation };
    if (decision.outcome !== "always") return approved;
    const { scope, width } = decision;
    const chosen = width === undefined ? undefined : confirmation.widths?.[width];
    const notice = await this.#needs.onGrant(chosen ?? confirmation.grants, scope);
    return notice === null ? approved : { ...approved, notice };
  }
}

function requestOf(
  { name: tool, kind, ruleSubjects }: SoundTool,
  { args }: FunctionCall,
  confirmation: SoundCall["confirmation"],
): ApprovalRequest {
  return { tool, kind, confirmation, subjects: ruleSubjects(args) };
}

/** A call that is ready for its question. */
interface Prepared {
  readonly work: Work;
  readonly tool: SoundTool;
  readonly prepared: SoundCall;
}

interface Approved extends Pick<RunContext, "reads" | "readOnly" | "confirmation"> {
  /** The user's approval; null when no question was needed. */
  readonly approval: Approval | null;
  readonly notice?: string;
}

function allowedBy({ reads, readOnly }: Verdict): Approved {
  return { approval: null, ...(reads && { reads }), ...(readOnly && { readOnly }) };
}

/** What comes after would overflow the stack. */
const MOST_LEVELS = 500;
const TOO_DEEP: ToolError = {
  type: "invalid_arguments",
  message: `The arguments are nested deeper than ${MOST_LEVELS} levels.`,
};

/** A call that was interrupted, or that came too late. */
function stopped({ call, given, hasBegun }: Work): FinalState {
  if (given.aborted || hasBegun) return cancelled(call, "interrupted before it was done");
  return failed({ type: "closed", message: `${call.name} was not run: ${CLOSED}.` });
}

const CLOSED = "the toolbox or session that it belongs to is closed";

const NOT_EDITABLE: ToolError = {
  type: "not_editable",
  message: "The call was not run: the answer has an edited content, which this tool does not accept.",
};

const SIDE_BY_SIDE: ReadonlySet<ToolKind | undefined> = new Set<ToolKind>(["read", "fetch", "delegate"]);

function groupsOf(work: readonly Work[]): Work[][] {
  const groups: Work[][] = [];
  for (const item of work) {
    const last = groups.at(-1);
    const isBeside = [item, last?.[0]].every((one) => SIDE_BY_SIDE.has(one?.tool?.kind));
    if (last && isBeside) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

/** Returns null when the arguments are valid. */
function faultOf({ call: { args, argsError } }: Work, tool: SoundTool): FinalState | null {
  const fault = argsError ?? tool.validateToolParams(args);
  return fault ? failed({ type: "invalid_arguments", message: fault }) : null;
}

function targetOf({ call: { args } }: Work, tool: SoundTool): HookedCall {
  return { tool: tool.name, kind: tool.kind, args, subjects: tool.ruleSubjects(args) };
}

const NOT_HOOKED: BeforeCall = { decision: undefined, reason: "", contexts: [] };

/**
 * A hook can require a question where a rule allows. It can allow only what a user could allow permanently: calls
 * that always need a question, e.g. for a protected file, still get one.
 */
function withHook(judged: Verdict, { decision, reason }: BeforeCall): Verdict {
  if (decision === "ask" && judged.verdict === "allow") return { verdict: "ask", reason, grants: [] };
  const isAlwaysAsked = judged.grants === undefined || judged.grants.length === 0;
  if (decision === "allow" && judged.verdict === "ask" && !isAlwaysAsked) return { verdict: "allow", reason };
  return judged;
}

/** Adds the hooks' notes for the model to the answer. */
function withNotes<State extends FinalState>(state: State, notes: readonly string[]): State {
  if (notes.length === 0) return state;
  const text = `\n\n${hookWords(notes.join("\n"))}`;
  const { llmContent } = state;
  const content: PartListUnion =
    typeof llmContent === "string" ? llmContent + text : [llmContent, text].flat();
  return { ...state, llmContent: content };
}
