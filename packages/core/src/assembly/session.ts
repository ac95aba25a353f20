import { type CommandList, commandList } from "@burin/commands/shell/command-list";
import {
  type AgentEvent,
  type ContextFill,
  type FaceEvent,
  notice,
  type RunEnd,
  type WorkProof,
} from "@burin/contract/agent-event";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import { Turns } from "@burin/contract/async/wait";
import type { ChatModel } from "@burin/contract/chat-model";
import type { FunctionCall, Message, PartListUnion } from "@burin/contract/messages/message";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { type Decision, kindOf, type Question, type ToolKind } from "@burin/contract/tools";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Agent, Compacted } from "../agent/agent.ts";
import type { TaskList } from "../agent/background-tasks.ts";
import { type Conversation, type Prompt, partsOf, promptOf } from "../agent/conversation.ts";
import type { CustomCommand, Skill } from "../agent/definitions.ts";
import { isCutOff } from "../agent/run.ts";
import type { Demands } from "../session/ask-until.ts";
import type { LogRecord } from "../session/log/record-line.ts";
import { modeNote } from "../session/mode-note.ts";
import type { Recording } from "../session/recording.ts";
import type { SessionEvents } from "../session/session-events.ts";
import type { Subagents } from "../tools/task.ts";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import { type JoinedSession, joinSession } from "./join-session.ts";
import type { ReadyOptions, SessionGrants, SessionOptions } from "./options.ts";
import { type CallOptions, callOne } from "./run-calls.ts";
import type { ToolSet } from "./tool-set.ts";

/** Endings of runs that never started or failed unexpectedly. */
const seldom = () => import("../session/failed-run.ts");

/** Of a run that ends when its agent does. */
const NO_DEMANDS: Pick<Demands, "tell" | "note" | "judge"> = {
  tell: (prompt) => prompt,
  note: () => {},
  judge: async (end) => ({ end }),
};

/** The agent in a project: its tools, its conversation, and the log of both. */
export class Session {
  readonly id: string;
  /** Its tools run only through the whole flow, as by `call`. */
  readonly registry: ToolRegistry;
  /** What MCP servers offer in addition to tools, and logins to them. */
  readonly mcp: McpDoor;
  /** The running commands, for the user. */
  readonly commands: CommandList;
  readonly tasks: TaskList;
  readonly grants: SessionGrants;
  readonly #parts: JoinedSession;
  readonly #tools: ToolSet;
  readonly #agent: Agent;
  readonly #conversation: Conversation;
  readonly #recording: Recording;
  readonly #noted: SessionEvents["note"];
  #hasBegun = false;
  /** How the last run of this process ended. */
  #lastEnd: RunEnd | null = null;
  readonly #turns = new Turns();
  readonly #closing = new AbortController();

  static open(options: SessionOptions): Session {
    return new Session(joinSession(options));
  }

  private constructor(parts: JoinedSession) {
    const { id, tools, agent, conversation, recording, events, background } = parts;
    this.#parts = parts;
    this.id = id;
    this.#tools = tools;
    this.#agent = agent;
    this.#conversation = conversation;
    this.#recording = recording;
    this.#noted = events.note;
    this.grants = tools.sessionGrants;
    this.registry = tools.guarded;
    this.commands = commandList(tools.commands);
    this.tasks = background;
    this.mcp = tools.mcp;
    // In the background, so that the caller can first draw its screen.
    setImmediate(() => void tools.discovery.start());
  }

  get history(): readonly Message[] {
    return this.#agent.history;
  }

  /** How full the model's window is, estimated for the next request. */
  get contextFill(): ContextFill {
    return this.#agent.contextFill;
  }

  /** How much runs without asking; can be changed at any time. */
  get approvalMode(): ApprovalMode {
    return this.#tools.current.mode;
  }

  set approvalMode(mode) {
    this.#tools.current.enter(mode);
  }

  /**
   * Works on one prompt; the events end with one `done`. A reader that stops early stops the work. A prompt that
   * comes meanwhile waits for its turn; to add to the current work, use `steer`. A prompt is text, or parts:
   * texts, and images or PDF as `inlineData`.
   */
  run(prompt: PartListUnion, signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    return this.#run(promptOf(prompt), signal);
  }

