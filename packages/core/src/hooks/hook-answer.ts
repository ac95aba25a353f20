import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";

/** What a hook has said about a call, or about the moment that it was told of. */
export interface HookAnswer {
  readonly decision?: "allow" | "ask" | "deny";
  readonly reason?: string;
  /** Other arguments for the call. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** For the model to know. */
  readonly context?: string;
}

/** How the command of a hook has ended. */
export interface HookEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  /** Why it has no exit code, in words. */
  readonly fault: string | null;
}

const DECISIONS = ["allow", "ask", "deny"] as const;
/** With this exit code a hook forbids the call, and says why on its stderr. */
const FORBIDS = 2;
const MOST_CONTEXT = 10_000;

/** What the end of a hook's command means; a text when it means nothing that could be relied upon. */
export function hookAnswer({ stdout, stderr, exitCode, fault }: HookEnd): HookAnswer | string {
  if (fault !== null) return fault;
  if (exitCode === FORBIDS) return { decision: "deny", reason: lastLines(stderr) || "it gave no reason" };
  if (exitCode !== 0)
    return `it ended with exit code ${exitCode}${stderr.trim() === "" ? "" : `: ${lastLines(stderr)}`}`;
  if (stdout.trim() === "") return {};
  const value = parseJson(stdout);
  if (value === undefined) {
    return "what it printed is not JSON; print nothing, or an object with decision, reason, args or context";
  }
  return isRecord(value) ? answerOf(value) : "what it printed is not a JSON object";
}

function answerOf({
  decision,
  reason,
  args,
  context,
}: Readonly<Record<string, unknown>>): HookAnswer | string {
  const known = DECISIONS.find((one) => one === decision);
  if (decision !== undefined && known === undefined)
    return `its decision must be one of ${DECISIONS.join(", ")}`;
  if (args !== undefined && !isRecord(args)) return "its args must be an object";
  for (const [name, value] of Object.entries({ reason, context })) {
    if (value !== undefined && typeof value !== "string") return `its ${name} must be a text`;
  }
  return {
    ...(known ? { decision: known } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(isRecord(args) ? { args } : {}),
    ...(typeof context === "string" && context.trim() !== ""
      ? { context: context.slice(0, MOST_CONTEXT) }
      : {}),
  };
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-5).join("\n").slice(-1000);
}
