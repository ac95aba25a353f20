import { parseJson } from "@burin/contract/messages/untrusted-json";
import type { WebSearchSettings } from "@burin/contract/settings/settings";
import type { HttpRequest } from "@burin/net/http-request";
import { WebError } from "@burin/net/web-error";
import { exchangeRequest, runWithTimeLimit } from "../exchange.ts";
import {
  type FoundPage,
  listDistinctPages,
  readFoundPage,
  readListField,
  readTextField,
} from "./found-pages.ts";
import { readSearchTool } from "./mcp-search.ts";
import { SEARCH_SERVICES, type SearchQuestion, type SearchService } from "./search-services.ts";

const LIMITS = { totalMs: 30_000, silenceMs: 15_000, maxBytes: 4 * 1024 * 1024 };
const MAX_DETAIL_CHARACTERS = 300;

type Environment = Readonly<Record<string, string | undefined>>;

/** Searches with the configured service. Throws a WebError that says what to do and never contains the key. */
export async function searchWeb(
  question: SearchQuestion,
  { settings, environment }: { readonly settings: WebSearchSettings; readonly environment: Environment },
  signal: AbortSignal,
): Promise<readonly FoundPage[]> {
  const access = resolveAccess(settings, environment);
  const { service, key } = access;
  const hideKey = (text: string) => (key === "" ? text : text.replaceAll(key, "[the key]"));
  try {
    const request = { ...buildRequest(question, access), environment };
    const asked = { who: `The search service at ${request.url.host}`, limits: LIMITS };
    const { status, bytes } = await runWithTimeLimit(
      asked,
      (stop) => exchangeRequest(request, asked, stop),
      signal,
    );
    const text = bytes.toString("utf8");
    if (status < 200 || status > 299) throw createRefusedError({ status, text }, service, settings);
    const found = parseJson(text);
    if (found === undefined)
      throw new WebError("bad_answer", `The search service (${settings.provider}) sent no JSON.`);
    const pages = listDistinctPages(
      readListField(found, ...service.results).map(readFoundPage),
      question.max,
    );
    const silent = readListField(found, "unresponsive_engines").map((engine) => [engine].flat().join(": "));
    if (pages.length === 0 && silent.length > 0)
      throw new WebError("http_error", `Nothing was found: no answer from ${silent.join(", ")}.`);
    return pages.map((page) => ({
      ...page,
      title: hideKey(page.title),
      url: hideKey(page.url),
      snippet: hideKey(page.snippet),
    }));
  } catch (error) {
    if (error instanceof WebError) throw new WebError(error.type, hideKey(error.message));
    throw error;
  }
}

/** Returns what is missing for the service to be used, and what to do; null if nothing is missing. Sends no request. */
export function findSearchFault(settings: WebSearchSettings, environment: Environment): string | null {
  try {
    if (settings.provider === "mcp") readSearchTool(settings);
    else resolveAccess(settings, environment);
    return null;
  } catch (error) {
    if (error instanceof WebError) return error.message;
    throw error;
  }
}

type ServiceAccess = ReturnType<typeof resolveAccess>;

function resolveAccess(settings: WebSearchSettings, environment: Environment) {
  const { provider, engineId = "" } = settings;
  if (provider === "mcp")
    throw new Error("Bug: a search by an MCP server must not call a search service directly.");
  const service: SearchService = SEARCH_SERVICES[provider];
  const { url = service.baseUrl, apiKeyEnv = service.keyVariable } = settings;
  const key = apiKeyEnv === undefined ? "" : (environment[apiKeyEnv] ?? "").trim();
  const createSetupError = (what: string) =>
    new WebError("not_configured", `The web search with ${provider} is not configured: ${what}.`);
  if (url === undefined || !URL.canParse(url) || !/^https?:/.test(url))
    throw createSetupError("set web.search.url to http://host:port or https://host");
  if (service.keyVariable !== undefined && key === "")
    throw createSetupError(`set the variable ${apiKeyEnv} to its key`);
  if (/[^\x21-\x7e]/.test(key))
    throw createSetupError(`the key in the variable ${apiKeyEnv} has spaces or other invalid characters`);
  if (service.needsEngineId && engineId === "")
    throw createSetupError("set web.search.engineId to the ID of your search engine");
  return { service, baseUrl: url.replace(/\/+$/, ""), key, engineId };
}

function buildRequest(
  question: SearchQuestion,
  { service, baseUrl, key, engineId }: ServiceAccess,
): HttpRequest {
  const { path, keyHeader, isPosted = false } = service;
  const url = new URL(`${baseUrl}${path}`);
  const parameters = service.parameters(question, { key, engineId });
  const credential = keyHeader === "authorization" ? `Bearer ${key}` : key;
  const headers = {
    accept: "application/json",
    "accept-encoding": "gzip",
    ...(keyHeader !== undefined && key !== "" && { [keyHeader]: credential }),
  };
  if (isPosted) {
    const json = { ...headers, "content-type": "application/json" };
    return { url, method: "POST", headers: json, body: [Buffer.from(JSON.stringify(parameters))] };
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return { url, method: "GET", headers };
}

function createRefusedError(
  { status, text }: { readonly status: number; readonly text: string },
  service: SearchService,
  settings: WebSearchSettings,
): WebError {
  const { provider, apiKeyEnv = service.keyVariable } = settings;
  const detail = `${service.advice?.[status] ?? findAdvice(status, apiKeyEnv)} ${readDetail(text)}`.trim();
  const type =
    status === 429 ? "rate_limited" : status === 401 || status === 403 ? "unauthorized" : "http_error";
  return new WebError(type, `The search service (${provider}) answered HTTP ${status}. ${detail}`.trim());
}

function findAdvice(status: number, keyVariable: string | undefined): string {
  if (status === 401 || status === 403)
    return `It rejected the key: check the variable ${keyVariable ?? "that holds it"}.`;
  if ([402, 429, 432, 433].includes(status))
    return "The quota is used up, or there were too many requests in a short time.";
  if (status >= 300 && status < 400) return "It redirects: set web.search.url to its real URL.";
  return "";
}

const DETAILS = ["error", "message", "error.message", "error.detail", "detail", "detail.error"];

function readDetail(text: string): string {
  const json = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  const said =
    DETAILS.map((path) => readTextField(json, ...path.split("."))).find((words) => words !== "") ?? "";
  return said.replace(/[\p{Cc}\s]+/gu, " ").slice(0, MAX_DETAIL_CHARACTERS);
}