  /** Continues where a resumed session stopped: with its calls that had not started. */
  continue(signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    const stop = AbortSignal.any([signal ?? this.#closing.signal, this.#closing.signal]);
    this.#parts.parking.endWith(stop);
    return this.#run(null, stop);
  }

  /** @deprecated Its name is `continue`. */
  readonly goOn = this.continue.bind(this);

  async *#run(prompt: Prompt | null, given = this.#closing.signal): AsyncGenerator<AgentEvent> {
    const signal = AbortSignal.any([given, this.#closing.signal]);
    const leave = await this.#turns.take(signal, this.#closing.signal);
    if (leave === null) return yield (await seldom()).notRun(this.#closing.signal);
    const { events, parking } = this.#parts;
    let end: RunEnd | null = null;
    const { ProofOfWork } = await import("../session/work-proof.ts");
    const work = new ProofOfWork({ kindOf: this.#kindOf, look: this.#tools.journal.look });
    events.work = work;
    try {
      const begun = await this.#begin(prompt, signal);
      const { demands } = begun;
      let input: Prompt | readonly FunctionCall[] | null = begun.input;
      yield* begun.events;
      end = begun.end;
      const stop = AbortSignal.any([signal, parking.signal]);
      while (input !== null) {
        for await (const event of this.#agent.run(input, stop)) {
          demands.note(event);
          if (event.type === "done") end = event;
          else yield* parking.signal.aborted ? [] : this.#withNotes(event);
        }
        const verdict = end === null ? { end } : await demands.judge(end);
        if ("end" in verdict) end = verdict.end;
        input = "end" in verdict ? null : this.#inputAgain(verdict);
      }
      yield* this.#withNotes();
      if (end !== null) end = await this.#ended(end, await work.atEnd());
    } catch (error) {
      end = await this.#ended((await seldom()).failedRun(error, signal), null);
    } finally {
      leave();
    }
    if (end !== null) yield end;
  }

  /** The events before the work, and what the agent works on: null where there is nothing. */
  async #begin(prompt: Prompt | null, signal: AbortSignal) {
    const words = await this.#prepare(prompt?.text ?? null, signal);
    const left = this.#hasBegun ? [] : (this.#parts.past?.calls.notBegun ?? []);
    const opening = this.#opening(words === null).map((event) => this.#heard(event));
    const gap = words === null && left.length === 0 ? await this.#findGap() : {};
    const events = gap.event ? [...opening, gap.event] : opening;
    const demands = await this.#demandsOf(signal);
    const end = gap.end ?? null;
    const told = demands.tell(words);
    const given = told === null ? left : this.#inputOf(told, prompt?.media);
    return { events, demands, end, input: end === null ? given : null };
  }

  #inputAgain({ again, notice: told }: { readonly again: string; readonly notice?: string }): Prompt {
    if (told) this.#tools.notes.push(told);
    return this.#inputOf(again);
  }

  #inputOf(text: string, media?: Prompt["media"]): Prompt {
    // The model must know about plan mode before a prompt.
    const note = modeNote(this.approvalMode, this.history);
    if (note !== null) this.#conversation.tell(note);
    return { text, ...(media ? { media } : {}) };
  }

  async #demandsOf(signal: AbortSignal): Promise<typeof NO_DEMANDS> {
    const { answerSchema, check: command, home, budget } = this.#parts;
    if (answerSchema === undefined && command === undefined) return NO_DEMANDS;
    const { openDemands } = await import("../session/ask-until.ts");
    const { registry, journal } = this.#tools;
    const check = command && {
      command,
      fault: async () => (await import("./run-command.ts")).commandFault(home, command),
      shell: () => registry.getTool("run_shell_command"),
      signal,
      budget,
      journal: <T>(work: () => Promise<T>) => journal.ofCommand("check", command, work),
    };
    return openDemands(answerSchema, check || undefined);
  }

  /** Returns the prompt as the model gets it. */
  async #prepare(prompt: string | null, signal: AbortSignal): Promise<string | null> {
    this.#tools.spoken.inputs += 1;
    await this.#tools.discovery.beforePrompt(signal);
    const { subagents, commands, problems } = await this.#parts.home.definitions();
    if (!this.#hasBegun) this.#tools.notes.push(...problems);
    this.#parts.subagents.add(subagents);
    if (prompt === null) return null;
    if (commands.length === 0 || !prompt.startsWith("/")) return this.mcp.resolved(prompt, signal);
    const { expandedCommand } = await import("../agent/definitions.ts");
    return this.mcp.resolved(expandedCommand(prompt, commands) ?? prompt, signal);
  }

  /** The events before the first prompt of this process. */
  #opening(isGoingOn: boolean): AgentEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const { announcement, past, models } = this.#parts;
    if (past === null) return [announcement];
    const { notices, calls } = past;
    const answers = calls.answers(this.#kindOf, isGoingOn ? "unusable" : "all");
    const told = [...notices, ...models.costNotice("Resuming this session", this.contextFill)];
    return [announcement, ...told.map(notice), ...answers.map(this.#conversation.note)];
  }

  /** A note when the model's last turn was cut off, or the end when there is nothing to continue. */
  async #findGap(): Promise<{ readonly event?: AgentEvent; readonly end?: RunEnd }> {
    if (this.history.at(-1)?.role === "user") return {};
    const { cutOff, nothingLeft } = await seldom();
    const isUnfinished = this.#lastEnd ? isCutOff(this.#lastEnd) : this.#parts.past?.isUnfinished;
    return isUnfinished ? { event: this.#conversation.note(cutOff()) } : { end: nothingLeft() };
  }

  #ended(end: RunEnd, proof: WorkProof | null): Promise<RunEnd> {
    this.#lastEnd = { ...(this.#parts.parking.outcome(end) ?? end), ...(proof && { proof }) };
    return this.#recording.end(this.#lastEnd);
  }

  /** The event, after what the user should know by now. */
  #withNotes(event?: AgentEvent): AgentEvent[] {
    const notes = this.#tools.notes.splice(0).map((message) => this.#noted(notice(message)));
    return event === undefined ? notes : [...notes, this.#heard(event)];
  }

  /** The conversation has noted all others when they happened. */
  #heard(event: AgentEvent): AgentEvent {
    const isNew = event.type === "notice" || event === this.#parts.announcement;
    return isNew ? this.#noted(event) : event;
  }

  readonly #kindOf = (tool: string): ToolKind | undefined => kindOf(this.#tools.registry.getTool(tool));

  /**
   * All events from record `from` on (1 is the first; default: from now on), during and between runs, until the
   * session is closed; each in the envelope of the log. After a lost connection, a face drops what it has of the
   * last number that it got and reads again from there: all pieces of a growing text have the same number, and
   * live output has that of the record before it. A session without a log keeps its last 1000 records.
   */
  events(from?: number): AsyncGenerator<LogRecord> {
    return this.#recording.follow(from);
  }

  /** Resolves when the events so far are in the log; throws `not_recorded` when they cannot be. */
  recorded(): Promise<void> {
    return this.#recording.recorded();
  }

  /** Sends an event of the face to all readers and to the log. */
  note(event: FaceEvent): void {
    this.#recording.note(event);
  }

  /** The questions that wait for an answer. */
  get questions(): readonly Question[] {
    return [...(this.#tools.questions.loaded?.open ?? []), ...(this.#parts.parked?.open ?? [])];
  }

  /** How many more are asked after the open one. */
  get waitingQuestions(): number {
    const { loaded } = this.#tools.questions;
    // Those of an earlier process can be answered already.
    return loaded === null ? 0 : Math.max(0, loaded.waiting - (this.#parts.parked?.open.length ?? 0));
  }

  /**
   * Answers a question by its id, from anywhere; the decision is null when no user will answer. Returns null when
   * the answer is accepted, otherwise what is wrong with it.
   */
  answer(questionId: string, decision: Decision | null): string | null {
    const told = this.#parts.parked?.answer(questionId, decision) ?? null;
    if (told === null) return this.#tools.questions.answer(questionId, decision);
    // In the log too: another process must not ask again for what was accepted here.
    if (typeof told !== "string") this.#conversation.tell(told);
    return typeof told === "string" ? told : null;
  }

  /** Replaces the history by a summary of it that follows the wish, after earlier runs have ended; not by a longer one. */
  async compact(signal: AbortSignal = new AbortController().signal, wish = ""): Promise<Compacted> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const leave = await this.#turns.take(either, this.#closing.signal);
    if (leave === null) throw either.reason;
    try {
      return await this.#agent.compact(signal, wish);
    } finally {
      leave();
    }
  }

  /** Another model answers from the next request on: one of the configured service by its name, or any model object. */
  useModel(model: string | ChatModel): void {
    const { models } = this.#parts;
    models.use(model);
    this.#agent.useModel(models.model, models.window);
    const told = models.costNotice("Changing the model", this.contextFill);
    for (const text of told) this.#conversation.tell(notice(text));
  }

  /** Adds text or parts from the user to a running turn: sent with the next request, after the answers so far. */
  steer(words: PartListUnion): void {
    this.#conversation.words.steer(promptOf(words));
    this.#tools.spoken.inputs += 1;
  }

  /** The same, but after the model has ended its turn: the run then continues with it. */
  queue(words: PartListUnion): void {
    this.#conversation.words.queue(promptOf(words));
    this.#tools.spoken.inputs += 1;
  }

  /** Takes back what has not been sent yet, as text where possible; otherwise it is sent before the next prompt. */
  takeWaiting(): PartListUnion[] {
    return this.#conversation.words.takeAll().map(partsOf);
  }

  /** Runs one call of the user, through the same flow; the model does not see it. Never rejects. */
  call(
    name: string,
    params: FunctionCall["args"],
    options?: CallOptions | AbortSignal,
  ): Promise<AnsweredCall> {
    return callOne(this.#tools, { name, args: params }, options);
  }

  /** Resolves when every tool source has answered, with the failures. Sources start by themselves. */
  ready(wait?: ReadyOptions): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.ready(wait);
  }

  /** Asks the sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.refresh();
  }

  /** The prompts that files define; a prompt that starts with such a `/name` stands for it. */
  async customCommands(): Promise<readonly CustomCommand[]> {
    return (await this.#parts.home.definitions()).commands;
  }

  /** Instructions in files, each for one kind of task. */
  async skills(): Promise<readonly Skill[]> {
    return (await this.#parts.home.definitions()).skills;
  }

  /** The built-in subagents, and those that files define. */
  async agents(): Promise<Subagents["known"]> {
    this.#parts.subagents.add((await this.#parts.home.definitions()).subagents);
    return this.#parts.subagents.known;
  }

  /** Ends all runs, commands and tasks, including those in the background. Must be called at the end. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("This session is closed."));
    this.#tools.refuseCalls();
    await this.#parts.background.stopAll();
    if (this.#hasBegun) await this.#tools.hooks?.at("session_end", new AbortController().signal);
    for (const part of [this.#tools, this.#recording, this.#parts.home]) await part.close().catch(() => {});
  }
}
