import {
  choice,
  closedObject,
  integer,
  NON_EMPTY,
  type OptionValue,
  STRING,
  text,
} from "@burin/contract/messages/option";
import { alignToCharacter } from "@burin/contract/text/truncate";
import { wrapWebText } from "@burin/contract/text/untrusted-text";
import { createFailedResult, type PreparedCall, PreparingTool, type ToolResult } from "@burin/contract/tools";
import { randomName } from "@burin/files/disk/own-files";
import type { PageFormat } from "@burin/files/parsing/parse-aside";
import type { ResolveHost } from "@burin/net/guard-host";
import { WebError } from "@burin/net/web-error";
import { findRawFileUrl } from "@burin/web/code-host";
import type { WebLimits } from "@burin/web/fetch-web";
import { PageCache } from "@burin/web/page-cache";
import type { Page } from "@burin/web/read-page";

const PARAMETERS = closedObject(["url"], {
  url: text("The whole URL, with http:// or https://.", NON_EMPTY),
  prompt: text("A question that a model answers from the page, instead of the page."),
  format: choice(
    ["markdown", "text", "html"],
    "markdown (default): the main content; text: its words alone; html: the source.",
    STRING,
  ),
  offset: integer("The character to go on from.", { minimum: 0 }),
});
export type WebFetchParams = OptionValue<typeof PARAMETERS>;

/** Answers a question about a page. Resolves to null if that fails. */
export type AnswerPageQuestion = (
  question: { readonly prompt: string; readonly url: string; readonly text: string },
  signal: AbortSignal,
) => Promise<string | null>;

export interface WebFetchOptions {
  /** Addresses (`host:port`) on this machine or its network that web_fetch may fetch from. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Absent if there is no model. */
  readonly answerFromPage?: AnswerPageQuestion | undefined;
  /** Replaces the system's name lookup. */
  readonly resolve?: ResolveHost;
  readonly limits?: Partial<WebLimits>;
  /** Replaces this process's environment, from which the proxy is read. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

const MAX_CHARACTERS = 50_000;
const MAX_ASKED_CHARACTERS = 100_000;
const MAX_ERROR_CHARACTERS = 2000;

/** The tool `web_fetch`: reads a web page as Markdown. */
export class WebFetch extends PreparingTool<WebFetchParams> {
  readonly name = "web_fetch";
  readonly displayName = "WebFetch";
  readonly kind = "fetch";
  readonly description =
    "Fetches one http(s) URL. HTML comes as Markdown with its links, PDF as text, JSON indented, images are shown. " +
    `At most ${MAX_CHARACTERS} characters at once; read on with offset. A redirect to another host is not followed but named.`;
  readonly parameterSchema = PARAMETERS;
  readonly #options: WebFetchOptions;
  readonly #pages = new PageCache<Page>();

  constructor(options: WebFetchOptions = {}) {
    super();
    this.#options = options;
  }

  ruleSubjects({ url }: WebFetchParams): readonly string[] {
    const hosts = listUrlsToFetch(url).map(({ hostname }) => hostname.replace(/^\[|\]$|\.$/g, ""));
    return [...new Set(hosts)].map((host) => `domain:${host}`);
  }

  getDescription({ url }: WebFetchParams): string {
    return `Fetch ${listUrlsToFetch(url).at(-1)?.href ?? url}`;
  }

  /** If the question names an address on this machine or its network, approval allows it for this one call. */
  async prepare(params: WebFetchParams): Promise<PreparedCall> {
    const urls = listUrlsToFetch(params.url);
    const place = await findPrivateHost(urls.at(-1));
    const host = urls.at(-1)?.host ?? "";
    const question = params.prompt === undefined ? "" : ` A model answers from the page: ${params.prompt}`;
    const title =
      place === null ? `Fetch from ${host}?` : `Fetch from ${place}, on this machine or in its network?`;
    return {
      confirmation: {
        kind: "info",
        title,
        prompt: `${this.getDescription(params)}.${question}`,
        urls: urls.map(({ href }) => href),
        grants: place === null ? this.ruleSubjects(params).map((subject) => `${this.name}(${subject})`) : [],
      },
      run: (approval, signal) => this.#fetch(params, approval && place !== null ? [place] : [], signal),
    };
  }

  protected override checkParams({ url }: WebFetchParams): string | null {
    const right = 'write it as "https://host/path".';
    if (!/^https?:\/\//i.test(url)) return `"url" must begin with http:// or https://, ${right}`;
    if (!URL.canParse(url)) return `"url" is not a valid URL, ${right}`;
    const { username, password } = new URL(url);
    return username === "" && password === ""
      ? null
      : `"url" must not hold a user name or a password, ${right}`;
  }

  async #fetch(params: WebFetchParams, allowed: readonly string[], signal: AbortSignal): Promise<ToolResult> {
    try {
      const page = await this.#fetchPage(params, allowed, signal);
      if (page.status >= 400) return createHttpError(page);
      return params.prompt === undefined
        ? formatPage(page, params.offset ?? 0)
        : await this.#answerPrompt(page, params, signal);
    } catch (error) {
      if (!(error instanceof WebError)) throw error;
      return createFailedResult({ type: error.type, message: error.message });
    }
  }

