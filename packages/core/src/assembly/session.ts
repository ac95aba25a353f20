import { type CommandList, createCommandList } from "@burin/commands/shell/command-list";
import {
  type AgentEvent,
  type ContextFill,
  createNotice,
  type FaceEvent,
  type RunEnd,
  type WorkProof,
} from "@burin/contract/agent-event";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import { SerialQueue } from "@burin/contract/async/wait";
import type { ChatModel } from "@burin/contract/chat-model";
import type { FunctionCall, Message, PartListUnion } from "@burin/contract/messages/message";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { type Decision, type Question, resolveToolKind, type ToolKind } from "@burin/contract/tools";
import { resolveUserPath } from "@burin/files/paths/user-path";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Agent, CompactionResult } from "../agent/agent.ts";
import type { TaskList } from "../agent/background-tasks.ts";
import { type Conversation, type Prompt, toPrompt, toPromptParts } from "../agent/conversation.ts";
import type { CustomCommand, Skill } from "../agent/definitions.ts";
import { isCutOff } from "../agent/run.ts";
import type { Demands } from "../session/ask-until.ts";
import type { LogRecord } from "../session/log/record-line.ts";
import { createModeNote } from "../session/mode-note.ts";
import type { Recording } from "../session/recording.ts";
import type { SessionEvents } from "../session/session-events.ts";
import type { Subagents } from "../tools/task.ts";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import { type JoinedSession, joinSession } from "./join-session.ts";
import type { ReadyOptions, SessionGrants, SessionOptions } from "./options.ts";
import { type CallOptions, callOne } from "./run-calls.ts";
import { findCommandFault } from "./run-command.ts";
import type { ToolSet } from "./tool-set.ts";

/** The endings of runs that never started or that failed unexpectedly. Loaded only when needed. */
const loadRunEndings = () => import("../session/failed-run.ts");

