import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { httpRequest, startOfText } from "@burin/machine/http/http-request";

export interface LocalServerPort {
  readonly name: string;
  readonly port: number;
}

export interface LocalServer {
  readonly name: string;
  readonly baseUrl: string;
  /** The first models that it offers; it may offer none yet. */
  readonly models: readonly string[];
}

const WELL_KNOWN_PORTS: readonly LocalServerPort[] = [
  { name: "Ollama", port: 11434 },
  { name: "LM Studio", port: 1234 },
  { name: "llama.cpp", port: 8080 },
  { name: "vLLM", port: 8000 },
];
const MOST_WAIT_MS = 300;
const MOST_MODELS = 5;
const MOST_ANSWER_BYTES = 1024 * 1024;

/**
 * The model servers that listen on this machine, in the order of the list. Any program may use these ports,
 * so only one that answers like a model server counts. Never fails; what does not answer at once is not there.
 */
export async function findLocalServers(
  signal: AbortSignal,
  ports: readonly LocalServerPort[] = WELL_KNOWN_PORTS,
): Promise<LocalServer[]> {
  const found = await Promise.all(ports.map((place) => askForModels(place, signal)));
  return found.filter((server) => server !== undefined);
}

async function askForModels(place: LocalServerPort, signal: AbortSignal): Promise<LocalServer | undefined> {
  const baseUrl = `http://127.0.0.1:${place.port}/v1`;
  const limit = new AbortController();
  const stop = (): void => limit.abort();
  const timer = setTimeout(stop, MOST_WAIT_MS);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const url = new URL(`${baseUrl}/models`);
    const { status, body } = await httpRequest({ url, method: "GET", headers: {} }, limit.signal);
    const models = modelIds(parseJson(await startOfText(body, MOST_ANSWER_BYTES)));
    return status === 200 && models ? { name: place.name, baseUrl, models } : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function modelIds(answer: unknown): string[] | undefined {
  if (!isRecord(answer)) return undefined;
  // Ollama without a single model answers null in place of an empty list.
  const data = answer.data === null && answer.object === "list" ? [] : answer.data;
  if (!Array.isArray(data)) return undefined;
  const ids = data.map((model: unknown) => (isRecord(model) && typeof model.id === "string" ? model.id : ""));
  return ids.filter((id) => id !== "" && !/\p{Cc}/u.test(id)).slice(0, MOST_MODELS);
}
