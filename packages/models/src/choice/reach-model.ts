import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { findInnermostError } from "@burin/net/connection-fault";
import { readTextStart, sendHttpRequest } from "@burin/net/http-request";
import { resolveAccess } from "../protocols/endpoint.ts";
import { type ModelChoice, PROTOCOLS } from "./open-model.ts";

/** A service's answer when asked for its models: a status with their names, or the reason for no answer. */
export type ReachResult =
  | { readonly status: number; readonly models?: readonly string[] }
  | { readonly fault: string };

export interface LocalServerPort {
  readonly name: string;
  readonly port: number;
}

export interface LocalServer {
  readonly name: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const WELL_KNOWN_PORTS: readonly LocalServerPort[] = [
  { name: "Ollama", port: 11434 },
  { name: "LM Studio", port: 1234 },
  { name: "llama.cpp", port: 8080 },
  { name: "vLLM", port: 8000 },
];
const MAX_WAIT_MS = 10_000;
const MAX_LOCAL_WAIT_MS = 300;
const MAX_LOCAL_MODELS = 5;
const MAX_ANSWER_BYTES = 1_500_000;

/** Asks the service for its models, using the key. This costs nothing. Never rejects. */
export async function reachModel(
  choice: ModelChoice,
  signal: AbortSignal,
  waitMs = MAX_WAIT_MS,
): Promise<ReachResult> {
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  try {
    const protocol = await PROTOCOLS[choice.provider]();
    const url = new URL(choice.baseUrl.trim());
    url.pathname = `${protocol.root(url.pathname.replace(/\/+$/, ""))}/models`;
    const access = await resolveAccess(protocol, choice);
    const asked = { ...access, url, method: "GET" } as const;
    const headers = { ...access.headers, ...access.sign?.(asked) };
    const { status, body } = await sendHttpRequest({ ...asked, headers }, inTime);
    const models = readModelIds(parseJson(await readTextStart(body, MAX_ANSWER_BYTES)));
    return { status, ...(models ? { models } : {}) };
  } catch (error) {
    if (inTime.aborted) return { fault: `it did not answer in ${waitMs / 1000} seconds` };
    return { fault: await describeReachFault(error, choice.baseUrl.trim()) };
  }
}

/**
 * Describes a failure in the same words as after a prompt. An error without a code is not from the network, and says
 * what to do.
 */
async function describeReachFault(error: unknown, baseUrl: string): Promise<string> {
  const { code, message } = findInnermostError(error);
  if (code === "" || !URL.canParse(baseUrl)) return message;
  const { createConnectionFailure } = await import("../failures/service-failure.ts");
  return createConnectionFailure(error, new URL(baseUrl)).message;
}

/**
 * Returns the local model servers, in the order of the ports. Any program may use these ports, so only one that answers
 * like a model server counts.
 */
export async function findLocalServers(
  signal: AbortSignal,
  ports: readonly LocalServerPort[] = WELL_KNOWN_PORTS,
): Promise<LocalServer[]> {
  const found = await Promise.all(
    ports.map(async ({ name, port }): Promise<LocalServer[]> => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      const choice: ModelChoice = { provider: "openai", name: "", baseUrl };
      const reached = await reachModel(choice, signal, MAX_LOCAL_WAIT_MS);
      if ("fault" in reached || reached.status !== 200 || !reached.models) return [];
      return [{ name, baseUrl, models: reached.models.slice(0, MAX_LOCAL_MODELS) }];
    }),
  );
  return found.flat();
}

/** Returns the names from a list of models, in any of the formats that services use. */
function readModelIds(answer: unknown): string[] | undefined {
  // Ollama returns null instead of an empty list if it has no models.
  const isEmpty = isRecord(answer) && answer.data === null && answer.object === "list";
  const list = isEmpty ? [] : isRecord(answer) ? (answer.data ?? answer.models) : answer;
  if (!Array.isArray(list) || (list === answer && list.length === 0)) return undefined;
  const ids = list.map((model: unknown) => (isRecord(model) ? (model.id ?? model.name) : undefined));
  return ids
    .filter((id) => typeof id === "string" && id !== "" && !/\p{Cc}/u.test(id))
    .map((id) => String(id).replace(/^models\//, ""));
}
