import { parseJson } from "@burin/contract/messages/untrusted-json";
import type { WebSearchSettings } from "@burin/contract/settings/settings";
import { type HttpAnswer, httpRequest } from "@burin/machine/http/http-request";
import { innermost } from "@burin/machine/http/innermost-error";
import { readBody } from "@burin/machine/http/read-body";
import { SilenceWatch } from "@burin/machine/http/silence-watch";
import { WebError } from "@burin/machine/http/web-error";
import { brave } from "./brave.ts";
import { exa } from "./exa.ts";
import { google } from "./google.ts";
import { namedTool } from "./mcp-search.ts";
import {
  type FoundPage,
  field,
  type SearchAccess,
  type SearchQuestion,
  type SearchService,
  textField,
} from "./search-service.ts";
import { searxng } from "./searxng.ts";
import { tavily } from "./tavily.ts";

export type { FoundPage } from "./search-service.ts";

const SERVICES: Readonly<Record<Exclude<WebSearchSettings["provider"], "mcp">, SearchService>> = {
  searxng,
  tavily,
  brave,
  exa,
  google,
};

const TOTAL_MS = 30_000;
const SILENCE_MS = 15_000;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_SNIPPET_CHARACTERS = 700;
const MOST_DETAIL_CHARACTERS = 300;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Asks the service that the settings name. Throws a WebError whose message says what to do, in which the key
 * never stands.
 */
export async function searchWeb(
  question: SearchQuestion,
  { settings, environment }: { readonly settings: WebSearchSettings; readonly environment: Environment },
  signal: AbortSignal,
): Promise<readonly FoundPage[]> {
  const service = serviceOf(settings);
  const access = accessTo(service, settings, environment);
  const withoutKey = (text: string) => (access.key === "" ? text : text.replaceAll(access.key, "[the key]"));
  try {
    const answer = await asked(service.request(question, access), signal);
    if (answer.status < 200 || answer.status > 299) throw refused(answer, service, settings);
    return distinct(service.results(parsed(answer.text, settings)), question.most, withoutKey);
  } catch (error) {
    if (error instanceof WebError) throw new WebError(error.type, withoutKey(error.message));
    throw error;
  }
}

/** What the service lacks before it can be asked, in words that say what to do; null when nothing. Asks nobody. */
export function searchFault(settings: WebSearchSettings, environment: Environment): string | null {
  try {
    if (settings.provider === "mcp") namedTool(settings);
    else accessTo(serviceOf(settings), settings, environment);
    return null;
  } catch (error) {
    if (error instanceof WebError) return error.message;
    throw error;
  }
}

function serviceOf({ provider }: WebSearchSettings): SearchService {
  if (provider === "mcp") throw new Error("A search by an MCP server asks no service by itself.");
  return SERVICES[provider];
}

function accessTo(
  { baseUrl, keyVariable, needsEngineId }: SearchService,
  { provider, url = baseUrl, apiKeyEnv = keyVariable, engineId = "" }: WebSearchSettings,
  environment: Environment,
): SearchAccess {
  const key = apiKeyEnv === undefined ? "" : (environment[apiKeyEnv] ?? "").trim();
  const missing = (what: string) =>
    new WebError("not_configured", `The search by ${provider} lacks ${what}.`);
  if (url === undefined || !URL.canParse(url) || !/^https?:/.test(url)) {
    throw missing("its address: set web.search.url to http://host:port or https://host");
  }
  if (keyVariable !== undefined && key === "") throw missing(`a key: set the variable ${apiKeyEnv}`);
  if (/[^\x21-\x7e]/.test(key))
    throw missing(`a key that is one: what ${apiKeyEnv} holds has blanks or other letters`);
  if (needsEngineId && engineId === "") throw missing("web.search.engineId, the ID of your search engine");
  return { baseUrl: url.replace(/\/+$/, ""), key, engineId };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function asked(request: Parameters<typeof httpRequest>[0], signal: AbortSignal): Promise<Answer> {
  const connection = new AbortController();
  const watch = new SilenceWatch(SILENCE_MS, connection);
  const time = AbortSignal.timeout(TOTAL_MS);
  const headers = { accept: "application/json", "accept-encoding": "gzip", ...request.headers };
  try {
    const stop = AbortSignal.any([signal, connection.signal, time]);
    const answer = await httpRequest({ ...request, headers }, stop);
    return { status: answer.status, text: await textOf(answer, watch) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    const place = request.url.host;
    if (watch.isOver || time.aborted)
      throw new WebError("timeout", `The search service at ${place} did not answer in time.`);
    const { code, message } = innermost(error);
    throw new WebError(
      "unreachable",
      `The search service at ${place} could not be reached: ${message || code}.`,
    );
  } finally {
    watch.stop();
    connection.abort();
  }
}

async function textOf(answer: HttpAnswer, watch: SilenceWatch): Promise<string> {
  const encoding = answer.headers["content-encoding"] ?? "";
  const { bytes } = await readBody(watch.listen(answer.body), encoding, MOST_BYTES);
  return bytes.toString("utf8");
}

function parsed(text: string, { provider }: WebSearchSettings): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new WebError(
    "bad_answer",
    `The search service (${provider}) answered with something that is no JSON.`,
  );
}

function refused({ status, text }: Answer, service: SearchService, settings: WebSearchSettings): WebError {
  const { provider, apiKeyEnv = service.keyVariable } = settings;
  const own = service.adviceFor?.(status);
  const detail = own ?? adviceFor(status, apiKeyEnv) ?? detailOf(text);
  const type =
    status === 429 ? "rate_limited" : status === 401 || status === 403 ? "unauthorized" : "http_error";
  return new WebError(type, `The search service (${provider}) answered HTTP ${status}. ${detail}`.trim());
}

function adviceFor(status: number, keyVariable: string | undefined): string | undefined {
  if (status === 401 || status === 403)
    return `Its key is refused: check the variable ${keyVariable ?? "of its key"}.`;
  if (status === 429 || status === 402 || status === 432)
    return "The quota is used up, or the questions come too fast.";
  if (status >= 300 && status < 400)
    return "It sends on elsewhere: set web.search.url to where it really is.";
  return undefined;
}

function detailOf(text: string): string {
  const json = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  const said =
    textField(json, "error") || textField(json, "message") || textField(field(json, "error"), "message");
  return said.replace(/[\p{Cc}\s]+/gu, " ").slice(0, MOST_DETAIL_CHARACTERS);
}

/** Pages of the web only, each once, with their words as plain lines. */
function distinct(
  found: readonly FoundPage[],
  most: number,
  withoutKey: (text: string) => string,
): FoundPage[] {
  const pages = new Map<string, FoundPage>();
  for (const { title, url, snippet, date = "" } of found) {
    if (pages.size === most) break;
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url) || pages.has(url)) continue;
    const words = plainLine(withoutKey(snippet));
    pages.set(url, {
      title: plainLine(withoutKey(title)) || url,
      url: withoutKey(new URL(url).href),
      snippet:
        words.length > MOST_SNIPPET_CHARACTERS ? `${words.slice(0, MOST_SNIPPET_CHARACTERS)} ...` : words,
      ...(/^\d{4}-\d\d/.test(date) ? { date: date.slice(0, 10) } : {}),
    });
  }
  return [...pages.values()];
}

/** Services mark the words that were found; nothing else in a snippet is a tag. */
function plainLine(text: string): string {
  return text
    .replace(/<\/?(?:strong|b|em|mark|span)\b[^>]{0,200}>/gi, "")
    .replace(/\s+/g, " ")
    .trim();
}
