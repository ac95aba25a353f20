import { basename, join } from "node:path";
import type { AnsweredCall } from "@burin/core";
import {
  changeHomeFile,
  changeSettings,
  describeError,
  type ImportedSession,
  loadSettings,
  makeFolders,
  openGrants,
  writeSession,
} from "@burin/core/internal";
import { convertCall } from "./foreign-rules.ts";
import {
  type Conversation,
  Found,
  type FoundRule,
  type FoundSession,
  type Step,
  toFields,
  toList,
} from "./found.ts";

export interface OfferedSession extends FoundSession {
  /** The session's id in the other agent. */
  readonly of: string;
  /** The real path of its folder. */
  readonly root: string;
  readonly prompt: string;
  /** The time of its last message. */
  readonly at: string;
  readonly isKnown: boolean;
}

export interface Offer {
  readonly from: string;
  /** The agent's name for users, and its folder. */
  readonly name: string;
  readonly folder: string;
  readonly found: Found;
  readonly sessions: readonly OfferedSession[];
}

export interface ImportOptions {
  readonly home: string;
  readonly root: string;
  /** Sessions of all folders are wanted. */
  readonly isAll: boolean;
  readonly withProject: boolean;
  readonly isApplied: boolean;
}

/**
 * Adds what was found to the user's data without replacing anything; without `isApplied`, only checks. Returns what
 * was, or would be, added and what was not.
 */
export async function applyImport(offer: Offer, { home, root, isApplied }: ImportOptions): Promise<Offer> {
  const { found, name } = offer;
  if (isApplied) makeFolders(home);
  // Load only the user's own settings: there is no project in this folder.
  const { settings } = await loadSettings({ home, root: home });
  const taken = new Found();
  taken.left.push(...found.left);
  const takeOver: Write = async (what, work, keep) => {
    try {
      if (isApplied) await work();
      keep();
    } catch (error) {
      taken.failed.push({ what, why: describeError(error) });
    }
  };
  const file = join(home, "settings.json");
  for (const key of ["allow", "ask", "deny"] as const) {
    const present = settings.permissions[key];
    const isNewUserRule = ({ rule, isOfProject }: FoundRule) => !isOfProject && !present.includes(rule);
    const added = found.rules.filter((one) => one.list === key && isNewUserRule(one));
    const all = [...new Set([...present, ...added.map(({ rule }) => rule)])];
    const add = async () => added.length > 0 && changeSettings(file, ["permissions", key], all);
    await takeOver(`permissions.${key}`, add, () => taken.rules.push(...added));
  }
  const granted = found.rules.filter(({ isOfProject }) => isOfProject);
  const rules = granted.map(({ rule }) => rule);
  const storeGrants = async () => rules.length > 0 && (await openGrants(home)).add(rules, root);
  await takeOver("rules of this folder", storeGrants, () => taken.rules.push(...granted));
  for (const server of found.servers) {
    const what = `MCP server ${server.alias}`;
    const add = () => changeSettings(file, ["mcpServers", server.alias], server.definition);
    if (settings.mcpServers[server.alias] !== undefined)
      taken.noteLeftOut(what, "your settings have one of that name");
    else await takeOver(what, add, () => taken.servers.push(server));
  }
  for (const setting of found.settings) {
    const what = setting.path.join(".");
    const add = () => changeSettings(file, setting.path, setting.value);
    if (!isSettingUnset(settings, setting.path)) taken.noteLeftOut(what, "your settings say something else");
    else await takeOver(what, add, () => taken.settings.push(setting));
  }
  const words = join(home, basename(settings.context.fileNames[0] ?? "AGENTS.md"));
  for (const memory of found.memories) {
    const add = () => changeHomeFile(words, (before) => appendMemory(before ?? "", memory.text, name));
    await takeOver(memory.file, add, () => taken.memories.push(memory));
  }
  return { ...offer, found: taken, sessions: await importSessions(offer, home, takeOver) };
}

/** Does the work and, if it succeeded, calls `keep` to list the entry as imported. */
type Write = (what: string, work: () => Promise<unknown>, keep: () => void) => Promise<void>;

