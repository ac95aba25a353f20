import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { ANSWER_LOST } from "./http-transport.ts";

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

const REFUSED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/**
 * Whether an error says that the connection is gone: `unsent` when the server cannot have taken the request,
 * `unknown` when it may have, null when the connection still stands.
 */
export function lossOf(error: unknown): "unsent" | "unknown" | null {
  // A server that has forgotten the session takes no request of it.
  if (error instanceof SdkHttpError) return error.status === 404 ? "unsent" : null;
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.NotConnected || error.code === SdkErrorCode.SendFailed) return "unsent";
    return error.code === SdkErrorCode.ConnectionClosed ? "unknown" : null;
  }
  if (error instanceof ProtocolError && error.code === ANSWER_LOST) return "unknown";
  const code = systemCode(error);
  if (code === null) return null;
  return REFUSED.has(code) ? "unsent" : "unknown";
}

function systemCode(error: unknown): string | null {
  for (let one = error; one instanceof Error; one = one.cause) {
    if ("code" in one && typeof one.code === "string" && /^E[A-Z]/.test(one.code)) return one.code;
  }
  return null;
}
