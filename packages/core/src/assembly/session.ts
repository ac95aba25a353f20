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
import type { FunctionCall, JsonSchema, Message, PartListUnion } from "@burin/contract/messages/message";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { type Decision, kindOf, type Question, type ToolKind } from "@burin/contract/tools";
import type { McpDoor } from "@burin/mcp/mcp-door";
import type { Agent, Compacted } from "../agent/agent.ts";
import { BackgroundTasks, type TaskList } from "../agent/background-tasks.ts";
import type { Budget } from "../agent/budget.ts";
import { roomForAnswers } from "../agent/context-size.ts";
import { Conversation, type Prompt, partsOf, promptOf } from "../agent/conversation.ts";
import type { CustomCommand, Skill } from "../agent/definitions.ts";
import { isCutOff } from "../agent/run.ts";
import type { Ask } from "../session/ask-until.ts";
import type { LogRecord } from "../session/log/record-line.ts";
import { newSessionId } from "../session/log/session-id.ts";
import { modeNote } from "../session/mode-note.ts";
import type { ParkedQuestions } from "../session/parked-questions.ts";
import { Parking } from "../session/parking.ts";
import type { PastSession } from "../session/past-session.ts";
import { Recording } from "../session/recording.ts";
import type { ProofOfWork } from "../session/work-proof.ts";
import type { Subagents } from "../tools/task.ts";
import type { DiscoveryFailure, ToolRegistry } from "../tools/tool-registry.ts";
import { type Home, resolveHome } from "./home.ts";
import { agentOf, briefingOf } from "./join-agent.ts";
import { type JoinedSubagents, joinSubagents } from "./join-subagents.ts";
import type { ReadyOptions, SessionGrants, SessionOptions } from "./options.ts";
import { type CallOptions, callOne } from "./run-calls.ts";
import { announcementOf, helpOf, Models } from "./session-models.ts";
import { ToolSet } from "./tool-set.ts";

