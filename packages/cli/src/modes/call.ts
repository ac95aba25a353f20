import {
  type AnsweredCall,
  type Confirmation,
  createToolbox,
  type Part,
  type PartListUnion,
} from "@burin/core";
import { describeError, readExitCode } from "@burin/core/internal";
import { openSettings } from "../request/options.ts";
import type { Io, SubcommandRequest } from "../request/subcommand.ts";
import { EXIT, type ExitCode, UsageError } from "../terminal/exit-code.ts";
import { listRuleNotices, noteFailures, noteNotices } from "../terminal/notes.ts";
import { type Output, visible } from "../terminal/output.ts";
import { formatQuestion } from "../terminal/question-text.ts";
import { readStdin } from "../terminal/read-stdin.ts";

/** Runs one tool with all its checks, without a model. */
export async function run({ words, options }: SubcommandRequest, io: Io): Promise<ExitCode> {
  const [name, args = "{}", tooMuch] = words;
  if (name === undefined) throw new UsageError(`name a tool: burin call list_directory '{"path":"."}'`);
  if (tooMuch !== undefined) {
    throw new UsageError(
      `burin call takes one JSON object, and "${tooMuch}" is a second word. Quote the JSON: '{...}'`,
    );
  }
  const parsed = parseArguments(args === "-" ? (await readStdin(false)).toString("utf8") : args);
  const { settings, notices } = await openSettings(options);
  noteNotices(notices, io.output);
  const { root, includeDirectories, approvalMode } = options;
  // Skip the check that the file was read before: the user has chosen the file and its content, and no earlier call
  // could have read it.
  const toolbox = createToolbox({
    root,
    includeDirectories,
    settings,
    approvalMode,
    overwriteUnread: true,
    record: options.session.kind !== "unrecorded",
  });
  noteNotices(await listRuleNotices({ settings, options }, toolbox.registry), io.output);
  const answer = await toolbox.run(name, parsed, { signal: io.signal }).finally(() => toolbox.close());
  noteFailures(toolbox.discoveryFailures, io.output);
  if (options.outputFormat === "text") printText(answer, io.output);
  else io.output.out(`${JSON.stringify(buildDocument(answer))}\n`);
  return resolveExitCode(answer);
}

function parseArguments(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (error) {
    throw new UsageError(`the arguments are not valid JSON: ${describeError(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`the arguments must be a JSON object, e.g. '{"path":"."}'`);
  }
  return value as Record<string, unknown>;
}

function findConfirmation(answer: AnsweredCall): Confirmation | undefined {
  return answer.status === "error" ? answer.confirmation : undefined;
}

function buildDocument(answer: AnsweredCall): object {
  const confirmation = findConfirmation(answer);
  return {
    status: confirmation ? "needs_confirmation" : answer.status,
    llmContent: answer.llmContent,
    returnDisplay: answer.returnDisplay,
    ...(answer.status === "success" ? {} : { error: answer.error }),
    ...(confirmation ? { confirmation } : {}),
  };
}

function printText(answer: AnsweredCall, output: Output): void {
  const text = formatReadable(answer.llmContent);
  if (answer.status === "success")
    return void output.content(text.endsWith("\n") || text === "" ? text : `${text}\n`);
  const confirmation = findConfirmation(answer);
  if (confirmation) {
    output.out(`${formatQuestion(confirmation)}\n`);
    const rules = (confirmation.widths?.exact ?? confirmation.grants)
      .map((grant) => ` --allow '${visible(grant)}'`)
      .join("");
    output.note(`burin: ${visible(text)}${rules === "" ? "" : ` To run it: --yes, or${rules}`}`);
    return;
  }
  output.note(`burin: ${visible(text)}`);
}

/** Returns what the model would read. Media are named instead of shown. */
function formatReadable(content: PartListUnion): string {
  const list = Array.isArray(content) ? content : [content];
  return list.map((part) => (typeof part === "string" ? part : formatPart(part))).join("\n");
}

function formatPart(part: Part): string {
  if (part.text !== undefined) return part.text;
  const bytes = Math.floor(((part.inlineData?.data?.length ?? 0) * 3) / 4);
  return `[${part.inlineData?.mimeType ?? "data"}, ${bytes} bytes; use --output-format json to get them]`;
}

function resolveExitCode(answer: AnsweredCall): ExitCode {
  if (answer.status === "success") {
    const hasFailed = answer.name === "run_shell_command" && (readExitCode(answer.llmContent) ?? 0) !== 0;
    return hasFailed ? EXIT.failed : EXIT.done;
  }
  if (answer.status === "cancelled") return EXIT.interrupted;
  return answer.error.type === "needs_approval" || answer.error.type === "denied"
    ? EXIT.refused
    : EXIT.failed;
}
