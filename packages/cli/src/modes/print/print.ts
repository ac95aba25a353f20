import type { AgentEvent, PartListUnion, Session } from "@burin/core";
import { openSession } from "@burin/core/internal";
import type { RunStatus } from "@burin/core/sessions";
import { buildSessionOptions, type CommonOptions, openSettings } from "../../request/options.ts";
import type { Io, PrintedRun } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { formatNote, type Output } from "../../terminal/output.ts";
import type { Prompt, PromptInput } from "./prompt-input.ts";
import { addEvent, createDocument, type RunDocument } from "./run-document.ts";

const EXIT_OF: Record<RunStatus, ExitCode> = {
  success: EXIT.done,
  error: EXIT.failed,
  refused: EXIT.refused,
  limit: EXIT.limit,
  cancelled: EXIT.interrupted,
};

/** Runs prompts one after the other without a screen. Returns the exit code of the first one that did not succeed. */
export async function runPrint(input: PromptInput, options: CommonOptions, io: Io): Promise<ExitCode> {
  // Load the code for models while the settings are read.
  const loading = import("./find-model.ts");
  const { settings, isTrusted, notices } = await openSettings(options);
  const reportNotice = async (message: string) => {
    const notice = { type: "notice" as const, message };
    const report = await openReport(options, io.output);
    if (report === null) io.output.out(`${JSON.stringify(notice)}\n`);
    else report.reportEvent(notice);
  };
  for (const message of notices) await reportNotice(message);
  const { openModel, notice } = await (await loading).createModelOpener(settings);
  if (notice !== null) await reportNotice(notice);
  const session = openSession({
    ...buildSessionOptions(options, { settings, isTrusted }),
    openModel,
    record: options.session.kind !== "unrecorded",
    park: options.park,
    awaitsServers: true,
    awaitsAnswers: options.asksOnStdin,
    tools: await listAskingTools(options),
    ...(options.session.kind === "resume"
      ? await (await import("./resume-session.ts")).resumeFromOptions(options)
      : {}),
    ...(await loadAnswerSchema(options)),
  });
  const { permissions, tools, hooks } = settings;
  if ([...Object.values(permissions), tools.include, tools.exclude, hooks].some(({ length }) => length > 0)) {
    const { noteNotices, listRuleNotices } = await import("../../terminal/notes.ts");
    noteNotices(await listRuleNotices({ settings, options }, session.registry), io.output);
  }
  const documents: RunDocument[] = [];
  if (io.progress) io.progress.run = { document: createDocument(session.id), session, isOver: false };
  const variables = Object.keys(process.env).join();
  const isObserved = settings.telemetry.endpoint !== undefined || /\bOTEL_\w+_ENDPOINT\b/.test(variables);
  const told = new Set<string>();
  const isStream = options.outputFormat === "stream-json";
  const follow = isStream ? printEvents : isObserved ? reportUnprintedNotices : null;
  const printed = follow?.(session, io.output, told);
  try {
    for await (const prompt of input.prompts(session)) {
      const document = await runPrompt(prompt, session, { options, io, told });
      documents.push(document);
      if (io.signal.aborted || document.error?.type === "parked") break;
    }
  } finally {
    await session.close();
    await printed;
  }
  const isKept = options.session.kind !== "unrecorded";
  const isRecorded = isKept && documents.every(({ error }) => error?.type !== "not_recorded");
  if (options.outputFormat === "text" && !options.isQuiet && isRecorded) {
    io.output.note(io.output.styled("dim", `session ${session.id}, go on with: burin -r ${session.id}`));
  }
  const failed = documents.find(({ status }) => status !== "success");
  if (failed !== undefined) return EXIT_OF[failed.status];
  if (io.signal.aborted) return EXIT.interrupted;
  return input.hasFault ? EXIT.usage : EXIT.done;
}

interface Face {
  readonly options: CommonOptions;
  readonly io: Io;
  /** The notices that runs have already printed. */
  readonly told: Set<string>;
}