/** Endings of runs that never started or failed unexpectedly. */
const seldom = () => import("../session/failed-run.ts");

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
  readonly #models: Models;
  readonly #past: PastSession | null;
  readonly #recording: Recording;
  readonly #announcement: AgentEvent;
  readonly #conversation: Conversation;
  readonly #parking: Parking;
  readonly #parked: ParkedQuestions | undefined;
  readonly #background: BackgroundTasks;
  readonly #answerSchema: JsonSchema | undefined;
  /** A command that must pass before a run ends with success. */
  readonly #check: string | undefined;
  readonly #home: Home;
  readonly #budget: Budget | undefined;
  readonly #tools: ToolSet;
  readonly grants: SessionGrants;
  readonly #agent: Agent;
  #subagents: JoinedSubagents | null = null;
  #hasBegun = false;
  #work: ProofOfWork | null = null;
  /** How the last run of this process ended. */
  #lastEnd: RunEnd | null = null;
  readonly #turns = new Turns();
  readonly #closing = new AbortController();

  constructor(options: SessionOptions) {
    const { resume, answerSchema, budget: given, maxTurns, keepLog, answer } = options;
    const home = resolveHome(options);
    this.id = resume?.id ?? newSessionId();
    this.#models = new Models(options, home.settings);
    this.#past = resume?.session ?? null;
    this.#answerSchema = answerSchema;
    this.#check = options.check ?? home.settings.check;
    this.#home = home;
    const { model, small } = this.#models;
    const budget = this.#models.budgetOf(given);
    this.#budget = budget;
    const isRecorded = options.record === true || resume !== undefined || keepLog !== undefined;
    this.#announcement = announcementOf(this, { model: model.name, home }, options);
    const place = { id: this.id, root: home.root, home: home.folder, secrets: home.secrets };
    const recorded = { ...place, settings: home.settings, isRecorded, resumed: resume, keep: keepLog };
    this.#recording = new Recording(recorded, this.#announcement);
    const conversation = new Conversation(this.#noted);
    this.#conversation = conversation;
    const { tell } = conversation;
    this.#parked = this.#past?.parked(answer);
    this.#parking = new Parking({ sessionId: this.id, recording: this.#recording, parked: this.#parked });
    const mostCharacters = roomForAnswers(this.#models.window);
    const background = new BackgroundTasks({ mostCharacters, tell });
    this.#background = background;
    const spending = { home, budget, maxTurns, mainPrompt: options.instructions };
    const help = helpOf(this.#models, { home, budget, conversation });
    this.#tools = new ToolSet(options, home, {
      ...help.tools,
      mostAnswerCharacters: mostCharacters,
      forServers: { askModel: help.askModel, areAwaited: options.awaitsServers ?? false },
      recorded: () => this.#recording.recorded(),
      recordsReads: keepLog !== undefined,
      undoWriter: isRecorded ? this.id : undefined,
      sessionId: this.id,
      tellsGit: !resume && options.machine === undefined && home.settings.context.environment,
      reads: this.#recording.reads,
      awaitsAnswers: options.awaitsAnswers,
      asking: { tell, recall: this.#parking.recall, knows: (callId) => this.#parked?.knows(callId) ?? false },
      onMode: (mode) => tell({ type: "mode", mode }),
      park: options.park ? this.#parking.confirm : undefined,
      subagents: (tools) => {
        this.#subagents = joinSubagents({ ...spending, models: this.#models, tools, tell, background });
        return this.#subagents;
      },
    });
    this.grants = this.#tools.sessionGrants;
    const { registry, runCalls, callIds, workspace, discovery, onRequestSent, hooks, gitNews } = this.#tools;
    this.registry = this.#tools.guarded;
    this.commands = commandList(this.#tools.commands);
    this.tasks = background;
    this.mcp = this.#tools.mcp;
    const briefing = briefingOf(home.definitions, hooks);
    const flow = { registry, runCalls, callIds, workspace, waiting: discovery, briefing };
    const past = resume?.session.events(this.#kindOf);
    const waitsForUser = options.awaitsAnswers || options.park;
    const joined = { model, small, conversation, background, onRequestSent, waitsForUser, past };
    this.#agent = agentOf({ ...spending, ...joined, ...flow, news: () => gitNews?.take() ?? null });
    discovery.onFailure = ({ source, message }) => {
      this.#tools.notes.push(`Tools from ${source}: ${message}`);
    };
    // In the background, so that the caller can first draw its screen.
    setImmediate(() => void discovery.start());
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
    this.#parking.endWith(stop);
    return this.#run(null, stop);
  }

  /** @deprecated Its name is `continue`. */
  readonly goOn = this.continue.bind(this);

  async *#run(prompt: Prompt | null, given = this.#closing.signal): AsyncGenerator<AgentEvent> {
    const signal = AbortSignal.any([given, this.#closing.signal]);
    const leave = await this.#turns.take(signal, this.#closing.signal);
    if (leave === null) return yield (await seldom()).notRun(this.#closing.signal);
    let end: RunEnd | null = null;
    const { ProofOfWork } = await import("../session/work-proof.ts");
    const work = new ProofOfWork({ kindOf: this.#kindOf, look: this.#tools.journal.look });
    this.#work = work;
    // All others are noted by the conversation when they happen.
    const heard = (event: AgentEvent): AgentEvent =>
      event.type === "notice" || event === this.#announcement ? this.#noted(event) : event;
    try {
      const text = await this.#prepare(prompt?.text ?? null, signal);
      const left = this.#hasBegun ? [] : (this.#past?.calls.notBegun ?? []);
      for (const event of this.#opening(text === null)) yield heard(event);
      if (text === null && left.length === 0) end = yield* this.#takenUp();
      const stop = AbortSignal.any([signal, this.#parking.signal]);
      let media = prompt?.media;
      const ask = (words: string | null) => {
        if (words === null) return this.#agent.run(left, stop);
        // The model must know about plan mode before a prompt.
        const note = modeNote(this.approvalMode, this.history);
        if (note !== null) this.#conversation.tell(note);
        const given = { text: words, ...(media ? { media } : {}) };
        media = undefined;
        return this.#agent.run(given, stop);
      };
      for await (const event of end === null ? await this.#asked(text, ask, signal) : []) {
        if (event.type === "done") end = event;
        else if (!this.#parking.signal.aborted) yield* [...this.#takeNotes(), heard(event)];
      }
      yield* this.#takeNotes();
      if (end !== null) end = await this.#ended(end, await work.atEnd());
    } catch (error) {
      end = await this.#ended((await seldom()).failedRun(error, signal), null);
    } finally {
      leave();
    }
    if (end !== null) yield end;
  }

  /** Returns the prompt as the model gets it. */
  async #prepare(prompt: string | null, signal: AbortSignal): Promise<string | null> {
    this.#tools.spoken.inputs += 1;
    await this.#tools.discovery.beforePrompt(signal);
    const { subagents, commands, problems } = await this.#home.definitions();
    if (!this.#hasBegun) this.#tools.notes.push(...problems);
    this.#subagents?.add(subagents);
    if (prompt === null) return null;
    if (commands.length === 0 || !prompt.startsWith("/")) return this.mcp.resolved(prompt, signal);
    const { expandedCommand } = await import("../agent/definitions.ts");
    return this.mcp.resolved(expandedCommand(prompt, commands) ?? prompt, signal);
  }

  /** The events before the first prompt of this process. */
  #opening(isGoingOn: boolean): AgentEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    if (this.#past === null) return [this.#announcement];
    const { notices, calls } = this.#past;
    const answers = calls.answers(this.#kindOf, isGoingOn ? "unusable" : "all");
    const told = [...notices, ...this.#models.costNotice("Resuming this session", this.contextFill)];
    return [this.#announcement, ...told.map(notice), ...answers.map(this.#conversation.note)];
  }

  /** Adds a note when the model's last turn was cut off; returns the end when there is nothing to continue. */
  async *#takenUp(): AsyncGenerator<AgentEvent, RunEnd | null> {
    if (this.history.at(-1)?.role === "user") return null;
    const { cutOff, nothingLeft } = await seldom();
    const isUnfinished = this.#lastEnd ? isCutOff(this.#lastEnd) : this.#past?.isUnfinished;
    if (!isUnfinished) return nothingLeft();
    yield this.#conversation.note(cutOff());
    return null;
  }

  #ended(end: RunEnd, proof: WorkProof | null): Promise<RunEnd> {
    this.#lastEnd = { ...(this.#parking.outcome(end) ?? end), ...(proof && { proof }) };
    return this.#recording.end(this.#lastEnd);
  }

  /** The events of a run that must meet a demand at its end: an answer of a given form, a check that passes. */
  async #asked(text: string | null, ask: Ask, signal: AbortSignal): Promise<AsyncGenerator<AgentEvent>> {
    const [schema, command] = [this.#answerSchema, this.#check];
    if (schema === undefined && command === undefined) return ask(text);
    const { boundAnswer, checkedRun } = await import("../session/ask-until.ts");
    const answered: Ask = schema ? (words) => boundAnswer(schema, words, ask) : ask;
    const shell = () => this.#tools.registry.getTool("run_shell_command");
    if (!command) return answered(text);
    const fault = async () => (await import("./run-command.ts")).commandFault(this.#home, command);
    const journal = <T>(work: () => Promise<T>) => this.#tools.journal.ofCommand("check", command, work);
    return checkedRun({ command, fault, shell, signal, budget: this.#budget, journal }, text, answered);
  }

  #takeNotes(): AgentEvent[] {
    return this.#tools.notes.splice(0).map((message) => this.#noted(notice(message)));
  }

  readonly #noted = (event: AgentEvent): AgentEvent => {
    this.#work?.note(event);
    this.#parked?.follow(event);
    this.#recording.note(event);
    return event;
  };

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
    return [...(this.#tools.questions.loaded?.open ?? []), ...(this.#parked?.open ?? [])];
  }

  /** How many more are asked after the open one. */
  get waitingQuestions(): number {
    const { loaded } = this.#tools.questions;
    // Those of an earlier process can be answered already.
    return loaded === null ? 0 : Math.max(0, loaded.waiting - (this.#parked?.open.length ?? 0));
  }

  /**
   * Answers a question by its id, from anywhere; the decision is null when no user will answer. Returns null when
   * the answer is accepted, otherwise what is wrong with it.
   */
  answer(questionId: string, decision: Decision | null): string | null {
    const told = this.#parked?.answer(questionId, decision) ?? null;
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
    this.#models.use(model);
    this.#agent.useModel(this.#models.model, this.#models.window);
    const told = this.#models.costNotice("Changing the model", this.contextFill);
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
    return (await this.#home.definitions()).commands;
  }

  /** Instructions in files, each for one kind of task. */
  async skills(): Promise<readonly Skill[]> {
    return (await this.#home.definitions()).skills;
  }

  /** The built-in subagents, and those that files define. */
  async agents(): Promise<Subagents["known"]> {
    this.#subagents?.add((await this.#home.definitions()).subagents);
    return this.#subagents?.known ?? [];
  }

  /** Ends all runs, commands and tasks, including those in the background. Must be called at the end. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("This session is closed."));
    this.#tools.refuseCalls();
    await this.#background.stopAll();
    if (this.#hasBegun) await this.#tools.hooks?.at("session_end", new AbortController().signal);
    for (const part of [this.#tools, this.#recording, this.#home]) await part.close().catch(() => {});
  }
}