async function importSessions({ sessions, name }: Offer, home: string, write: Write) {
  const taken: OfferedSession[] = [];
  for (const session of sessions) {
    const { id, of, root, read } = session;
    const add = () => {
      const events = convertEvents(read(), { id, root, from: `session ${of} of ${name}` });
      return writeSession({ home, root, id, events, environment: process.env });
    };
    await write(`session ${id}`, add, () => taken.push(session));
  }
  return taken;
}

function isSettingUnset(settings: object, path: readonly string[]): boolean {
  let value: unknown = settings;
  for (const key of path) value = toFields(value)[key];
  return Array.isArray(value) ? toList(value).length === 0 : toFields(value).name === undefined;
}

/** Appends a text. One that was imported before is not added again. */
function appendMemory(before: string, text: string, agent: string): string {
  const words = text.trim();
  if (words === "" || before.includes(words)) return before;
  const gap = before === "" ? "" : `${before.endsWith("\n") ? "" : "\n"}\n`;
  return `${before}${gap}<!-- from ${agent} -->\n\n${words}\n`;
}

type TimedEvent = ImportedSession["events"] extends Iterable<infer One> ? One : never;
type Event = TimedEvent[1];

interface Origin {
  readonly id: string;
  readonly root: string;
  /** The agent's name and its id for the session, in words. */
  readonly from: string;
}

const MAX_SHOWN = 10_000;
const NO_ANSWER = "The answer to this call was not in the record that this session was taken from.";

/** Converts the conversation to our own events. Every call gets an answer, so that the session can continue. */
function* convertEvents({ model, steps }: Conversation, { id, root, from }: Origin): Generator<TimedEvent> {
  let at = steps.map((step) => step.at).find(isTimestamp) ?? new Date(0).toISOString();
  yield [at, { type: "session", sessionId: id, model, root }];
  yield [at, { type: "notice", message: `Imported from ${from}.` }];
  const open: Open = new Map();
  for (const [index, step] of steps.entries()) {
    if (isTimestamp(step.at)) at = step.at;
    if (step.kind === "user") yield* closeOpenCalls(open, at);
    const event = convertStep(step, open, `imported_${index}`);
    if (event !== null) yield [at, event];
  }
  yield* closeOpenCalls(open, at);
  const last = steps.findLast(({ kind }) => kind === "model");
  yield [at, { type: "done", status: "success", result: last?.kind === "model" ? last.text : "", turns: 0 }];
}

function isTimestamp(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

type ImportedCall = Pick<AnsweredCall, "callId" | "name" | "args" | "description">;
/** The calls that have no answer yet. */
type Open = Map<string, ImportedCall>;

/** Converts a step to an event under a new call id: foreign ids may repeat, and some services reject them. */
function convertStep(step: Step, open: Open, callId: string): Event | null {
  if (step.kind === "call") {
    const asked = convertToolCall(step, callId);
    open.set(step.id, asked);
    return { type: "tool_call", call: { ...asked, status: "validating" } };
  }
  if (step.kind === "answer") {
    const asked = open.get(step.id);
    open.delete(step.id);
    return asked === undefined ? null : { type: "tool_call", call: convertAnswer(asked, step) };
  }
  const { kind: role, text, media = [] } = step;
  return { type: "text", role, text, ...(media.length > 0 ? { media } : {}) };
}

function convertToolCall({ name, args }: Step & { readonly kind: "call" }, callId: string): ImportedCall {
  const own = convertCall(name, args);
  const { command, absolute_path, file_path, pattern, path } = own.args;
  const subject = command ?? absolute_path ?? file_path ?? pattern ?? path;
  return { callId, ...own, description: typeof subject === "string" ? subject.slice(0, 200) : "" };
}

type Answer = Pick<Step & { readonly kind: "answer" }, "text" | "media" | "isError">;

function convertAnswer(asked: ImportedCall, { text, media = [], isError }: Answer): AnsweredCall {
  const llmContent = media.length === 0 ? text : [text, ...media.map((inlineData) => ({ inlineData }))];
  const answer = { ...asked, llmContent, returnDisplay: text.slice(0, MAX_SHOWN) };
  return isError
    ? { ...answer, status: "error", error: { type: "tool_failed", message: text } }
    : { ...answer, status: "success" };
}

function* closeOpenCalls(open: Open, at: string): Generator<TimedEvent> {
  for (const asked of open.values())
    yield [at, { type: "tool_call", call: convertAnswer(asked, { text: NO_ANSWER, isError: true }) }];
  open.clear();
}
