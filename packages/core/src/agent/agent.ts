import {
  type AgentEvent,
  type ContextFill,
  createNotice,
  createPromptEvent,
} from "@burin/contract/agent-event";
import { EventQueue } from "@burin/contract/async/event-queue";
import { once } from "@burin/contract/async/once";
import { wait } from "@burin/contract/async/wait";
import type { ChatModel, ModelRequest } from "@burin/contract/chat-model";
import type { FunctionCall, FunctionDeclaration, Message } from "@burin/contract/messages/message";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { resolveToolKind } from "@burin/contract/tools";
import type { CallIds } from "../scheduler/call-ids.ts";
import type { RunCalls } from "../scheduler/scheduler.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { Budget } from "./budget.ts";
import { isHourCacheCheaper } from "./cache-watch.ts";
import { Compactor } from "./compaction/compactor.ts";
import type { ContextFiles } from "./context-files.ts";
import { ContextSize } from "./context-size.ts";
import type { Conversation, Prompt } from "./conversation.ts";
import { estimateUsage, type Reply, readReply, trackModelUsage } from "./reply.ts";
import {
  createBudgetEnd,
  createInterruptedEnd,
  createRunEnd,
  decideEnd,
  findRefusal,
  findReplyFailure,
  LoopGuard,
  Run,
} from "./run.ts";

/** How full the window is after a compaction. `isSummarized` is false when a summary would not have been shorter. */
export interface CompactionResult extends ContextFill {
  readonly isSummarized: boolean;
}

/** Returns additional text for the model, at the start and again after a compaction. */
export type CollectBriefing = (
  moment: "start" | "compaction",
  signal: AbortSignal,
) => Promise<readonly string[]>;

export interface AgentOptions {
  readonly model: ChatModel;
  /** The model that writes summaries, if settings name one for small work. */
  readonly small?: ChatModel | undefined;
  readonly registry: ToolRegistry;
  readonly declarations: () => readonly FunctionDeclaration[];
  readonly runCalls: RunCalls;
  /** Shared with all code that makes calls in the session. */
  readonly callIds: CallIds;
  readonly systemPrompt: string;
  readonly maxTurns: number;
  /** The model's window in tokens. */
  readonly contextWindow: number;
  readonly contextFiles: ContextFiles;
  readonly briefing?: CollectBriefing | undefined;
  /** Shared with all code that spends on this agent's behalf. */
  readonly budget: Budget | undefined;
  /** Called when a request has been sent. */
  readonly onRequestSent?: (() => unknown) | undefined;
  /** Returns new facts that the model should know, each only once. */
  readonly news?: (() => string | null) | undefined;
  /** Tasks that run in parallel to the loop. A run waits for them at its end. */
  readonly background?: BackgroundTasks | undefined;
  /** Whether to correct, and finally stop, a model that repeats itself. */
  readonly detectLoops: boolean;
  /** true if a user is present, whose answers may take long. */
  readonly waitsForUser?: boolean | undefined;
  /** The earlier events of a resumed session. */
  readonly past?: Iterable<AgentEvent> | undefined;
  readonly conversation: Conversation;
}

/** The input of one run. */
interface Order {
  readonly input: Prompt | readonly FunctionCall[];
  readonly events: EventQueue<AgentEvent>;
  /** The previous run. */
  readonly earlier: Promise<void>;
}

/** The agent loop: prompt, reply, calls, answers, until a reply makes no call. */
export class Agent {
  readonly #conversation: Conversation;
  readonly #needs: AgentOptions;
  /** The model that answers the next request. */
  model: ChatModel;
  readonly #size = new ContextSize();
  /** Whether the model has received the briefing that precedes the first prompt. */
  #isBriefed = false;
  readonly #compactor: Compactor;
  /** The latest run: after its reader has stopped, the answers of its calls still belong to the history. */
  #unfinished: Promise<void> = Promise.resolve();
  /** The budget warnings already given. */
  readonly #warned = new Set<string>();