  async #fetchPage(params: WebFetchParams, allowed: readonly string[], signal: AbortSignal): Promise<Page> {
    const url = listUrlsToFetch(params.url).at(-1) ?? new URL(params.url);
    url.hash = "";
    const format = params.format ?? "markdown";
    const key = `${format} ${url.href}`;
    const known = this.#pages.get(key);
    if (known) return known;
    const [{ fetchWeb }, { isNamedHost: isAllowedHost }, { readPage }] = await Promise.all([
      import("@burin/web/fetch-web"),
      import("@burin/net/guard-host"),
      import("@burin/web/read-page"),
    ]);
    const { allowedHosts = [], resolve, limits = {}, environment = process.env } = this.#options;
    const guard = { named: allowedHosts.concat(allowed), ...(resolve ? { resolve } : {}) };
    const answer = await fetchWeb({ url, accept: ACCEPT[format], guard, limits, environment }, signal);
    const page = await readPage(answer, format, signal);
    const isLasting = !/no-store|no-cache|max-age=0/i.test(answer.headers["cache-control"] ?? "");
    // Do not cache pages from this machine: the user is often working on them.
    if (page.status < 400 && isLasting && !answer.isBroken && !isAllowedHost(url, guard)) {
      this.#pages.set(key, page, page.text.length + (page.media?.data.length ?? 0));
    }
    return page;
  }

  async #answerPrompt(page: Page, params: WebFetchParams, signal: AbortSignal): Promise<ToolResult> {
    const { answerFromPage } = this.#options;
    const { prompt = "", offset = 0 } = params;
    const text = page.text.slice(offset, offset + MAX_ASKED_CHARACTERS);
    const answer = text === "" ? null : await answerFromPage?.({ prompt, url: page.url, text }, signal);
    signal.throwIfAborted();
    if (!answer) {
      const why = answerFromPage
        ? "could not be answered by the model"
        : "was not asked: there is no model here";
      return formatPage(page, offset, [`The question ${why}. The page itself follows.`]);
    }
    const end = offset + text.length;
    const left = page.text.length - end;
    const note = `The answer is from ${text.length} characters; ${left} more follow: offset ${end}.`;
    const head = left > 0 ? `${formatHead(page)}\n${note}` : formatHead(page);
    return {
      llmContent: `${head}\n${wrapWebText(answer, randomName())}`,
      returnDisplay: `Answered from ${page.url}.`,
    };
  }
}

const ACCEPT: Readonly<Record<PageFormat, string>> = {
  markdown: "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8,*/*;q=0.5",
  text: "text/plain,text/markdown;q=0.9,text/html;q=0.9,application/xhtml+xml;q=0.9,*/*;q=0.5",
  html: "text/html,application/xhtml+xml,*/*;q=0.5",
};

/** Returns the requested page, followed by the raw file that is fetched in its place, if there is one. */
function listUrlsToFetch(text: string): URL[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const raw = findRawFileUrl(url);
  return raw === null ? [url] : [url, raw];
}

/** Returns `host:port` if the address itself shows that it is on this machine or its network; null otherwise. */
async function findPrivateHost(url: URL | undefined): Promise<string | null> {
  if (url === undefined) return null;
  const [{ normalizeHost, formatHostPort }, { classifyAddress }] = await Promise.all([
    import("@burin/net/guard-host"),
    import("@burin/net/judge-address"),
  ]);
  const host = normalizeHost(url);
  const isLocal = /(?:^|\.)localhost$/.test(host) || classifyAddress(host) === "private";
  return isLocal ? formatHostPort(url) : null;
}

function formatHead({ url, status, mimeType }: Page): string {
  return `URL: ${url}\nStatus: ${status}${mimeType === "" ? "" : `, ${mimeType}`}`;
}

function formatPage(page: Page, offset: number, notes: readonly string[] = []): ToolResult {
  const { url, media, text } = page;
  const size = media ? `${Math.floor((media.data.length * 3) / 4)} bytes` : `${text.length} characters`;
  const returnDisplay = `Fetched ${url} (${page.mimeType || "text"}, ${size}).`;
  if (media) return { llmContent: [formatHead(page), { inlineData: { ...media } }], returnDisplay };
  if (offset > 0 && offset >= text.length) {
    const message = `${url} has ${text.length} characters; there is nothing from offset ${offset} on.`;
    return createFailedResult({ type: "past_end", message });
  }
  const end = findPartEnd(text, offset);
  const part = text.slice(offset, end);
  const isPart = offset > 0 || end < text.length;
  const place = isPart ? [`Characters ${offset} to ${end} of ${text.length}.`] : [];
  const rest = end < text.length ? [`To read on, call again with "offset": ${end}.`] : [];
  const title =
    offset === 0 && page.title !== "" && !part.slice(0, 500).includes(page.title)
      ? `Title: ${page.title}\n\n`
      : "";
  const body = wrapWebText(title + part, randomName());
  const lines = [formatHead(page), ...notes, ...page.notes, ...place, body, ...rest];
  return { llmContent: lines.join("\n"), returnDisplay };
}

/** Returns where to cut the text: at the end of a line, if there is one in the second half. */
function findPartEnd(text: string, offset: number): number {
  const max = offset + MAX_CHARACTERS;
  if (text.length <= max) return text.length;
  const line = text.lastIndexOf("\n", max - 1) + 1;
  return line > offset + MAX_CHARACTERS / 2 ? line : alignToCharacter(text, max);
}

function createHttpError(page: Page): ToolResult {
  const message = `${page.url} answered HTTP ${page.status}.`;
  const excerpt = page.text.slice(0, MAX_ERROR_CHARACTERS);
  const llmContent = excerpt === "" ? message : `${message}\n${wrapWebText(excerpt, randomName())}`;
  return { llmContent, returnDisplay: message, error: { type: "http_error", message } };
}
