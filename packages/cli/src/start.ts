import { chooseModel, SessionError, SettingsError, WorkspaceError } from "@burin/core";
import { type Request, readArgs } from "./args.ts";
import { closeSession, documentSoFar, runPrint } from "./modes/print/print.ts";
import { onePrompt, type PromptInput } from "./modes/print/prompt-input.ts";
import { type CommonOptions, openSettings } from "./request/options.ts";
import type { Io, SubcommandRequest } from "./request/subcommand.ts";
import { SUBCOMMANDS } from "./subcommands.ts";
import { EXIT, type ExitCode, UsageError } from "./terminal/exit-code.ts";
import { leave, type Output, terminalOutput, visible } from "./terminal/output.ts";
import { readStdin } from "./terminal/read-stdin.ts";
import { interruptSignal } from "./terminal/signals.ts";

declare const BURIN_VERSION: string;

/** How long the end of a session may take after what should not happen. */
const MOST_CLOSING_MS = 3000;
const MOST_MESSAGE_CHARACTERS = 1000;

/** Runs one command line to its end and leaves with its exit code. */
export async function start(argv: readonly string[]): Promise<void> {
  const output = terminalOutput(argv.includes("--no-color"));
  // What is thrown where nobody waits for it is a failure like any other, and a script hears of it.
  process.once("uncaughtException", (error) => {
    // One is enough to be told; what follows from it is not.
    process.on("uncaughtException", () => {});
    const code = reportFailure(error, argv, output);
    setTimeout(leave, MOST_CLOSING_MS, code);
    closeSession().then(
      () => leave(code),
      () => leave(code),
    );
  });
  let code: ExitCode;
  try {
    code = await run(readArgs(argv), output);
  } catch (error) {
    code = reportFailure(error, argv, output);
  }
  leave(code);
}

async function run(request: Request, output: Output): Promise<ExitCode> {
  const io = { output, signal: interruptSignal() };
  switch (request.mode) {
    case "help":
      output.out((await import("./help.ts")).helpText(request.topic));
      return EXIT.done;
    case "version":
      output.out(`${BURIN_VERSION}\n`);
      return EXIT.done;
    case "subcommand":
      return runSubcommand(request.name, request.request, io);
    case "prompt":
      return runPrompt(request, io);
  }
}

async function runSubcommand(name: string, request: SubcommandRequest, io: Io): Promise<ExitCode> {
  const subcommand = SUBCOMMANDS[name];
  if (subcommand === undefined) throw new UsageError(`there is no burin ${name}. See burin --help.`);
  return (await subcommand.load())(request, io);
}

async function runPrompt(
  { prompt, firstWord, isPrint, options }: Extract<Request, { mode: "prompt" }>,
  io: Io,
): Promise<ExitCode> {
  if (!isPrint && /^[a-z-]+$/i.test(firstWord)) {
    (await import("./help.ts")).assertNoMistypedCommand(firstWord);
  }
  if (options.isStreamInput) return runPrint(await streamInput(prompt, options, io), options, io);
  const isTakenUp = options.session.kind === "take-up";
  const piped = await readStdin(prompt !== "" || isTakenUp);
  const text = [prompt, piped].filter((part) => part.trim() !== "").join("\n\n");
  if (text !== "") return runPrint(onePrompt(text), options, io);
  if (isTakenUp) return runPrint(onePrompt(null), options, io);
  if (isPrint) throw new UsageError('there is no prompt: burin -p "what does this project do?"');
  const { settings } = await openSettings(options);
  if (chooseModel(settings.model, process.env) === null)
    return runSubcommand("demo", { words: [], options, own: {} }, io);
  throw new UsageError('there is no screen yet; give a prompt: burin -p "what does this project do?"');
}

async function streamInput(first: string, options: CommonOptions, io: Io): Promise<PromptInput> {
  const { StreamInput } = await import("./modes/print/stream-input.ts");
  return new StreamInput(first, options, io);
}

/** The output format of a command line that may be none. */
function formatIn(argv: readonly string[]): string | undefined {
  const at = argv.findLastIndex((word) => /^--output-format(=|$)/.test(word));
  if (at === -1) return argv.includes("--json") ? "json" : undefined;
  return argv[at]?.split("=")[1] ?? argv[at + 1];
}

/** What a person can put right is said in one message; a script that asked for JSON gets a document. */
function reportFailure(error: unknown, argv: readonly string[], output: Output): ExitCode {
  const message = messageIn(error);
  const isTheirs =
    error instanceof UsageError ||
    error instanceof SettingsError ||
    error instanceof SessionError ||
    error instanceof WorkspaceError;
  const format = formatIn(argv);
  const type = error instanceof SettingsError ? "settings" : isTheirs ? "usage" : "internal";
  const end = { status: "error" as const, result: "", error: { type, message } };
  const { sessionId, turns, ...soFar } = documentSoFar();
  if (format === "stream-json") output.out(`${JSON.stringify({ type: "done", ...end, turns })}\n`);
  // A document that is out already is the one that was asked for.
  if (format === "json" && !output.hasResult) {
    const isPrompt = !Object.hasOwn(SUBCOMMANDS, argv[0] ?? "");
    output.out(`${JSON.stringify(isPrompt ? { sessionId, ...soFar, ...end, turns } : { ...end, turns })}\n`);
  }
  output.note(`burin: ${visible(message)}${isTheirs ? "" : INTERNAL_HINT}`);
  return isTheirs ? EXIT.usage : EXIT.failed;
}

const INTERNAL_HINT = "\n(This should not have happened. burin doctor looks for what may be wrong here.)";

function messageIn(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  return message.length > MOST_MESSAGE_CHARACTERS
    ? `${message.slice(0, MOST_MESSAGE_CHARACTERS)}...`
    : message;
}
