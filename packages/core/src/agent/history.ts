import type { AgentEvent, Compaction } from "@burin/contract/agent-event";
import type { Thought } from "@burin/contract/chat-model";
import type { Message, Part } from "@burin/contract/messages/message";
import { isAnswered, type ToolCall } from "@burin/contract/tool-call";
import { toFunctionResponse } from "../scheduler/function-response.ts";

const CLEARED = "[This old result was removed to save room. Call the tool again if it is needed.]";
/** Separates the user's prompt from Burin's own text before it in the same message. */
const PROMPT_HEADING = "Prompt:\n\n";

interface OwnMessage {
  readonly role: Message["role"];
  readonly parts: Part[];
}

/** The history as a fold over the events in order: a log, or `stream-json`, gives exactly the same history. */
export class History {
  readonly #messages: OwnMessage[] = [];
  /** The calls of the current reply with their answers. null means that the answer has not arrived yet. */
  #answers = new Map<string, readonly Part[] | null>();
  /** Signatures that arrived before their calls. */
  readonly #signatures = new Map<string, string>();
  /** Whether the last addition came from Burin and not from the user, for example a context file or a summary. */
  #isOursLast = false;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  apply(event: AgentEvent): void {
    if (event.type === "text") {
      if (event.text !== "" || !event.media)
        this.#addText(event.role, this.#chooseHeading(event) + event.text);
      for (const inlineData of event.media ?? []) this.#openMessage(event.role).parts.push({ inlineData });
    } else if (event.type === "context") {
      this.#addText("user", event.text);
      this.#isOursLast = true;
    } else if (event.type === "thought") this.#addThought(event);
    else if (event.type === "tool_call") this.#applyCall(event.call);
    else if (event.type === "cleared") this.#clearAnswers(new Set(event.callIds));
    else if (event.type === "compaction") this.#applyCompaction(event);
    else if (event.type === "notice" && event.restart) this.#forgetThoughts();
  }

  /** Returns the heading before a user's text, if Burin's own text precedes it. Depends only on the events. */
  #chooseHeading({ role }: Extract<AgentEvent, { type: "text" }>): string {
    const isBehindOurs = role === "user" && this.#isOursLast && this.#messages.at(-1)?.role === "user";
    this.#isOursLast = false;
    return isBehindOurs ? PROMPT_HEADING : "";
  }

  #addText(role: Message["role"], text: string): void {
    const last = this.#messages.at(-1);
    const part = last?.parts.at(-1);
    if (role === "model" && last?.role === "model" && part?.text !== undefined && !part.thought) {
      part.text += text;
    } else this.#openMessage(role).parts.push({ text });
  }

  #addThought({ text, signature, callId, takesText }: Thought): void {
    if (takesText) this.#takeTextBack();
    if (callId !== undefined) {
      if (signature !== undefined) this.#signatures.set(callId, signature);
      return;
    }
    if (text === "" && signature === undefined) return;
    const { parts } = this.#openMessage("model");
    let part = parts.at(-1);
    if (!part?.thought || part.thoughtSignature !== undefined) {
      part = { text: "", thought: true };
      parts.push(part);
    }
    part.text = `${part.text ?? ""}${text}`;
    if (signature !== undefined) part.thoughtSignature = signature;
  }

  /** Turns the text of the current reply so far into reasoning. */
  #takeTextBack(): void {
    const last = this.#messages.at(-1);
    if (last?.role !== "model") return;
    for (const part of last.parts) if (part.text !== undefined) part.thought = true;
  }

  /** Removes the reasoning of a reply that starts again: it has produced nothing else, so it stands at the end. */
  #forgetThoughts(): void {
    const last = this.#messages.at(-1);
    if (last?.role !== "model") return;
    while (last.parts.at(-1)?.thought) last.parts.pop();
    if (last.parts.length === 0) this.#messages.pop();
  }

  #applyCall(call: ToolCall): void {
    if (!this.#answers.has(call.callId)) {
      this.#answers.set(call.callId, null);
      const functionCall = { id: call.callId, name: call.name, args: call.args };
      const thoughtSignature = this.#signatures.get(call.callId);
      this.#openMessage("model").parts.push(
        thoughtSignature === undefined ? { functionCall } : { functionCall, thoughtSignature },
      );
    }
    if (isAnswered(call)) {
      this.#answers.set(call.callId, toFunctionResponse(call));
      this.#addAnswersIfComplete();
    }
  }

  /** Clears these answers. A changed message becomes a new object, so that no cached measurement applies to it. */
  #clearAnswers(callIds: ReadonlySet<string>): void {
    for (const [index, { role, parts }] of this.#messages.entries()) {
      if (role !== "user") continue;
      const kept = removeAnswers(parts, callIds);
      if (kept !== parts) this.#messages[index] = { role, parts: kept };
    }
  }

  #applyCompaction({ text, kept }: Compaction): void {
    const tail = kept > 0 ? this.#messages.slice(-kept) : [];
    this.#messages.length = 0;
    this.#signatures.clear();
    this.#addText("user", text);
    this.#isOursLast = tail.length === 0;
    for (const { role, parts } of tail) this.#openMessage(role).parts.push(...parts);
  }

  /** Adds the answers together, in the order of the calls, once all have arrived. */
  #addAnswersIfComplete(): void {
    const answers = [...this.#answers.values()];
    if (answers.some((answer) => answer === null)) return;
    this.#openMessage("user").parts.push(...answers.flatMap((answer) => answer ?? []));
    this.#isOursLast = false;
    this.#answers = new Map();
  }

  #openMessage(role: Message["role"]): OwnMessage {
    const last = this.#messages.at(-1);
    if (last?.role === role) return last;
    const message = { role, parts: [] };
    this.#messages.push(message);
    return message;
  }
}