  constructor(needs: AgentOptions) {
    this.#needs = needs;
    this.model = needs.model;
    this.#conversation = needs.conversation;
    const { contextFiles, briefing, budget, callIds, contextWindow: window, past = [], small } = needs;
    const { record, tell } = needs.conversation;
    for (const event of past) {
      needs.conversation.replay(event);
      needs.background?.replay(event);
      if (event.type === "tool_call" || event.type === "subagent_call") callIds.reserveId(event.call.callId);
      // true if a turn ends with this event. A session that another program wrote has no such event.
      if (event.type === "context_fill") this.#isBriefed = true;
    }
    const account = { purpose: "compaction", budget, tell } as const;
    this.#compactor = new Compactor({
      models: [
        ...(small ? [{ ...small, ...trackModelUsage({ model: small }, account) }] : []),
        trackModelUsage(this, account),
      ],
      size: this.#size,
      window,
      record,
      request: () => this.#buildRequest(),
      contextTexts: async (signal) => [
        ...(await contextFiles.readAgain()),
        ...((await briefing?.("compaction", signal)) ?? []),
      ],
    });
  }

  get history(): readonly Message[] {
    return this.#conversation.history.messages;
  }

  /** How full the window is, estimated for the request that would be sent now. */
  get contextFill(): ContextFill {
    return this.#compactor.fill;
  }

  useModel(model: ChatModel, window: number): void {
    this.model = model;
    this.#compactor.useWindow(window);
    this.#conversation.tell({ type: "model", model: model.name, window });
  }

  /** Replaces the history with a summary that follows the wish, if that is shorter. Must not be called during a run. */
  async compact(signal: AbortSignal, wish: string): Promise<CompactionResult> {
    let isSummarized = false;
    const addEvent = async (event: AgentEvent): Promise<void> => {
      this.#conversation.tell(event);
      isSummarized ||= event.type === "compaction";
    };
    await this.#compactor.shorten(addEvent, signal, wish);
    this.#conversation.tell({ type: "context_fill", ...this.contextFill });
    return { ...this.contextFill, isSummarized };
  }

  /**
   * Works on a prompt, or continues at the end of the history with the given unanswered calls of the last reply. Ends
   * with exactly one `done` event. If the reader stops early, the work stops too.
   */
  run(input: Prompt | readonly FunctionCall[], signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const events = new EventQueue<AgentEvent>();
    const stopped = new AbortController();
    const stop = (): void => stopped.abort();
    const start = (): Promise<void> => {
      const earlier = this.#unfinished;
      const work = this.#startRun({ input, events, earlier }, signal, stopped);
      this.#unfinished = work.catch(() => {});
      return work;
    };
    return events.yieldDuring(start, stop);
  }

  async #startRun(
    { input, events, earlier }: Order,
    signal: AbortSignal,
    stopped: AbortController,
  ): Promise<void> {
    const stop = (): void => stopped.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const { background, budget, detectLoops, registry } = this.#needs;
    const guard = detectLoops ? new LoopGuard((tool) => resolveToolKind(registry.getTool(tool))) : null;
    const run = new Run(stopped.signal, guard);
    budget?.startClock();
    const stopForTimeBudget = () => {
      run.isOutOfTime = true;
      stop();
    };
    // Only the main agent has a clock: a subagent is stopped by its run and must not fail a moment earlier.
    const left = background && budget?.millisecondsLeft;
    const clock = left === undefined ? undefined : setTimeout(stopForTimeBudget, Math.min(left, 2 ** 31 - 1));
    try {
      await earlier;
      this.#conversation.sendEventsTo(events);
      if ("text" in input) await this.#takePrompts(input, stopped.signal);
      else run.refused = findRefusal(await this.#runCalls(input, run));
      await this.#runTurns(run);
    } finally {
      clearTimeout(clock);
      budget?.stopClock();
      signal.removeEventListener("abort", stop);
      stop();
      await background?.stopAll();
      this.#conversation.resetEventQueue();
    }
  }

  /** Adds the event to the history; resolves when the reader of the run wants the next one. */
  readonly #say = (event: AgentEvent): Promise<void> =>
    this.#conversation.told.addAndWait(this.#conversation.note(event));

  async #takePrompts(prompt: Prompt, signal: AbortSignal): Promise<void> {
    const { briefing, contextFiles } = this.#needs;
    const { told, words } = this.#conversation;
    const isFirst = !this.#isBriefed;
    this.#isBriefed = true;
    const texts = isFirst ? await briefing?.("start", signal) : undefined;
    for (const text of texts ?? []) await this.#say({ type: "context", text });
    for (const event of await contextFiles.readInitial()) await told.addAndWait(event);
    await this.#announcePrompts([...words.takeAll(), prompt]);
  }

  async #announcePrompts(prompts: readonly Prompt[]): Promise<void> {
    for (const { text, media } of prompts) await this.#say(createPromptEvent(text, media));
  }

  async #runTurns(run: Run): Promise<void> {
    for (let ending: AgentEvent | null = null; ending === null; ) {
      await this.#announceNews();
      const exhausted = this.#needs.budget?.exhausted;
      ending = exhausted ? createBudgetEnd(run, exhausted) : await this.#runTurn(run);
      await this.#say({ type: "context_fill", ...this.contextFill });
      if (ending === null) continue;
      await this.#needs.background?.stopAll();
      await this.#announceNews();
      await this.#conversation.told.addAndWait(ending);
    }
  }

  /** Yields news and the results of background tasks. */
  async #announceNews(): Promise<void> {
    const news = this.#needs.news?.() ?? null;
    if (news !== null) await this.#say({ type: "context", text: news });
    for (const report of this.#needs.background?.takeReports() ?? []) await this.#say(report);
  }

  /** Gets one reply and runs its calls. Returns the event that ends the run, or null if the run continues. */
  async #runTurn(run: Run): Promise<AgentEvent | null> {
    run.turns += 1;
    const reply = await this.#askModel(run);
    run.text = run.unfinished + reply.text;
    if (!run.signal.aborted && (await this.#continueReply(run, reply))) return null;
    run.unfinished = "";
    if (reply.end.reason !== "error") run.broken = 0;
    const failure = this.#createInterruption(run) ?? findReplyFailure(run, reply);
    if (failure) return failure;
    if (reply.calls.length === 0) {
      run.isCut = reply.end.reason === "length";
      if (run.isCut)
        await this.#conversation.told.addAndWait(
          createNotice("The answer was cut by the model's output limit."),
        );
      return this.#endOrContinue(run);
    }
    const answers = await this.#runCalls(reply.calls, run);
    run.refused = findRefusal(answers) ?? run.refused;
    const ending = this.#createInterruption(run) ?? decideEnd(answers, run, this.#needs.maxTurns);
    if (ending) return ending;
    await this.#announcePrompts(this.#conversation.words.takeSteering());
    return null;
  }

  /** Asks the model to continue a reply that ended too early. Returns whether it did. */
  async #continueReply(run: Run, reply: Reply): Promise<boolean> {
    const isWhole = reply.end.reason === "stop" || reply.calls.length > 0;
    const more = isWhole ? null : (await import("./continuation.ts")).planContinuation(run, reply);
    if (!more) return false;
    run.unfinished += reply.text;
    await this.#conversation.told.addAndWait(createNotice(more.notice));
    await this.#say({ type: "context", text: more.instruction });
    await wait(more.pauseMs, run.signal);
    return true;
  }

  /** Called when a reply makes no call. New prompts and finished tasks continue the run; otherwise it ends here. */
  async #endOrContinue(run: Run): Promise<AgentEvent | null> {
    const { background } = this.#needs;
    const { words } = this.#conversation;
    for (;;) {
      const steering = words.takeSteering();
      const queued = steering.length > 0 ? [] : words.takeQueued();
      await this.#announcePrompts([...steering, ...queued]);
      if (queued.length > 0) run.turns = 0;
      if (queued.length > 0 || steering.length > 0 || background?.hasReports) return null;
      if (!background?.isPending) break;
      await Promise.race([background.waitForReport(run.signal), words.waitForPrompt()]);
      const interruption = this.#createInterruption(run);
      if (interruption) return interruption;
    }
    return run.refused ? createRunEnd("refused", run, run.refused) : createRunEnd("success", run);
  }

  #createInterruption(run: Run): AgentEvent | null {
    if (!run.signal.aborted) return null;
    if (!run.isOutOfTime) return createInterruptedEnd(run);
    return createBudgetEnd(run, this.#needs.budget?.exhausted ?? "The budget of time is used up.");
  }

  /** Gets the next reply. First shortens the history if the request does not fit the model's window. */
  async #askModel({ signal, unfinished }: Run): Promise<Reply> {
    const warning = this.#needs.budget?.takeWarning(this.#warned);
    if (warning !== undefined) {
      await this.#conversation.told.addAndWait(createNotice(warning));
      const text = `[${warning} When it is used up, the work stops: finish now.]`;
      await this.#say({ type: "context", text });
    }
    if (this.#compactor.isNeeded) await this.#compactor.shorten(this.#say, signal);
    const reply = await this.#getReply(signal, unfinished);
    const { end, text, calls } = reply;
    const isTooLong = end.reason === "error" && end.error.type === "context_length";
    if (!isTooLong || text !== "" || calls.length > 0 || signal.aborted) return reply;
    const fault = (await import("./compaction/shorten.ts")).explainTooSmall(this.#buildRequest(), this.#size);
    if (fault)
      return { ...reply, end: { ...end, error: { ...end.error, message: `${end.error.message} ${fault}` } } };
    this.#compactor.noteTooLong(end.error);
    await this.#compactor.shorten(this.#say, signal);
    return this.#getReply(signal, unfinished);
  }

  async #getReply(signal: AbortSignal, unfinished: string): Promise<Reply> {
    const { budget } = this.#needs;
    const model = this.model;
    const { cache } = this.#conversation;
    const onSent = () => this.#needs.onRequestSent?.();
    const plain = this.#buildRequest();
    const { length } = plain.history;
    // Estimate only after the first byte is sent, if there is time. The reply may already be in the history, so count
    // only its first `length` messages.
    const estimated = once(() =>
      this.#size.estimateRequest({ ...plain, history: plain.history.slice(0, length) }),
    );
    const request = {
      ...plain,
      ...(this.#isHourCacheWorthwhile(estimated) && { isPauseLikely: true }),
      onSent,
    };
    const sent = { model: model.name, tools: plain.tools, at: Date.now() };
    const addEvent = (event: AgentEvent): Promise<void> =>
      this.#say(event.type === "usage" ? { ...event, ...cache.compareUsage(event.usage, sent) } : event);
    const asked = { model, request, say: addEvent, ids: this.#needs.callIds, said: unfinished };
    const reply = await readReply(asked, signal);
    if (reply.usage) this.#size.correctFactor(estimated(), reply.usage.inputTokens);
    if (reply.end.reason !== "error" || reply.end.error.type === "reply_too_long") {
      budget?.spend(reply.usage ?? estimateUsage(estimated(), reply, this.#size), model.name);
    }
    return reply;
  }

  /** Whether a user may have to answer after this reply, so that a cache of an hour is worth its price. */
  #isHourCacheWorthwhile(estimated: () => number): boolean {
    const { waitsForUser, background } = this.#needs;
    if (this.history.length < 2 || !(waitsForUser || background?.isPending)) return false;
    const newTokens = this.history
      .slice(-2)
      .reduce((sum, message) => sum + this.#size.estimateOneMessage(message), 0);
    return isHourCacheCheaper(newTokens, estimated());
  }

  async #runCalls(calls: readonly FunctionCall[], run: Run): Promise<AnsweredCall[]> {
    const { budget, contextFiles, registry, runCalls } = this.#needs;
    const { runAffordableCalls } = await import("./call-round.ts");
    const { conversation } = this.#needs;
    const round = { runCalls, budget, window: this.#compactor.window, conversation };
    const answers = await runAffordableCalls(calls, round, run);
    for (const call of answers) {
      for (const event of await contextFiles.readFilesForCall(call, registry))
        await conversation.told.addAndWait(event);
    }
    return answers;
  }

  #buildRequest(): ModelRequest {
    const { systemPrompt: system, declarations } = this.#needs;
    return { system, history: this.history, tools: declarations() };
  }
}
