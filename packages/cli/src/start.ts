import { describeError } from "@burin/core/internal";
import { parseCommandLine, type Request } from "./args.ts";
import { runPrint } from "./modes/print/print.ts";
import { createPromptInput } from "./modes/print/prompt-input.ts";
import { createDocument } from "./modes/print/run-document.ts";
import { openSettings } from "./request/options.ts";
import type { Io, Progress } from "./request/subcommand.ts";
import { isSubcommand, SUBCOMMANDS } from "./subcommands.ts";
import { EXIT, type ExitCode, UsageError } from "./terminal/exit-code.ts";
import { createTerminalOutput, exitAfterWrites } from "./terminal/output.ts";
import { readStdin } from "./terminal/read-stdin.ts";
import { interruptSignal } from "./terminal/signals.ts";

declare const BURIN_VERSION: string;

/** The longest time for closing a session after an unexpected error. */
const MAX_CLOSING_MS = 3000;

/** Shown when an update removed files that this running process had not loaded yet. */
const REPLACED =
  "its files were replaced or removed while it ran. Start it again; burin -c continues the session.";

/** Runs one command line and exits with its exit code. */
export async function start(argv: readonly string[]): Promise<void> {
  const output = createTerminalOutput(argv.includes("--no-color"));
  const progress: Progress = { run: null };
  const reportFailure = async (error: unknown): Promise<ExitCode> => {
    const report = await import("./terminal/report-failure.ts").catch((missing: unknown) => {
      // Other system errors, such as too many open files, do not mean that the file is gone.
      const isRefused =
        missing instanceof Error && "syscall" in missing && !missing.message.startsWith("ENOENT");
      output.note(`burin: ${isRefused ? describeError(missing) : REPLACED}`);
    });
    if (!report) return EXIT.failed;
    const isPrompt = !isSubcommand(argv[0] ?? "");
    return report.reportFailure(error, { argv, output, soFar: isPrompt ? closeRunDocument(progress) : null });
  };
  let isUncaught = false;
  // Report an uncaught error like any other failure, to scripts too.
  process.once("uncaughtException", (error) => {
    isUncaught = true;
    // Report only the first error: the others follow from it.
    process.on("uncaughtException", () => {});
    setTimeout(exitAfterWrites, MAX_CLOSING_MS, EXIT.failed);
    // What the session has started ends with it, and its log is written.
    const close = async () => progress.run?.session.close();
    void reportFailure(error).then((code) => close().finally(() => exitAfterWrites(code)));
  });
  const ended = parseCommandLine(argv).then((request) =>
    run(request, { output, signal: interruptSignal(), progress }),
  );
  const code = await ended.catch(reportFailure);
  if (!isUncaught) exitAfterWrites(code);
}

/** The document of the current run so far; the run itself reports nothing more. */
function closeRunDocument({ run }: Progress): object {
  if (run === null) return createDocument(null);
  run.isOver = true;
  return run.document;
}

async function run(request: Request, io: Io): Promise<ExitCode> {
  const { output } = io;
  switch (request.mode) {
    case "help":
      output.out((await import("./help.ts")).formatHelp(request.topic, output.isTerminal));
      return EXIT.done;
    case "version":
      output.out(`${BURIN_VERSION}\n`);
      return EXIT.done;
    case "subcommand":
      return (await SUBCOMMANDS[request.name].load()).run(request.request, io);
    case "prompt":
      return request.options.workTree === undefined
        ? runPrompt(request, io)
        : (await import("./modes/worktrees/in-work-tree.ts")).runInWorkTree(request, io, runPrompt);
  }
}

async function runPrompt(
  { prompt, words, isPrint, options }: Extract<Request, { mode: "prompt" }>,
  io: Io,
): Promise<ExitCode> {
  if (!isPrint && /^[a-z-]+$/i.test(words[0] ?? ""))
    await (await import("./help.ts")).assertNoMistypedCommand(words);
  const isApp = !isPrint && options.outputFormat === "text" && process.stdin.isTTY && process.stdout.isTTY;
  if (options.session.kind === "choose" && (!isApp || options.isStreamInput)) {
    throw new UsageError(
      "-r without an ID lists the sessions only in the app: name one (see burin sessions list), or use -c for the last.",
    );
  }
  if (options.isStreamInput) {
    const { StreamInput } = await import("./modes/print/stream-input.ts");
    return runPrint(new StreamInput(prompt, options, io), options, io);
  }
  const isResumed = options.session.kind === "resume";
  if (isApp) {
    return (await import("./modes/interactive/interactive.ts")).runInteractive(prompt, options, io);
  }
  const piped = await readPiped(prompt !== "" || isResumed);
  const { files } = piped;
  const isBeside = prompt.trim() !== "" && piped.text.trim() !== "";
  const text = isBeside || piped.text.trim() === "" ? prompt : piped.text;
  if (text.trim() !== "" || files.length > 0) {
    const more = { files, ...(isBeside ? { piped: `\n\n${piped.text}` } : {}) };
    return runPrint(createPromptInput(text, more), options, io);
  }
  if (isResumed) return runPrint(createPromptInput(null), options, io);
  const notice = 'there is no prompt: burin -p "what does this project do?"';
  if (isPrint) throw new UsageError(notice);
  const { settings } = await openSettings(options);
  if (!(await import("./modes/print/find-model.ts")).hasModelSettings(settings)) {
    return (await SUBCOMMANDS.demo.load()).run({ words: [], options, subcommandOptions: {} }, io);
  }
  throw new UsageError(notice);
}

/** Reads stdin. Anything that is not plain text is examined. */
async function readPiped(isOptional: boolean) {
  const bytes = await readStdin(isOptional);
  const text = bytes.toString("utf8");
  // The beginning of a PDF may look like text.
  if (!/[\0\ufffd]/.test(text) && !text.startsWith("%PDF-")) return { text, files: [] };
  return (await import("./modes/print/piped-file.ts")).readPipedFile(bytes);
}