/** Replaces these answers by a note and removes their media. Returns the same list if it contains none of them. */
function removeAnswers(parts: Part[], callIds: ReadonlySet<string>): Part[] {
  if (!parts.some(({ functionResponse }) => callIds.has(functionResponse?.id ?? ""))) return parts;
  const kept: Part[] = [];
  let isCleared = false;
  for (const part of parts) {
    const { functionResponse, text } = part;
    if (functionResponse) {
      isCleared = callIds.has(functionResponse.id ?? "");
      kept.push(
        isCleared ? { functionResponse: { ...functionResponse, response: { output: CLEARED } } } : part,
      );
    } else if (text !== undefined || !isCleared) {
      kept.push(part);
      if (text !== undefined) isCleared = false;
    }
  }
  return kept;
}

/** Makes the history that a model gets from the events of a session. */
export function buildHistory(events: Iterable<AgentEvent>): readonly Message[] {
  const history = new History();
  for (const event of events) history.apply(event);
  return history.messages;
}

export interface Todo {
  readonly content: string;
  readonly status: string;
}

export interface ChangedFile {
  readonly name: string;
  readonly addedLines: number;
  readonly removedLines: number;
  readonly isNew: boolean;
}

const TODO_TOOL = "todo_write";
/** Older prompts than these are left to the summary. */
const MAX_PROMPTS = 40;

/** What must survive every compaction, a fold over the events like the history itself. */
export class WorkRecord {
  readonly prompts: string[] = [];
  /** The real paths of the context files that the model knows. */
  readonly contextFiles = new Set<string>();
  /** The summary in the last compaction; empty when there was none. */
  summary = "";
  readonly #changed = new Map<string, ChangedFile>();
  #todos: readonly Todo[] = [];

  get changedFiles(): readonly ChangedFile[] {
    return [...this.#changed.values()];
  }

  /** The unfinished todos of the latest list; empty when all are done. */
  get openTodos(): readonly Todo[] {
    const isTodoOpen = ({ status }: Todo): boolean => status !== "completed" && status !== "cancelled";
    return this.#todos.some(isTodoOpen) ? this.#todos : [];
  }

  apply(event: AgentEvent): void {
    if (event.type === "text" && event.role === "user") {
      this.prompts.push(event.text);
      if (this.prompts.length > MAX_PROMPTS) this.prompts.shift();
    }
    if (event.type === "context" && event.file !== undefined) this.contextFiles.add(event.file);
    if (event.type === "compaction") this.summary = event.summary;
    if (event.type === "tool_call") this.#applyCall(event.call);
  }

  #applyCall(call: ToolCall): void {
    if (!isAnswered(call) || call.status !== "success") return;
    if (call.name === TODO_TOOL) this.#todos = parseTodos(call.args.todos) ?? this.#todos;
    const display = call.returnDisplay;
    if (typeof display === "string" || display.kind !== "file_diff") return;
    const { fileName: name, addedLines, removedLines, originalContent } = display;
    const before = this.#changed.get(name);
    this.#changed.delete(name);
    this.#changed.set(name, {
      name,
      addedLines: addedLines + (before?.addedLines ?? 0),
      removedLines: removedLines + (before?.removedLines ?? 0),
      isNew: before?.isNew ?? originalContent === null,
    });
  }
}

function parseTodos(value: unknown): Todo[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((item: unknown) => {
    const { id, content, status = "pending" } = (item ?? {}) as Record<string, unknown>;
    if (typeof content !== "string") return [];
    return [{ content: typeof id === "string" ? `${id}: ${content}` : content, status: String(status) }];
  });
}
