import type { HttpRequest } from "@burin/machine/http/http-request";

export interface SearchQuestion {
  readonly query: string;
  readonly most: number;
}

/** Where a service is reached, and as whom. */
export interface SearchAccess {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Empty where none is needed. */
  readonly key: string;
  /** Only Google: which of its search engines. */
  readonly engineId: string;
}

export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** As the service says it. */
  readonly date?: string;
}

/** What one search service lays down. */
export interface SearchService {
  readonly baseUrl?: string;
  /** The variable that usually holds its key. */
  readonly keyVariable?: string;
  readonly needsEngineId?: boolean;
  request(question: SearchQuestion, access: SearchAccess): HttpRequest;
  /** Each result as far as it has what is asked of it; the answer may be anything. */
  results(answer: unknown): readonly FoundPage[];
  /** What an HTTP status means at this service, where that is special. */
  adviceFor?(status: number): string | undefined;
}

/** A field of an answer whose shape nobody promises. */
export function field(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

export function textField(value: unknown, key: string): string {
  const found = field(value, key);
  return typeof found === "string" ? found : "";
}

export function listField(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = field(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function jsonRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: object,
): HttpRequest {
  return {
    url: new URL(url),
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: [Buffer.from(JSON.stringify(body))],
  };
}

export function queryRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): HttpRequest {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return { url: target, method: "GET", headers };
}
