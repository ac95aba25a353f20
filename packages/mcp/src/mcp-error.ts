import { describeError } from "@burin/contract/text/error-message";
import { findInnermostError } from "@burin/net/connection-fault";

/** Why a server did not do what was requested. The codes are stable, because programs use them. */
export type McpErrorCode =
  | "mcp_unavailable"
  | "mcp_needs_login"
  | "mcp_connection_lost"
  | "mcp_timeout"
  | "mcp_tool_changed"
  | "mcp_failed";

/** A failure of a server, with a message for the model and the user. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: McpErrorCode;
  /** Lines in the server's own words. The model gets them between marks. */
  readonly foreign: readonly string[];

  constructor(
    code: McpErrorCode,
    message: string,
    { foreign = [], cause }: { readonly foreign?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.foreign = foreign;
  }
}

export function createUnavailableError(message: string): McpError {
  return new McpError("mcp_unavailable", message);
}

export function createNeedsLoginError(alias: string): McpError {
  const message = `The MCP server "${alias}" requires a login. Run: burin mcp login ${alias}`;
  return new McpError("mcp_needs_login", message);
}

/** The message for a result that breaks the protocol. The SDK's own message would be a list of its checks. */
export const PROTOCOL_VIOLATION = "its answer is not one of the protocol";

/** Returns why a request failed. A connection error itself only says that it failed; the reason is its cause. */
export function describeReason(error: unknown): string {
  const { code, message } = findInnermostError(error);
  const [, status] = /^SSE error: .+ status code \((\d+)\)$/.exec(message) ?? [];
  if (status !== undefined) return `it answered HTTP ${status}: check the URL`;
  const [, failure, host] = /^getaddrinfo (ENOTFOUND|EAI_AGAIN) (\S+)/.exec(message) ?? [];
  if (failure === "ENOTFOUND") return `there is no host "${host}": check the URL`;
  if (failure !== undefined) return `the host "${host}" could not be looked up: is this machine online?`;
  if (code === "EPIPE" || code === "CONNECTION_CLOSED") return "it has ended";
  if (code === "INVALID_RESULT") return PROTOCOL_VIOLATION;
  const hint = /^spawn .+ .+ ENOENT$/s.test(message) ? '; its arguments belong in "args"' : "";
  return describeError(message) + hint;
}

/** Patterns of an error line, clearest first. The last clear one counts (a trace), the first weak one (a report). */
const SIGNS = [
  /(?:^|[\s[(])(?:[\w.]*(?:Error|Exception)(?: \[\w+\])?|error|fatal|panic)\]?: ?\S/i,
  /\b(?:not found|no such|cannot|can't|could not|unable|denied|refused|required|missing|failed|invalid|usage)\b/i,
] as const;
/** Lines that do not explain a failure: stack traces, and what runtimes and package managers add to every failure. */
export const BESIDE: readonly (readonly [start: RegExp, example: string])[] = [
  [/^\s*at /, "    at main (file:///srv/server.mjs:3:9)"],
  [/^\s*\^+\s*$/, "      ^^^^"],
  [/^\s*[}\])]+,?;?\s*$/, "});"],
  [/^\s*File "/, '  File "/srv/server.py", line 3, in <module>'],
  [/^\s*Node\.js v\d/, "Node.js v24.11.0"],
  [/^\s*node:internal/, "node:internal/modules/cjs/loader:1215"],
  [/^\s*(?:npm (?:error|ERR!) )?A complete log/, "npm error A complete log of this run can be found in: /x"],
  [/^\s*(?:Note that you|throw )/, "throw err;"],
  [/^\s*goroutine \d/, "goroutine 1 [running]:"],
  [/^\s*Traceback /, "Traceback (most recent call last):"],
  [/^\s*(?:stack backtrace|note: run with)/, "note: run with `RUST_BACKTRACE=1` environment variable"],
];

/** Returns the one line of a program's last output that says why it failed; empty if it wrote nothing. */
export function findTellingLine(output: string): string {
  const lines = output.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const telling = lines.filter((line) => !BESIDE.some(([start]) => start.test(line)));
  const [plain, weak] = SIGNS;
  const line =
    telling.findLast((one) => plain.test(one)) ??
    telling.find((one) => weak.test(one)) ??
    telling.at(-1) ??
    lines.at(-1);
  return shortenLine(line?.trim() ?? "");
}

const LONGEST_LINE = 300;

function shortenLine(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line;
}
