import type { Decision, Question } from "@burin/core";
import {
  answersIn,
  findSession,
  removeSession,
  type SessionPlace,
  sessionSummaries,
  TurnCount,
} from "@burin/core/internal";
import { type LogRecord, parkedQuestion, readLog, type SessionSummary } from "@burin/core/sessions";
import { type CommonOptions, sessionPlace } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { localTime, type Output, report, shortLine, visible } from "../terminal/output.ts";
import { questionText } from "../terminal/question-text.ts";
import { onePrompt } from "./print/prompt-input.ts";

const LONGEST_TITLE = 60;

export async function run({ words, options, own }: SubcommandRequest, io: Io): Promise<ExitCode> {
  const [action = "list", ...ids] = words;
  switch (action) {
    case "list":
      if (ids.length > 0) throw new UsageError(`burin sessions list takes no "${ids[0]}".`);
      await list(options, own.all === true, io.output);
      break;
    case "show":
      for (const place of await named(ids, "show", options)) show(place, options, io.output);
      break;
    case "rm":
      for (const place of await named(ids, "rm", options)) {
        await removeSession(place);
        io.output.out(`removed ${place.id}\n`);
      }
      break;
    case "answer":
      return answer(ids, options, io);
    default:
      throw new UsageError(`there is no burin sessions ${action}; use list, show, answer or rm.`);
  }
  return EXIT.done;
}

/** Answers the question that a session was parked with, and continues the session. */
async function answer(words: readonly string[], options: CommonOptions, io: Io): Promise<ExitCode> {
  const [id, decision, ...rest] = words;
  if (id === undefined || decision === undefined)
    throw new UsageError("say which session and what: burin sessions answer <id> yes|no|always [words]");
  const { home, root } = sessionPlace(options);
  const { path } = await findSession(home, root, id);
  const question = parkedQuestion(path);
  if (question === null) throw new UsageError(`the session ${id} has no pending question.`);
  const given = decisionFor(question, [decision, ...rest]);
  const session = { kind: "resume" as const, id, isFork: false, answer: given };
  const { runPrint } = await import("./print/print.ts");
  return runPrint(onePrompt(null), { ...options, session, park: true }, io);
}

/** Questions of the model are answered in words, one after the other. */
function decisionFor({ confirmation }: Question, [word = "", ...rest]: readonly string[]): Decision {
  const asked = confirmation.kind === "form" ? confirmation.questions : undefined;
  if (asked === undefined || word === "no") return decisionOf(word, rest);
  if (rest.length >= asked.length)
    throw new UsageError(
      `the model asks ${asked.length} question(s): answer each with one argument, quoted: '...'`,
    );
  return { outcome: "filled", values: answersIn(asked, [word, ...rest]) };
}

function decisionOf(word: string, rest: readonly string[]): Decision {
  if (word === "no")
    return rest.length === 0 ? { outcome: "cancel" } : { outcome: "cancel", reason: rest.join(" ") };
  if (rest.length > 0) throw new UsageError(`only "no" takes more words, not "${rest.join(" ")}".`);
  if (word === "yes") return { outcome: "once" };
  if (word === "always") return { outcome: "always", scope: "project" };
  throw new UsageError(`answer with yes, no or always, not "${word}".`);
}

async function named(
  ids: readonly string[],
  action: string,
  options: CommonOptions,
): Promise<readonly SessionPlace[]> {
  if (ids.length === 0)
    throw new UsageError(`name a session: burin sessions ${action} <id>; see burin sessions list.`);
  const { home, root } = sessionPlace(options);
  return Promise.all(ids.map((id) => findSession(home, root, id)));
}

async function list(options: CommonOptions, isAll: boolean, output: Output): Promise<void> {
  const { home, root } = sessionPlace(options);
  const sessions = await sessionSummaries(home, isAll ? null : root);
  const rows = sessions.map((session) => lineOf(session, isAll));
  report(output, options.outputFormat, { document: sessions, rows });
  if (rows.length === 0 && options.outputFormat === "text")
    output.note(`burin: there is no session of ${isAll ? "any folder" : visible(root)}.`);
}

