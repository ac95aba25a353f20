import { constants } from "node:fs";
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, type AnsweredCall, createToolbox, defineTool, type Tool } from "@burin/core";
import {
  type ForkOptions,
  findSession,
  forkSession,
  openSession,
  type RecordedSession,
  readRecordedSession,
  runUndoInCopy,
} from "@burin/core/internal";
import { type ChatModel, isAnswered, scriptedModel } from "@burin/core/sessions";
import { type CommonOptions, openSettings, resolveSessionLocation } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { joinLines, visible } from "../terminal/output.ts";
import { createPromptInput } from "./print/prompt-input.ts";

interface Divergence {
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly recorded: string;
  readonly now: string;
}

interface Report {
  readonly id: string;
  calls: number;
  /** How many calls were answered from the recording although --tools was given. */
  fromRecord: number;
  readonly divergences: Divergence[];
}

/** Replays a session without its model, or starts a new session from its beginning. */
export async function run(request: SubcommandRequest, io: Io): Promise<ExitCode> {
  const { words, options, subcommandOptions } = request;
  const [id, ...prompt] = words;
  if (id === undefined) throw new UsageError("name a session: burin replay <id>; see burin sessions list.");
  const { home, root } = resolveSessionLocation(options);
  const place = await findSession(home, root, id);
  if (typeof subcommandOptions.fork === "string")
    return fork({ place, home, root, turn: parseTurn(subcommandOptions.fork) }, prompt.join(" "), {
      options,
      io,
    });
  if (prompt.length > 0)
    throw new UsageError(`burin replay takes one session, and "${prompt[0]}" is a second word.`);
  const recorded = readRecordedSession(place.path);
  const report: Report = { id: place.id, calls: 0, fromRecord: 0, divergences: [] };
  if (subcommandOptions.tools === true)
    await replayInCopy({ recorded, id: place.id, home }, report, { options, io });
  else
    await playRecorded(recorded, report, {
      io,
      answer: async (_name, _args, recordedAnswer) => recordedAnswer,
    });
  return reportResult(report, options, io);
}

function parseTurn(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UsageError(`--fork takes the number of a turn (burin sessions show), not "${text}".`);
}

interface Surroundings {
  readonly options: CommonOptions;
  readonly io: Io;
}

async function fork(request: ForkOptions, prompt: string, { options, io }: Surroundings): Promise<ExitCode> {
  const id = await forkSession(request);
  if (prompt === "" && options.model === undefined) {
    io.output.out(`${id}\n`);
    io.output.note(`burin: to continue it: burin -r ${id}`);
    return EXIT.done;
  }
  const { runPrint } = await import("./print/print.ts");
  const session = { kind: "resume" as const, id, isFork: false };
  return runPrint(createPromptInput(prompt === "" ? null : prompt), { ...options, session }, io);
}

