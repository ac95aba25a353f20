import { describeError, SettingsError } from "@burin/core/internal";
import { WorkspaceError } from "@burin/core/machine";
import { SessionError } from "@burin/core/sessions";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { type Output, visible } from "./output.ts";

const MAX_MESSAGE_CHARACTERS = 1000;
const THEIRS = [UsageError, SettingsError, SessionError, WorkspaceError] as const;
const INTERNAL_HINT = "\n(This should not have happened. Run burin doctor to check this machine.)";

interface Failed {
  readonly argv: readonly string[];
  readonly output: Output;
  /** The JSON result of the run so far; null if the command line does not ask for one. */
  readonly soFar: object | null;
}

/** Reports an error; one that the user can fix, without a stack. A script that asked for JSON also gets a JSON result. */
export function reportFailure(error: unknown, { argv, output, soFar }: Failed): ExitCode {
  const message = readMessage(error);
  const isTheirs = THEIRS.some((kind) => error instanceof kind);
  // A full disk or a missing permission is not Burin's fault, wherever it occurs.
  const isOfSystem = error instanceof Error && "syscall" in error;
  const format = findFormat(argv);
  const other = isOfSystem ? "system" : "internal";
  const type = error instanceof SettingsError ? "settings" : isTheirs ? "usage" : other;
  const end = { status: "error", result: "", error: { type, message } };
  if (format === "stream-json") output.out(`${JSON.stringify({ type: "done", turns: 0, ...end })}\n`);
  // Print one JSON result only: if the run has already printed its result, that is the answer.
  if (format === "json" && !output.hasResult) {
    output.out(`${JSON.stringify({ ...(soFar ?? { turns: 0 }), ...end })}\n`);
  }
  output.note(`burin: ${visible(message)}${isTheirs || isOfSystem ? "" : INTERNAL_HINT}`);
  return isTheirs ? EXIT.usage : EXIT.failed;
}

/** Finds the output format in a command line that may be invalid. */
function findFormat(argv: readonly string[]): string | undefined {
  const at = argv.findLastIndex((word) => /^--output-format(=|$)/.test(word));
  if (at === -1) return argv.includes("--json") ? "json" : undefined;
  return argv[at]?.split("=")[1] ?? argv[at + 1];
}

function readMessage(error: unknown): string {
  const path = error instanceof Error && "path" in error ? `${error.path}: ` : "";
  const message = error instanceof Error && error.message === "" ? error.name : path + describeError(error);
  return message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}...` : message;
}
