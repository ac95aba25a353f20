import {
  type AgentEvent,
  type Confirmation,
  chooseModel,
  createSession,
  type RunStatus,
  type Session,
  type SessionOptions,
} from "@burin/core";
import { type CommonOptions, openSettings, sessionOptions } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../../terminal/exit-code.ts";
import { type Output, visible } from "../../terminal/output.ts";
import type { Prompt, PromptInput } from "./prompt-input.ts";

/** Everything a script wants to know of a run, in one document. */
interface RunDocument {
  /** null when it came to no session. */
  sessionId: string | null;
  status: RunStatus;
  result: string;
  /** The value of the result, with --json-schema. */
  structured?: unknown;
  error?: { type: string; message: string };
  /** The question that the run was parked with. */
  confirmation?: Confirmation;
  turns: number;
  toolCalls: { name: string; status: string }[];
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number };
}

const EXIT_OF: Record<RunStatus, ExitCode> = {
  success: EXIT.done,
  error: EXIT.failed,
  refused: EXIT.refused,
  limit: EXIT.limit,
  cancelled: EXIT.interrupted,
};

/** Runs prompts without a screen, one after the other. The exit code is that of the first one which was not done. */
export async function runPrint(input: PromptInput, options: CommonOptions, io: Io): Promise<ExitCode> {
  const { settings, isTrusted, notices } = await openSettings(options);
  for (const message of notices) await report({ type: "notice", message }, options, io.output);
  if (chooseModel(settings.model, process.env) === null) {
    const { howToConnect } = await import("./how-to-connect.ts");
    throw new UsageError(await howToConnect());
  }
  const session = createSession({
    ...sessionOptions(options, { settings, isTrusted }),
    record: options.session.kind !== "unrecorded",
    park: options.park,
    awaitsServers: true,
    ...(options.asksOnStdin && input.confirm ? { confirm: input.confirm } : {}),
    ...(options.session.kind === "take-up" ? await takenUp(options) : {}),
    ...(options.jsonSchemaFile === undefined ? {} : await boundTo(options.jsonSchemaFile)),
  });
  const documents: RunDocument[] = [];
  try {
    for await (const prompt of input.prompts(session)) {
      const document = await runPrompt(prompt, session, { options, io });
      documents.push(document);
      if (io.signal.aborted || document.error?.type === "parked") break;
    }
  } finally {
    await session.close();
  }
  if (options.outputFormat === "text" && options.session.kind !== "unrecorded") {
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
}

async function runPrompt(
  { text: prompt, signal: own, onBegun }: Prompt,
  session: Session,
  { options, io }: Face,
): Promise<RunDocument> {
  const document = newDocument(session.id);
  const signal = own ? AbortSignal.any([io.signal, own]) : io.signal;
  if (prompt?.startsWith("/")) await checkCommand(prompt, session, { options, io });
  const text = prompt?.includes("@") ? await withFiles(prompt, session, { options, io }) : prompt;
  for await (const event of text === null ? session.goOn(signal) : session.run(text, signal)) {
    if (event.type === "text" && event.role === "user") onBegun?.();
    fold(document, event);
    await report(event, options, io.output);
  }
  await finish(document, options, io.output);
  return document;
}

async function withFiles(prompt: string, session: Session, { options, io }: Face): Promise<string> {
  const { withMentions } = await import("../../commands/at-files.ts");
  const tell = (fault: string) => io.output.note(`burin: ${visible(fault)}`);
  const folders = [options.root, ...options.includeDirectories] as const;
  return withMentions(prompt, { session, folders, tell }, io.signal);
}

/** `/name` that is neither a command nor a path: no model knows what was meant. Further prompts go on. */
async function checkCommand(prompt: string, session: Session, { options, io }: Face): Promise<void> {
  const { slashFault } = await import("../../commands/slash-commands.ts");
  const fault = slashFault(prompt, await session.customCommands());
  if (fault === null) return;
  if (!options.isStreamInput) throw new UsageError(fault);
  io.output.note(`burin: ${visible(fault)}`);
}

/** The document of a run in which nothing has happened yet. */
export function newDocument(sessionId: string | null): RunDocument {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return { sessionId, status: "error", result: "", turns: 0, toolCalls: [], usage };
}

async function takenUp(options: CommonOptions): Promise<Pick<SessionOptions, "resume" | "answer">> {
  const { takeUp } = await import("./take-up.ts");
  return takeUp(options);
}

async function boundTo(file: string): Promise<Pick<SessionOptions, "answerSchema">> {
  const { readAnswerSchema } = await import("./answer-schema.ts");
  return { answerSchema: await readAnswerSchema(file) };
}

function fold(document: RunDocument, event: AgentEvent): void {
  if (event.type === "usage") {
    document.usage.inputTokens += event.usage.inputTokens;
    document.usage.outputTokens += event.usage.outputTokens;
    document.usage.cachedTokens += event.usage.cachedTokens;
  }
  if (event.type === "tool_call") {
    const { name, status } = event.call;
    if (status === "success" || status === "error" || status === "cancelled") {
      document.toolCalls.push({ name, status });
    }
  }
  if (event.type === "done") {
    document.status = event.status;
    document.result = event.result;
    document.turns = event.turns;
    if (event.error) document.error = event.error;
    if (event.confirmation) document.confirmation = event.confirmation;
    if (event.structured !== undefined) document.structured = event.structured;
  }
}

async function report(event: AgentEvent, options: CommonOptions, output: Output): Promise<void> {
  if (options.outputFormat === "stream-json") {
    output.out(`${JSON.stringify(event)}\n`);
    return;
  }
  if (event.type === "notice") output.note(`burin: ${visible(event.message)}`);
  if (event.type !== "tool_call") return;
  const { call } = event;
  if (call.status === "executing" && call.display === undefined) {
    output.note(output.styled("dim", `> ${visible(call.description)}`));
  }
  if (call.status === "success" && options.outputFormat === "text") {
    const { displayText } = await import("../../terminal/display-text.ts");
    const text = displayText(call.returnDisplay);
    if (text !== "") output.note(output.styled("dim", text));
  }
  if (call.status === "error" || call.status === "cancelled") {
    output.note(output.styled("dim", `! ${visible(call.error.message)}`));
  }
}

async function finish(document: RunDocument, { outputFormat }: CommonOptions, output: Output): Promise<void> {
  if (outputFormat === "json") {
    output.out(`${JSON.stringify(document)}\n`);
    return;
  }
  if (outputFormat === "text" && document.result !== "")
    output.content(`${document.result.replace(/\n$/, "")}\n`);
  if (outputFormat === "text" && document.confirmation) {
    const { questionText } = await import("../../terminal/question-text.ts");
    output.note(questionText(document.confirmation));
  }
  if (document.error) output.note(`burin: ${visible(document.error.message)}`);
}
