import type { Decision, Question } from "@burin/core";
import {
  findSession,
  listSessionSummaries,
  parseAnswers,
  removeSession,
  type SessionFile,
  TurnCount,
} from "@burin/core/internal";
import { findParkedQuestion, type LogRecord, readLog, type SessionSummary } from "@burin/core/sessions";
import { type CommonOptions, resolveSessionLocation } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { formatLocalTime, type Output, printFindings, shortenLine, visible } from "../terminal/output.ts";
import { formatQuestion } from "../terminal/question-text.ts";
import { createPromptInput } from "./print/prompt-input.ts";

const LONGEST_TITLE = 60;

export async function run(
  { words, options, subcommandOptions }: SubcommandRequest,
  io: Io,
): Promise<ExitCode> {
  const [action = "list", ...ids] = words;
  switch (action) {
    case "list":
      if (ids.length > 0) throw new UsageError(`burin sessions list takes no "${ids[0]}".`);
      await list(options, subcommandOptions.all === true, io.output);
      break;
    case "show":
      for (const place of await findSessions(ids, "show", options)) show(place, options, io.output);
      break;
    case "rm":
      for (const place of await findSessions(ids, "rm", options)) {
        await removeSession(place);
        io.output.out(`removed ${place.id}\n`);
      }
      break;
    case "answer":
      return answerParkedQuestion(ids, options, io);
    default:
      throw new UsageError(`there is no burin sessions ${action}; use list, show, answer or rm.`);
  }
  return EXIT.done;
}

/** Answers the question with which a session was parked, then continues the session. */
async function answerParkedQuestion(
  words: readonly string[],
  options: CommonOptions,
  io: Io,
): Promise<ExitCode> {
  const [id, decision, ...rest] = words;
  if (id === undefined || decision === undefined)
    throw new UsageError("say which session and what: burin sessions answer <id> yes|no|always [words]");
  const { home, root } = resolveSessionLocation(options);
  const { path } = await findSession(home, root, id);
  const question = findParkedQuestion(path);
  if (question === null) throw new UsageError(`the session ${id} has no pending question.`);
  const given = buildDecision(question, [decision, ...rest]);
  const session = { kind: "resume" as const, id, isFork: false, answer: given };
  const { runPrint } = await import("./print/print.ts");
  return runPrint(createPromptInput(null), { ...options, session, park: true }, io);
}

/** Builds the decision from the words of the command line. The model's own questions get one answer each, in order. */
function buildDecision({ confirmation }: Question, [word = "", ...rest]: readonly string[]): Decision {
  const asked = confirmation.kind === "form" ? confirmation.questions : undefined;
  if (asked === undefined || word === "no") return parseDecision(word, rest);
  if (rest.length >= asked.length)
    throw new UsageError(
      `the model asks ${asked.length} question(s): answer each with one argument, quoted: '...'`,
    );
  return { outcome: "filled", values: parseAnswers(asked, [word, ...rest]) };
}

function parseDecision(word: string, rest: readonly string[]): Decision {
  if (word === "no")
    return rest.length === 0 ? { outcome: "cancel" } : { outcome: "cancel", reason: rest.join(" ") };
  if (rest.length > 0) throw new UsageError(`only "no" takes more words, not "${rest.join(" ")}".`);
  if (word === "yes") return { outcome: "once" };
  if (word === "always") return { outcome: "always", scope: "project" };
  throw new UsageError(`answer with yes, no or always, not "${word}".`);
}

async function findSessions(
  ids: readonly string[],
  action: string,
  options: CommonOptions,
): Promise<readonly SessionFile[]> {
  if (ids.length === 0)
    throw new UsageError(`name a session: burin sessions ${action} <id>; see burin sessions list.`);
  const { home, root } = resolveSessionLocation(options);
  return Promise.all(ids.map((id) => findSession(home, root, id)));
}

async function list(options: CommonOptions, isAll: boolean, output: Output): Promise<void> {
  const { home, root } = resolveSessionLocation(options);
  const sessions = await listSessionSummaries(home, isAll ? null : root);
  const rows = sessions.map((session) => formatLine(session, isAll));
  printFindings(output, options.outputFormat, { document: sessions, rows });
  if (rows.length === 0 && options.outputFormat === "text")
    output.note(`burin: there is no session of ${isAll ? "any folder" : visible(root)}.`);
}

