import { fileURLToPath } from "node:url";
import {
  type AgentContext,
  type AvailableCommand,
  type ClientCapabilities,
  type ContentBlock,
  type CreateElicitationRequest,
  methods,
  RequestError,
  type RequestPermissionRequest,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import type { AgentEvent, ApprovalMode, Decision, Part, Question, Session } from "@burin/core";
import { describeError, listModes, type Settings, withFallback } from "@burin/core/internal";
import { describeAskedCall, listChoices, readDecision } from "./permission.ts";
import { createMessageChunk, SessionUpdates } from "./session-updates.ts";

type RunEnd = Extract<AgentEvent, { type: "done" }>;
type Form = Extract<Question["confirmation"], { kind: "form" }>;

const MODE_TEXTS: Readonly<Record<ApprovalMode, string>> = {
  plan: "Looks and plans; changes nothing.",
  default: "Asks before it changes files or runs commands.",
  "auto-edit": "Changes files without asking.",
  auto: "Asks only for what leaves the project or cannot be undone.",
  yolo: "Runs everything without asking.",
};
const OWN_COMMANDS: readonly AvailableCommand[] = [
  {
    name: "compact",
    description: "Replace the conversation so far by a summary.",
    input: { hint: "what the summary should keep" },
  },
];
const NOT_SHORTER_TEXT = "The conversation stays as it is: a summary would not be shorter.";
/** Separates attachments from the user's own text. */
const ATTACHMENTS_HEADING = "\n\nWhat the editor has attached:\n\n";

export function createInvalidError(message: string): RequestError {
  return RequestError.invalidParams(undefined, message);
}

/** The connection and settings of an editor's session. */
export interface EditorConnection {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly settings: Settings;
  readonly root: string;
}

/** One session of an editor: prompts and answers go in, updates and questions go out. */
export class EditorSession {
  readonly id: string;
  readonly #session: Session;
  readonly #editor: EditorConnection;
  readonly #updates: SessionUpdates;
  /** The controllers that abort prompts: running ones, and those that wait for their turn. */
  readonly #stops = new Set<AbortController>();
  #model: string;

  constructor(session: Session, editor: EditorConnection, model: string) {
    this.id = session.id;
    this.#session = session;
    this.#editor = editor;
    this.#model = model;
    const getTool = (name: string) => session.registry.getTool(name);
    const showsNotices = editor.capabilities.session?.notices !== undefined;
    const showsTerminals = editor.capabilities._meta?.terminal_output === true;
    const showsUsage = Boolean(editor.capabilities.session);
    const shows = { showsNotices, showsTerminals, showsUsage };
    this.#updates = new SessionUpdates({ root: editor.root, findTool: getTool, ...shows });
    void this.#followSession();
  }

  get #modes() {
    return listModes(this.#editor.settings.managed);
  }

  /** The options that the editor displays beside the conversation and lets its user change. */
  get state() {
    const availableModes = this.#modes.map((id) => ({ id, name: id, description: MODE_TEXTS[id] }));
    const modes: SessionModeState = { currentModeId: this.#session.approvalMode, availableModes };
    return { modes, configOptions: this.configOptions };
  }

  /** The models named in the settings. The service may have others, but only these are known to be wanted. */
  get configOptions(): SessionConfigOption[] {
    const { models, model } = this.#editor.settings;
    const named = [this.#model, ...Object.keys(models), ...(model.small ? [model.small] : [])];
    const options = [...new Set(named)].map((value) => ({ value, name: value }));
    return [
      { type: "select", id: "model", name: "Model", category: "model", currentValue: this.#model, options },
    ];
  }

  setMode(modeId: string): void {
    const mode = this.#modes.find((one) => one === modeId);
    if (mode === undefined) throw createInvalidError(`the modes are ${this.#modes.join(", ")}`);
    this.#session.approvalMode = mode;
  }

  setModel(name: string | boolean): void {
    if (typeof name !== "string" || name.trim() === "")
      throw createInvalidError("a model must be chosen by its name");
    this.#session.useModel(name);
    this.#model = name;
  }

  /** Sends the available `/` commands, once they are known. */
  async announceCommands(): Promise<void> {
    const input = { hint: "words" };
    const availableCommands = [...OWN_COMMANDS];
    const own = await this.#session.customCommands();
    availableCommands.push(...own.map(({ name, description }) => ({ name, description, input })));
    await this.#sendUpdate({ sessionUpdate: "available_commands_update", availableCommands });
    const prompts = await this.#session.mcp.prompts();
    if (prompts.length === 0) return;
    for (const { server, name, description } of prompts)
      availableCommands.push({ name: `${server}:${name}`, description, input });
    await this.#sendUpdate({ sessionUpdate: "available_commands_update", availableCommands });
  }

  /** Replays the earlier events in order, except the modes of earlier processes, because this process has its own. */
  async replay(events: Iterable<AgentEvent>): Promise<void> {
    for (const event of events) if (event.type !== "mode") await this.#send(event);
  }

  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const parts = buildPromptParts(blocks);
    if (parts.every(({ text }) => text?.trim() === "")) throw createInvalidError("the prompt is empty");
    const stop = new AbortController();
    this.#stops.add(stop);
    try {
      const all = AbortSignal.any([stop.signal, signal]);
      const asked = /^\s*\/compact(?:\s+([\s\S]*))?$/.exec(parts[0]?.text ?? "");
      return await (asked === null ? this.#run(parts, all) : this.#compactHistory(all, asked[1]));
    } finally {
      this.#stops.delete(stop);
    }
  }

  async #run(prompt: Part[], signal: AbortSignal): Promise<StopReason> {
    let end: RunEnd | null = null;
    for await (const event of this.#session.run(prompt, signal)) {
      if (event.type === "done") end = event;
      // Skip these: the editor has already shown its user's prompt, and mode changes are sent elsewhere.
      else if (event.type !== "mode" && (event.type !== "text" || event.role !== "user"))
        await this.#send(event);
    }
    return this.#stopReason(end);
  }

  async #stopReason(end: RunEnd | null): Promise<StopReason> {
    if (end === null || end.status === "cancelled") return "cancelled";
    if (end.status === "error") throw RequestError.internalError(undefined, end.error?.message);
    if (end.status === "success") return end.cut ? "max_tokens" : "end_turn";
    if (end.error !== undefined)
      await this.#sendUpdate(createMessageChunk("agent_message_chunk", `\n\n${end.error.message}`));
    return end.status === "limit" ? "max_turn_requests" : "end_turn";
  }

  async #compactHistory(signal: AbortSignal, wish?: string): Promise<StopReason> {
    try {
      const { tokens, window, isSummarized } = await this.#session.compact(signal, wish);
      if (!isSummarized && !signal.aborted)
        await this.#sendUpdate(createMessageChunk("agent_message_chunk", NOT_SHORTER_TEXT));
      await this.#send({ type: "context_fill", tokens, window });
      return "end_turn";
    } catch (error) {
      if (signal.aborted) return "cancelled";
      throw RequestError.internalError(undefined, describeError(error));
    }
  }

  cancel(): void {
    for (const stop of this.#stops) stop.abort();
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#session.close();
  }

  /** Modes change and questions come up between prompts, too. Each question is answered by its id. */
  async #followSession(): Promise<void> {
    const open = new Map<string, AbortController>();
    for await (const { event } of this.#session.events()) {
      if (event.type === "mode") await this.#send(event);
      if (event.type === "question_answered") open.get(event.id)?.abort();
      if (event.type !== "question") continue;
      const withdrawn = new AbortController();
      open.set(event.id, withdrawn);
      void this.#askForDecision(event, withdrawn.signal)
        .catch(() => null)
        .then((decision) => {
          open.delete(event.id);
          this.#session.answer(event.id, decision);
        });
    }
  }

  async #askForDecision(question: Question, cancellationSignal: AbortSignal): Promise<Decision | null> {
    const { client, root } = this.#editor;
    const { confirmation } = question;
    if (confirmation.kind === "form") return this.#askForm(confirmation, cancellationSignal);
    const choices = listChoices(question);
    const options = choices.map(({ decision: _, ...option }) => option);
    const toolCall = describeAskedCall(question, root);
    const asked: RequestPermissionRequest = { sessionId: this.id, toolCall, options };
    const { requestPermission } = methods.client.session;
    const { outcome } = await client.request(requestPermission, asked, { cancellationSignal });
    return readDecision(choices, outcome);
  }

  /** Asks the form of an MCP server through the editor; null if the editor does not support forms. */
  async #askForm(
    { title, server, message, schema, questions }: Form,
    signal: AbortSignal,
  ): Promise<Decision | null> {
    const { client, capabilities } = this.#editor;
    if (!capabilities.elicitation?.form) return null;
    const told = { message: questions ? title : `${server}: ${message}`, requestedSchema: schema };
    const asked = { mode: "form", sessionId: this.id, ...told } as CreateElicitationRequest;
    const { create } = methods.client.elicitation;
    const answer = await client.request(create, asked, { cancellationSignal: signal });
    if (answer.action !== "accept") return { outcome: "cancel" };
    return { outcome: "filled", values: (answer as { content?: Record<string, unknown> }).content ?? {} };
  }

  async #send(event: AgentEvent): Promise<void> {
    for (const update of this.#updates.listUpdates(event)) await this.#sendUpdate(update);
  }

  /** Ignores a closed connection, because closing it also ends the session. */
  async #sendUpdate(update: SessionUpdate): Promise<void> {
    await this.#editor.client
      .notify(methods.client.session.update, { sessionId: this.id, update })
      .catch(() => {});
  }
}

/** A prompt for the model: files by their paths, attachments after the text, images and documents as media. */
function buildPromptParts(blocks: readonly ContentBlock[]): Part[] {
  const attached: string[] = [];
  const media: Part[] = [];
  const words: string[] = [];
  for (const block of blocks) {
    if (block.type === "text") words.push(block.text);
    else if (block.type === "resource_link") words.push(readFileName(block.uri));
    else if (block.type !== "resource") media.push(buildMediaPart(block.mimeType, block.data));
    else if ("text" in block.resource) {
      const name = readFileName(block.resource.uri);
      words.push(name);
      attached.push(`--- ${name} ---\n${block.resource.text}`);
    } else media.push(buildMediaPart(block.resource.mimeType, block.resource.blob));
  }
  const text = words.join("") + (attached.length === 0 ? "" : ATTACHMENTS_HEADING + attached.join("\n\n"));
  return [{ text }, ...media];
}

function readFileName(uri: string): string {
  return withFallback(uri, () => fileURLToPath(uri));
}

function buildMediaPart(mimeType: string | null | undefined, data: string): Part {
  return { inlineData: { mimeType: mimeType ?? "application/octet-stream", data } };
}
