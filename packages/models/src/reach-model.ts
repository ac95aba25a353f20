import { httpRequest } from "@burin/machine/http/http-request";
import { innermost } from "@burin/machine/http/innermost-error";
import type { ModelChoice } from "./open-model.ts";

/** What came of asking a service for its models: an HTTP status, or why there is none. */
export type Reached = { readonly status: number } | { readonly fault: string };

const MOST_WAIT_MS = 10_000;

/** Asks the service what models it has, with the key; nothing is paid for that. Never rejects. */
export async function reachModel(choice: ModelChoice, signal: AbortSignal): Promise<Reached> {
  const time = AbortSignal.timeout(MOST_WAIT_MS);
  const leave = new AbortController();
  try {
    const { url, headers } = listing(choice);
    const request = { url: new URL(url), method: "GET", headers } as const;
    const { status } = await httpRequest(request, AbortSignal.any([signal, time, leave.signal]));
    return { status };
  } catch (error) {
    const { code, message } = innermost(error);
    return { fault: time.aborted ? "it did not answer in 10 seconds" : message || code };
  } finally {
    leave.abort();
  }
}

function listing({ provider, baseUrl, apiKey = "" }: ModelChoice) {
  const base = baseUrl.trim().replace(/\/+$/, "");
  switch (provider) {
    case "anthropic":
      return {
        url: /\/v\d+$/.test(base) ? `${base}/models` : `${base}/v1/models`,
        headers: { "anthropic-version": "2023-06-01", ...(apiKey === "" ? {} : { "x-api-key": apiKey }) },
      };
    case "gemini":
      return {
        url: /\/v\d+\w*$/.test(base) ? `${base}/models` : `${base}/v1beta/models`,
        headers: { ...(apiKey === "" ? {} : { "x-goog-api-key": apiKey }) },
      };
    default:
      return {
        url: `${base}/models`,
        headers: { ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }) },
      };
  }
}