function formatLine(session: SessionSummary, isAll: boolean): string {
  const { id, changed, name, prompt, holder, root, forkOf, parked } = session;
  const notes = [
    forkOf && `copy of ${forkOf}`,
    holder && `in use by ${holder}`,
    parked && `parked: ${shortenLine(parked.confirmation.title, LONGEST_TITLE)}`,
    isAll && root,
  ].filter(Boolean);
  const title = shortenLine(name ?? prompt ?? "(nothing was asked)", LONGEST_TITLE);
  return `${id}  ${formatLocalTime(changed)}  ${title}${notes.length > 0 ? `  (${notes.join(", ")})` : ""}`;
}

function show({ id, path }: SessionFile, { outputFormat }: CommonOptions, output: Output): void {
  if (outputFormat === "json") {
    const document = { id, path, parked: findParkedQuestion(path), records: [...readLog(path)] };
    output.out(`${JSON.stringify(document)}\n`);
    return;
  }
  const count = new TurnCount();
  let isEmpty = true;
  for (const record of readLog(path)) {
    isEmpty = false;
    if (outputFormat === "stream-json") {
      output.out(`${JSON.stringify(record.event)}\n`);
      continue;
    }
    const { turn, isFirst } = count.countEvent(record.event);
    if (isFirst) output.out(`--- turn ${turn}\n`);
    const text = formatRecord(record);
    if (text !== "") output.out(`${visible(text)}\n`);
  }
  if (isEmpty) output.note(`burin: ${visible(path)} has no record that can be read.`);
  const question = outputFormat === "text" ? findParkedQuestion(path) : null;
  if (question === null) return;
  const isAsked = question.confirmation.kind === "form" && question.confirmation.questions !== undefined;
  const answering = `answer with: burin sessions answer ${id} ${isAsked ? "'…'" : "yes|no|always"}`;
  output.out(`${addLabel("parked", `${formatQuestion(question.confirmation)}\n${answering}`)}\n`);
}

/** Formats one record; returns "" if it is not worth a line. */
export function formatRecord({ at, event }: LogRecord): string {
  const when = `${formatLocalTime(at, 19)} `;
  switch (event.type) {
    case "session":
      return addLabel(when, `session ${event.sessionId} with ${event.model} in ${event.root}`);
    case "text":
      return addLabel(event.role === "user" ? "you" : "model", event.text);
    case "context":
      return addLabel("note", event.text);
    case "thought":
      return event.text === "" ? "" : addLabel("think", event.text);
    case "tool_call":
      return formatCall(event.call);
    case "subagent_call":
      return addLabel(`(${event.agent})`, formatSubagent(event.call));
    case "notice":
    case "input_error":
      return addLabel("note", event.message);
    case "mode":
      return addLabel("mode", event.mode);
    case "model":
      return addLabel("model", event.model);
    case "name":
      return addLabel("name", event.name);
    case "question_answered":
      return addLabel("answer", event.decision?.outcome ?? "none");
    case "done":
      return addLabel(when, `${event.status}${event.error ? `: ${event.error.message}` : ""}`);
    case "compaction":
      return addLabel("short", event.text);
    default:
      return "";
  }
}

function formatSubagent(call: Extract<LogRecord["event"], { type: "subagent_call" }>["call"]): string {
  if (call.status === "executing") return `${call.name} ${JSON.stringify(call.args)}`;
  return `${call.name}: ${call.error?.message ?? "done"}`;
}

type Call = Extract<LogRecord["event"], { type: "tool_call" }>["call"];

function formatCall(call: Call): string {
  switch (call.status) {
    case "validating":
      return addLabel("call", `${call.name} ${JSON.stringify(call.args)}`);
    case "awaiting_approval":
      return addLabel("ask", `${call.confirmation.title} (${call.reason})`);
    case "executing":
      return "";
    default:
      return addLabel(
        call.status === "success" ? "done" : call.status,
        typeof call.llmContent === "string" ? call.llmContent : JSON.stringify(call.llmContent),
      );
  }
}

function addLabel(label: string, text: string): string {
  const [first = "", ...rest] = text.trimEnd().split("\n");
  return [`${label.padEnd(9)} ${first}`, ...rest.map((line) => `${" ".repeat(10)}${line}`)].join("\n");
}