/** Copies the folder and restores in the copy what the session found there, as far as undo can. */
async function replayInCopy(
  { recorded, id, home }: { recorded: RecordedSession; id: string; home: string },
  report: Report,
  { options, io }: Surroundings,
): Promise<void> {
  const { root } = recorded;
  const { settings } = await openSettings(options);
  const copy = await realpath(await mkdtemp(join(tmpdir(), "burin-replay-")));
  try {
    await cp(root, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
    for (const { file, reason } of await runUndoInCopy({ home, root, session: id }, copy)) {
      io.output.note(`burin: ${visible(`${file} is not as the session found it: ${reason}`)}`);
    }
    const toolbox = createToolbox({ root: copy, settings, approvalMode: "yolo" });
    const answerCall: Answer = async (name, args, recordedAnswer) => {
      const tool = toolbox.registry.getTool(name);
      if (!shouldRunAgain(tool, recordedAnswer)) {
        report.fromRecord += 1;
        return recordedAnswer;
      }
      const answered = await toolbox.run(name, replacePaths({ ...args }, root, copy), { signal: io.signal });
      return replacePaths(answered, copy, root);
    };
    await playRecorded(recorded, report, { io, answer: answerCall }).finally(() => toolbox.close());
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Whether a replay runs this call again. Calls that did not run or that reach beyond the folder are not. */
function shouldRunAgain(tool: Tool | undefined, { status, error }: AnsweredCall): boolean {
  if (tool === undefined || tool.kind === "fetch" || tool.kind === "plan" || tool.name === "save_memory")
    return false;
  if (status === "success") return true;
  return status !== "cancelled" && !NEVER_RAN.has(error.type);
}

const NEVER_RAN = new Set("denied needs_approval not_run may_have_run interrupted not_recorded".split(" "));

/** Replaces one path with another in all strings of the value. */
function replacePaths<T>(value: T, from: string, to: string): T {
  return JSON.parse(
    JSON.stringify(value).replaceAll(JSON.stringify(from).slice(1, -1), JSON.stringify(to).slice(1, -1)),
  );
}

type Answer = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  recorded: AnsweredCall,
) => Promise<AnsweredCall>;

/** Runs the real agent with all its checks. Only the model's replies and the tools' results come from the recording. */
async function playRecorded(
  recorded: RecordedSession,
  report: Report,
  { io, answer }: { readonly io: Io; readonly answer: Answer },
): Promise<void> {
  let replies = scriptedModel([]);
  const model: ChatModel = { name: "recorded", stream: (...asked) => replies.stream(...asked) };
  const names = new Set([...recorded.answers.values()].map(({ call }) => call.name));
  const root = await mkdtemp(join(tmpdir(), "burin-replay-"));
  try {
    const session = openSession({
      root,
      model,
      tools: [...names].map((name) => createReplayTool(name, recorded, answer)),
      settings: { model: { contextWindow: 1e9 }, tools: { exclude: [...names], editCorrection: false } },
      approvalMode: "yolo",
      environment: { ...process.env, BURIN_HOME: root },
      maxTurns: 1e6,
    });
    for (const prompt of recorded.prompts) {
      replies = scriptedModel(prompt.replies);
      for await (const event of session.run(prompt.text, io.signal))
        compareWithRecord(event, recorded, report);
    }
    await session.close();
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Replaces one of the session's tools under the same name. */
function createReplayTool(name: string, { answers }: RecordedSession, answer: Answer): Tool {
  return defineTool<{ callId: string; args: Record<string, unknown> }>({
    name,
    description: "",
    kind: "execute",
    parameterSchema: { type: "object" },
    execute: async ({ callId, args }) => {
      const recorded = answers.get(callId)?.call;
      if (recorded === undefined) throw new Error("The record has no answer to this call.");
      const { llmContent, returnDisplay, ...rest } = await answer(name, args, recorded);
      return { llmContent, returnDisplay, ...("error" in rest ? { error: rest.error } : {}) };
    },
  }) as Tool;
}

function compareWithRecord(event: AgentEvent, recorded: RecordedSession, report: Report): void {
  if (event.type !== "tool_call" || !isAnswered(event.call)) return;
  report.calls += 1;
  const { callId, name } = event.call;
  const known = recorded.answers.get(callId);
  if (known === undefined) return;
  const [before, now] = [formatAnswer(known.call), formatAnswer(event.call)];
  if (before !== now) report.divergences.push({ turn: known.turn, callId, name, recorded: before, now });
}

/** Formats a result for comparison. Masks times, because they differ each time. */
function formatAnswer({ status, llmContent }: AnsweredCall): string {
  const text = typeof llmContent === "string" ? llmContent : JSON.stringify(llmContent);
  return `${status}: ${text.replace(/^Time: .*$/gm, "Time: -")}`;
}

function reportResult(report: Report, { outputFormat }: CommonOptions, { output }: Io): ExitCode {
  const { id, calls, fromRecord, divergences } = report;
  if (outputFormat !== "text") output.out(`${JSON.stringify(report)}\n`);
  else {
    for (const { turn, name, callId, recorded, now } of divergences) {
      const [was, is] = findDifference(recorded, now);
      output.out(joinLines(`turn ${turn}  ${name} (${callId})`, `  recorded  ${was}`, `  now       ${is}`));
    }
    const kept = fromRecord > 0 ? `, ${fromRecord} of them answered from the record` : "";
    output.out(`session ${id}: ${calls} calls${kept}, ${divergences.length} with a different result\n`);
  }
  return divergences.length > 0 ? EXIT.failed : EXIT.done;
}

function findDifference(one: string, other: string): [string, string] {
  const [before, after] = [one.split("\n"), other.split("\n")];
  const at = before.findIndex((line, index) => line !== after[index]);
  const place = at === -1 ? before.length : at;
  return [before[place] ?? "(no further line)", after[place] ?? "(no further line)"];
}