/** A session: the agent in a project, with its tools, its conversation and their log. */
export class Session {
  readonly id: string;
  /** The session's tools. Each call of them goes through the whole flow, like `call`. */
  readonly registry: ToolRegistry;
  /** Access to MCP servers apart from their tools: prompts, resources, logins. */
  readonly mcp: McpDoor;
  /** The running commands, to be shown to the user. */
  readonly commands: CommandList;
  readonly tasks: TaskList;
  readonly grants: SessionGrants;
  readonly #parts: JoinedSession;
  readonly #tools: ToolSet;
  readonly #agent: Agent;
  readonly #conversation: Conversation;
  readonly #recording: Recording;
  readonly #noted: SessionEvents["note"];
  /** Folders that the model does not know of yet. */
  readonly #opened: string[] = [];
  #hasBegun = false;
  /** How the last run in this process ended. */
  #lastEnd: RunEnd | null = null;
  readonly #turns = new SerialQueue();
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
    this.commands = createCommandList(tools.commands);
    this.tasks = background;
    this.mcp = tools.mcp;
    // Start in the background, so that the caller can first draw its screen.
    setImmediate(() => void tools.discovery.start());
  }

  get history(): readonly Message[] {
    return this.#agent.history;
  }

  /** How full the model's window is, estimated for the next request. */
  get contextFill(): ContextFill {
    return this.#agent.contextFill;
  }

  /** How much runs without asking. Can be changed at any time. */
  get approvalMode(): ApprovalMode {
    return this.#tools.current.mode;
  }

  set approvalMode(mode) {
    this.#tools.current.enter(mode);
  }

  /**
   * Works on one prompt. The events end with exactly one `done`. If the reader stops early, the work stops too. A
   * prompt given during a run waits for its turn; to add to the current run, use `steer`. A prompt is text, or parts:
   * text, and images or PDFs as `inlineData`.
   */
  run(prompt: PartListUnion, signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    return this.#run(toPrompt(prompt), signal);
  }

  /** Continues a resumed session where it stopped, starting with calls that had not begun. */
  continue(signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    const stop = AbortSignal.any([signal ?? this.#closing.signal, this.#closing.signal]);
    this.#parts.parking.dropOnAbort(stop);
    return this.#run(null, stop);
  }

  /** @deprecated Use `continue`. */
  readonly goOn = this.continue.bind(this);

  async *#run(prompt: Prompt | null, given = this.#closing.signal): AsyncGenerator<AgentEvent> {
    const signal = AbortSignal.any([given, this.#closing.signal]);
    const leave = await this.#turns.waitForTurn(signal, this.#closing.signal);
    if (leave === null) return yield (await loadRunEndings()).createNotRunEnd(this.#closing.signal);
    const { events, parking } = this.#parts;
    let end: RunEnd | null = null;
    const { ProofOfWork } = await import("../session/work-proof.ts");
    const work = new ProofOfWork({ kindOf: this.#kindOf, look: this.#tools.journal.look });
    events.work = work;
    try {
      const begun = await this.#beginRun(prompt, signal);
      const { demands } = begun;
      let input: Prompt | readonly FunctionCall[] | null = begun.input;
      yield* begun.events;
      end = begun.end;
      const stop = AbortSignal.any([signal, parking.signal]);
      while (input !== null) {
        for await (const event of this.#agent.run(input, stop)) {
          demands?.noteEvent(event);
          if (event.type === "done") end = event;
          else yield* parking.signal.aborted ? [] : this.#addNotes(event);
        }
        const verdict = end && demands ? await demands.judge(end) : { end };
        if ("end" in verdict) end = verdict.end;
        input = "end" in verdict ? null : this.#buildAgainPrompt(verdict);
      }
      yield* this.#addNotes();
      if (end !== null) end = await this.#finishRun(end, await work.compareAtEnd());
    } catch (error) {
      end = await this.#finishRun((await loadRunEndings()).createFailedEnd(error, signal), null);
    } finally {
      leave();
    }
    if (end !== null) yield end;
  }

  /** Returns the events that precede the work, and the input for the agent; null where there is nothing to work on. */
  async #beginRun(prompt: Prompt | null, signal: AbortSignal) {
    const words = await this.#prepare(prompt?.text ?? null, signal);
    const left = this.#hasBegun ? [] : (this.#parts.past?.calls.notBegun ?? []);
    const opening = this.#createOpeningEvents(words === null).map((event) => this.#noteIfNew(event));
    const gap = words === null && left.length === 0 ? await this.#findInterruption() : {};
    const events = gap.event ? [...opening, gap.event] : opening;
    const demands = await this.#buildDemands(signal);
    const end = gap.end ?? null;
    const told = demands ? demands.writePrompt(words) : words;
    const given = told === null ? left : this.#buildPrompt(told, prompt?.media);
    return { events, demands, end, input: end === null ? given : null };
  }

  #buildAgainPrompt({ again, notice: told }: { readonly again: string; readonly notice?: string }): Prompt {
    if (told) this.#tools.notes.push(told);
    return this.#buildPrompt(again);
  }

  #buildPrompt(text: string, media?: Prompt["media"]): Prompt {
    // Tell the model about plan mode before it gets the prompt.
    const note = createModeNote(this.approvalMode, this.history);
    if (note !== null) this.#conversation.tell(note);
    for (const folder of this.#opened.splice(0))
      this.#conversation.tell({ type: "context", text: `[The user opened ${folder} for reading only.]` });
    return { text, ...(media ? { media } : {}) };
  }

  async #buildDemands(signal: AbortSignal): Promise<Demands | null> {
    const { answerSchema, check: command, home, budget } = this.#parts;
    if (answerSchema === undefined && command === undefined) return null;
    const { createDemands } = await import("../session/ask-until.ts");
    const { registry, journal } = this.#tools;
    const check = command && {
      command,
      fault: () => findCommandFault(home, command),
      shell: () => registry.getTool("run_shell_command"),
      signal,
      budget,
      journal: <T>(work: () => Promise<T>) => journal.ofCommand("check", command, work),
    };
    return createDemands(answerSchema, check || undefined);
  }

  /** Returns the prompt as the model will get it, with commands and references to servers expanded. */
  async #prepare(prompt: string | null, signal: AbortSignal): Promise<string | null> {
    this.#tools.spoken.inputs += 1;
    await this.#tools.discovery.refreshBeforePrompt(signal);
    const { subagents, commands, problems } = await this.#parts.home.definitions();
    if (!this.#hasBegun) this.#tools.notes.push(...problems);
    this.#parts.subagents.add(subagents);
    if (prompt === null) return null;
    if (commands.length === 0 || !prompt.startsWith("/")) return this.mcp.resolved(prompt, signal);
    const { expandCommand } = await import("../agent/definitions.ts");
    return this.mcp.resolved(expandCommand(prompt, commands) ?? prompt, signal);
  }

  /** Returns the events that precede the first prompt of this process. */
  #createOpeningEvents(isGoingOn: boolean): AgentEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const { announcement, past, models } = this.#parts;
    if (past === null) return [announcement];
    const { notices, calls } = past;
    const answers = calls.createAnswers(this.#kindOf, isGoingOn ? "unusable" : "all");
    const told = [...notices, ...models.createCostNotice("Resuming this session", this.contextFill)];
    return [announcement, ...told.map(createNotice), ...answers.map(this.#conversation.note)];
  }

  /** Returns a note when the model's last turn was cut off, or the end of the run when there is nothing to continue. */
  async #findInterruption(): Promise<{ readonly event?: AgentEvent; readonly end?: RunEnd }> {
    if (this.history.at(-1)?.role === "user") return {};
    const { createCutOffNote, createNothingToContinueEnd } = await loadRunEndings();
    const isUnfinished = this.#lastEnd ? isCutOff(this.#lastEnd) : this.#parts.past?.isUnfinished;
    return isUnfinished
      ? { event: this.#conversation.note(createCutOffNote()) }
      : { end: createNothingToContinueEnd() };
  }

  #finishRun(end: RunEnd, proof: WorkProof | null): Promise<RunEnd> {
    this.#lastEnd = { ...(this.#parts.parking.buildParkedEnd(end) ?? end), ...(proof && { proof }) };
    return this.#recording.end(this.#lastEnd);
  }

  /** Returns the event, preceded by messages that the user should see by now. */
  #addNotes(event?: AgentEvent): AgentEvent[] {
    const notes = this.#tools.notes.splice(0).map((message) => this.#noted(createNotice(message)));
    return event === undefined ? notes : [...notes, this.#noteIfNew(event)];
  }

  /** Notes an event that the conversation has not noted yet. */
  #noteIfNew(event: AgentEvent): AgentEvent {
    const isNew = event.type === "notice" || event === this.#parts.announcement;
    return isNew ? this.#noted(event) : event;
  }

  readonly #kindOf = (tool: string): ToolKind | undefined =>
    resolveToolKind(this.#tools.registry.getTool(tool));

  /**
   * Yields all events from record `from` on (1 is the first; default: from now on), during and between runs, until the
   * session is closed. Each comes in the envelope of the log. After a lost connection, a front end should drop what it
   * got of the last number and read again from that number: all pieces of a growing text have the same number, and live
   * output has the number of the record before it. A session without a log keeps only its last 1000 records.
   */
  events(from?: number): AsyncGenerator<LogRecord> {
    return this.#recording.follow(from);
  }

  /** Resolves when all events so far are in the log. Rejects with `not_recorded` if they cannot be written. */
  recorded(): Promise<void> {
    return this.#recording.recorded();
  }

  /** Sends an event of the front end to all readers and to the log. */
  note(event: FaceEvent): void {
    this.#recording.note(event);
  }

  /** The open questions. */
  get questions(): readonly Question[] {
    return [...(this.#tools.questions.loaded?.open ?? []), ...(this.#parts.parked?.open ?? [])];
  }

  /** How many questions are queued after the open one. */
  get waitingQuestions(): number {
    const { loaded } = this.#tools.questions;
    // Questions of an earlier process can already be answered, so they do not count.
    return loaded === null ? 0 : Math.max(0, loaded.waiting - (this.#parts.parked?.open.length ?? 0));
  }

  /**
   * Answers a question by its id, from anywhere. The decision is null if no user will answer. Returns null if the
   * answer is accepted, otherwise what is wrong with it.
   */
  answer(questionId: string, decision: Decision | null): string | null {
    const told = this.#parts.parked?.answer(questionId, decision) ?? null;
    if (told === null) return this.#tools.questions.answer(questionId, decision);
    // Record the answer in the log too, so that another process does not ask again.
    if (typeof told !== "string") this.#conversation.tell(told);
    return typeof told === "string" ? told : null;
  }

  /** Replaces the history with a summary that follows the wish, if shorter. Waits until earlier runs have ended. */
  async compact(signal: AbortSignal = new AbortController().signal, wish = ""): Promise<CompactionResult> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const leave = await this.#turns.waitForTurn(either, this.#closing.signal);
    if (leave === null) throw either.reason;
    try {
      return await this.#agent.compact(signal, wish);
    } finally {
      leave();
    }
  }

  /** Changes the model from the next request on: to another one of the service by its name, or to a model object. */
  useModel(model: string | ChatModel): void {
    const { models } = this.#parts;
    models.changeModel(model);
    this.#agent.useModel(models.model, models.window);
    const told = models.createCostNotice("Changing the model", this.contextFill);
    for (const text of told) this.#conversation.tell(createNotice(text));
  }

  /** Adds text or parts from the user to the current turn: sent with the next request, after the answers so far. */
  steer(words: PartListUnion): void {
    this.#conversation.words.addSteering(toPrompt(words));
    this.#tools.spoken.inputs += 1;
  }

  /** Adds text or parts that are sent when the model has ended its turn. The run then continues with them. */
  queue(words: PartListUnion): void {
    this.#conversation.words.addQueued(toPrompt(words));
    this.#tools.spoken.inputs += 1;
  }

  /** Takes back what `steer` and `queue` have not sent, as text if possible; else the next prompt sends it first. */
  takeWaiting(): PartListUnion[] {
    return this.#conversation.words.takeAll().map(toPromptParts);
  }

  /** The real paths of the folders that tools can read: the root, included ones, and those that the user opened. */
  get folders(): readonly [root: string, ...more: string[]] {
    return this.#tools.folders;
  }

  /**
   * Opens a folder outside the project, as a user writes it, for everything that reads. The model learns of it with the
   * next prompt.
   */
  async openFolder(path: string): Promise<string> {
    const { workspace } = this.#tools;
    if (workspace.openFolder === undefined) throw new Error("This machine opens no folders beside its root.");
    const known = this.folders.length;
    const folder = await workspace.openFolder(resolveUserPath(path, workspace.root));
    if (this.folders.length > known) this.#opened.push(folder);
    return folder;
  }

  /** Runs one call for the user, through the same flow. The model does not see it. Never rejects. */
  call(
    name: string,
    params: FunctionCall["args"],
    options?: CallOptions | AbortSignal,
  ): Promise<AnsweredCall> {
    return callOne(this.#tools, { name, args: params }, options);
  }

  /** Resolves to the failures when every tool source has answered. Sources start by themselves. */
  ready(wait?: ReadyOptions): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.ready(wait);
  }

  /** Asks all tool sources again. */
  refreshTools(): Promise<readonly DiscoveryFailure[]> {
    return this.#tools.discovery.refresh();
  }

  /** Returns the commands that files define. A prompt that starts with `/name` is replaced by the command's prompt. */
  async customCommands(): Promise<readonly CustomCommand[]> {
    return (await this.#parts.home.definitions()).commands;
  }

  /** Returns the skills: files with instructions, each for one kind of task. */
  async skills(): Promise<readonly Skill[]> {
    return (await this.#parts.home.definitions()).skills;
  }

  /** Returns the built-in subagents and those that files define. */
  async agents(): Promise<Subagents["known"]> {
    this.#parts.subagents.add((await this.#parts.home.definitions()).subagents);
    return this.#parts.subagents.known;
  }

  /** Ends all runs, commands and tasks, including those in the background. Must be called at the end. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("This session is closed."));
    this.#tools.refuseCalls();
    await this.#parts.background.stopAll();
    if (this.#hasBegun) await this.#tools.hooks?.runEvent("session_end", new AbortController().signal);
    for (const part of [this.#tools, this.#recording, this.#parts.home]) await part.close().catch(() => {});
  }
}