async function runPrompt(
  { text: prompt, files = [], piped = "", signal: own, onBegun }: Prompt,
  session: Session,
  face: Face,
): Promise<RunDocument> {
  const { options, io, told } = face;
  const document = createDocument(session.id);
  const startedAt = process.uptime();
  const here: PrintedRun = { document, session, isOver: false };
  if (io.progress) io.progress.run = here;
  const signal = own ? AbortSignal.any([io.signal, own]) : io.signal;
  if (prompt?.startsWith("/")) await checkCommand(prompt, session, face);
  let said: PartListUnion | null = prompt && prompt + piped;
  if (prompt?.includes("@")) {
    const { expandMentions } = await import("../../commands/at-files.ts");
    const printFault = (fault: string) => io.output.note(formatNote(fault));
    said = await expandMentions(prompt, { session, tell: printFault, piped }, signal);
  }
  const report = await openReport(options, io.output);
  const parts = said === null || files.length === 0 ? said : [said, files].flat();
  for await (const event of parts === null ? session.goOn(signal) : session.run(parts, signal)) {
    if (here.isOver) return document;
    if (event.type === "text" && event.role === "user") onBegun?.();
    addEvent(document, event);
    report?.reportEvent(event);
    if (event.type === "notice") told.add(event.message);
  }
  document.durationMs = Math.round((process.uptime() - startedAt) * 1000);
  if (report !== null) await report.end(document);
  else if (document.error) io.output.note(formatNote(document.error.message));
  return document;
}

/** Reports a `/name` that is neither a command nor a path and means nothing to a model. Later prompts still run. */
async function checkCommand(prompt: string, session: Session, { options, io }: Face): Promise<void> {
  const { findSlashFault, parseSlashName } = await import("../../commands/slash-commands.ts");
  const unknown = findSlashFault(prompt, await session.customCommands());
  if (unknown === null) return;
  const fault = (await findAppFault(parseSlashName(prompt) ?? "")) ?? unknown;
  if (!options.isStreamInput) throw new UsageError(fault);
  io.output.note(formatNote(fault));
}

/** Explains that a `/name` is a command of the app, or another agent's name for one; undefined if it is neither. */
async function findAppFault(name: string): Promise<string | undefined> {
  const command = (await import("../../commands/screen-commands.ts")).findCommand(name);
  if (command === undefined) return undefined;
  const known = command === name ? "" : `, which calls it /${command}`;
  return `/${name} belongs to the app${known}: start burin and type it there. To send it as text, put a space before it.`;
}

async function loadAnswerSchema({ jsonSchemaFile: file }: CommonOptions) {
  return file === undefined ? {} : (await import("./answer-schema.ts")).readAnswerSchema(file);
}

/** Returns null for stream-json, which prints every event as it is. */
async function openReport(options: CommonOptions, output: Output) {
  if (options.outputFormat === "stream-json") return null;
  const { TextReport } = await import("./text-report.ts");
  return new TextReport(options, output);
}

/** The events that come before the first prompt. */
const BEFORE_PROMPT = new Set<AgentEvent["type"]>(["session", "mode", "notice", "context"]);

/** Prints every event, one per line. Holds the first ones back until the session that they name can be resumed. */
async function printEvents(session: Session, output: Output): Promise<void> {
  let held: string | null = "";
  for await (const { event } of session.events()) {
    const line = `${JSON.stringify(event)}\n`;
    if (held === null) output.out(line);
    else {
      held += line;
      if (BEFORE_PROMPT.has(event.type)) continue;
      // The run itself reports a log that cannot be written.
      await session.recorded().catch(() => {});
      output.out(held);
      held = null;
    }
  }
  output.out(held ?? "");
}

/** Prints the notices that no run has printed, such as those about telemetry. */
async function reportUnprintedNotices(
  session: Session,
  output: Output,
  told: ReadonlySet<string>,
): Promise<void> {
  const messages: string[] = [];
  for await (const { event } of session.events()) if (event.type === "notice") messages.push(event.message);
  for (const message of messages) if (!told.has(message)) output.note(formatNote(message));
}

/** Returns the tool that lets the model ask the user, if somebody can answer. */
async function listAskingTools({ park, asksOnStdin }: CommonOptions) {
  return park || asksOnStdin ? [new (await import("./ask-user.ts")).AskUser()] : [];
}