function lineOf(session: SessionSummary, isAll: boolean): string {
  const { id, changed, name, prompt, holder, root, forkOf, parked } = session;
  const notes = [
    forkOf && `copy of ${forkOf}`,
    holder && `in use by ${holder}`,
    parked && `parked: ${shortLine(parked.confirmation.title, LONGEST_TITLE)}`,
    isAll && root,
  ].filter(Boolean);
  const title = shortLine(name ?? prompt ?? "(nothing was asked)", LONGEST_TITLE);
  return `${id}  ${localTime(changed)}  ${title}${notes.length > 0 ? `  (${notes.join(", ")})` : ""}`;
}

function show({ id, path }: SessionPlace, { outputFormat }: CommonOptions, output: Output): void {
  if (outputFormat === "json") {
    const document = { id, path, parked: parkedQuestion(path), records: [...readLog(path)] };
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
    const { turn, isFirst } = count.follow(record.event);
    if (isFirst) output.out(`--- turn ${turn}\n`);
    const text = recordText(record);
    if (text !== "") output.out(`${visible(text)}\n`);
  }
  if (isEmpty) output.note(`burin: ${visible(path)} has no record that can be read.`);
  const question = outputFormat === "text" ? parkedQuestion(path) : null;
  if (question === null) return;
  const isAsked = question.confirmation.kind === "form" && question.confirmation.questions !== undefined;
  const answering = `answer with: burin sessions answer ${id} ${isAsked ? "'…'" : "yes|no|always"}`;
  output.out(`${labelled("parked", `${questionText(question.confirmation)}\n${answering}`)}\n`);
}

/** One record in words; empty if it is not worth a line. */
export function recordText({ at, event }: LogRecord): string {
  const when = `${localTime(at, 19)} `;
  switch (event.type) {
    case "session":
      return labelled(when, `session ${event.sessionId} with ${event.model} in ${event.root}`);
    case "text":
      return labelled(event.role === "user" ? "you" : "model", event.text);
    case "context":
      return labelled("note", event.text);
    case "thought":
      return event.text === "" ? "" : labelled("think", event.text);
    case "tool_call":
      return callText(event.call);
    case "subagent_call":
      return labelled(`(${event.agent})`, subagentText(event.call));
    case "notice":
    case "input_error":
      return labelled("note", event.message);
    case "mode":
      return labelled("mode", event.mode);
    case "model":
      return labelled("model", event.model);
    case "name":
      return labelled("name", event.name);
    case "question_answered":
      return labelled("answer", event.decision?.outcome ?? "none");
    case "done":
      return labelled(when, `${event.status}${event.error ? `: ${event.error.message}` : ""}`);
    case "compaction":
      return labelled("short", event.text);
    default:
      return "";
  }
}

function subagentText(call: Extract<LogRecord["event"], { type: "subagent_call" }>["call"]): string {
  if (call.status === "executing") return `${call.name} ${JSON.stringify(call.args)}`;
  return `${call.name}: ${call.error?.message ?? "done"}`;
}

type Call = Extract<LogRecord["event"], { type: "tool_call" }>["call"];

function callText(call: Call): string {
  switch (call.status) {
    case "validating":
      return labelled("call", `${call.name} ${JSON.stringify(call.args)}`);
    case "awaiting_approval":
      return labelled("ask", `${call.confirmation.title} (${call.reason})`);
    case "executing":
      return "";
    default:
      return labelled(
        call.status === "success" ? "done" : call.status,
        typeof call.llmContent === "string" ? call.llmContent : JSON.stringify(call.llmContent),
      );
  }
}

function labelled(label: string, text: string): string {
  const [first = "", ...rest] = text.trimEnd().split("\n");
  return [`${label.padEnd(9)} ${first}`, ...rest.map((line) => `${" ".repeat(10)}${line}`)].join("\n");
}
