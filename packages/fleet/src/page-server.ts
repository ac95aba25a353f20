import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describeError, readBytes } from "@burin/core/internal";
import { type Fleet, FleetError } from "./ground.ts";
import { waitForAbort } from "./open-worker.ts";
import { PageData } from "./page-data.ts";
import { openStore, type Store } from "./store.ts";
import { answerTask, cancelNamedTasks, retryTasks } from "./task-commands.ts";

const HOST = "127.0.0.1";
const FILES = ["page.html", "page.css", "task.css", "page.js", "parts.js", "lists.js", "task.js"];
const TYPES: Readonly<Record<string, string>> = { html: "text/html", css: "text/css", js: "text/javascript" };
const MAX_FILE_BYTES = 1_000_000;
/** Greater than the number of any step. */
const MAX_STEP = 2 ** 31 - 1;
const MAX_BODY_BYTES = 100_000;

/** The page loads nothing from elsewhere, has no inline scripts, and never turns text into HTML. */
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** An error response. */
class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Serves the page to browsers on this machine that have the token, until the user interrupts. */
export async function servePage(fleet: Fleet): Promise<boolean> {
  const { ground, request, url } = fleet;
  const store = await openStore(url);
  const page = new Page(fleet, store);
  const server = createServer((asked, response) => void page.answer(asked, response));
  try {
    const port = await listen(server, request.port ?? 0);
    ground.out(`http://${HOST}:${port}/#${page.token}\n`);
    ground.note("open this address in a browser of this computer; Ctrl+C ends the server");
    await waitForAbort(ground.signal);
    return true;
  } finally {
    server.close();
    server.closeAllConnections();
    await store.close();
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EADDRINUSE" ? new FleetError(`port ${port} is in use`) : error;
  });
  return (server.address() as AddressInfo).port;
}

class Page {
  readonly token = randomBytes(24).toString("base64url");
  readonly #fleet: Fleet;
  readonly #store: Store;
  readonly #data: PageData;

  constructor(fleet: Fleet, store: Store) {
    this.#fleet = fleet;
    this.#store = store;
    this.#data = new PageData(store.pool);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      assertLocal(request);
      const { pathname, searchParams } = parseAddress(request);
      const file = pathname === "/" ? "page.html" : pathname.slice(1);
      if (FILES.includes(file)) return sendFile(response, file);
      this.#assertToken(request);
      const parts = pathname.split("/").slice(1).map(decodeURIComponent);
      const answer =
        request.method === "POST"
          ? await this.#runCommand(parts, await readBody(request))
          : await this.#readPageData(parts, searchParams);
      send(response, 200, answer);
    } catch (error) {
      if (error instanceof HttpError) send(response, error.status, { error: error.message });
      else if (error instanceof FleetError) send(response, 409, { error: error.message });
      else if (error instanceof URIError) send(response, 404, { error: "There is no such page." });
      else {
        this.#fleet.ground.note(`the page: ${describeError(error)}`);
        send(response, 503, {
          error: "The database did not answer; burin fleet serve says why. The page tries again.",
        });
      }
    }
  }

  #assertToken({ headers }: IncomingMessage): void {
    const hashText = (text: string) => createHash("sha256").update(text).digest();
    if (timingSafeEqual(hashText(headers.authorization ?? ""), hashText(`Bearer ${this.token}`))) return;
    throw new HttpError(401, "The token is missing or is not the server's.");
  }

  async #readPageData(
    [top, kind, name = "", part]: readonly string[],
    query: URLSearchParams,
  ): Promise<unknown> {
    const readNumber = (key: string) =>
      Math.min(MAX_STEP, Math.max(0, Math.trunc(Number(query.get(key))) || 0));
    const list = { search: query.get("search") ?? "", offset: readNumber("offset") };
    if (top !== "api") throw new HttpError(404, "There is no such page.");
    if (kind === "runs" && name === "") return this.#data.listRuns(list);
    if (kind === "runs")
      return assertFound(await this.#data.run(name, { ...list, kind: query.get("state") ?? "" }));
    if (kind === "tasks" && part === "patch") return this.#data.readPatch(name);
    if (kind === "tasks") return assertFound(await this.#data.readTask(name, readNumber("from")));
    throw new HttpError(404, "There is no such page.");
  }

  /** Runs the command with this name, using the same code and messages as the command line. */
  async #runCommand([top, , name = "", action]: readonly string[], given: Answer): Promise<unknown> {
    const way = new Map(
      Object.entries({ cancel: cancelNamedTasks, retry: retryTasks, answer: answerTask }),
    ).get(action ?? "");
    if (top !== "api" || way === undefined) throw new HttpError(404, "There is no such page.");
    if (action === "answer") await this.#assertAsked(name, given.question);
    const words = action === "answer" ? [name, ...buildAnswerWords(given)] : [name];
    let told = "";
    const keepText = (text: string) => {
      told = text;
    };
    const { ground, request } = this.#fleet;
    await way(
      { ...this.#fleet, request: { ...request, words }, ground: { ...ground, note: keepText } },
      this.#store,
    );
    return { told };
  }

  /** Refuses an answer from a page that was left open and does not show the current question. */
  async #assertAsked(id: string, question: unknown): Promise<void> {
    const task = assertFound(await this.#data.readTask(id, MAX_STEP));
    const asked = task.question as { readonly id?: unknown } | null;
    if (asked === null || asked.id !== question)
      throw new HttpError(409, "This question has already been answered.");
  }
}

interface Answer {
  readonly question?: unknown;
  readonly yes?: unknown;
  readonly reason?: unknown;
}

function buildAnswerWords({ yes, reason }: Answer): string[] {
  return yes === true ? ["yes"] : ["no", ...(typeof reason === "string" && reason !== "" ? [reason] : [])];
}

function assertFound<T>(value: T | null): T {
  if (value === null) throw new HttpError(404, "There is no such run or task.");
  return value;
}

/** Refuses requests that use another host name for this machine, and requests from other sites' pages. */
function assertLocal({ headers, socket }: IncomingMessage): void {
  const hosts = [`${HOST}:${socket.localPort}`, `localhost:${socket.localPort}`];
  const { host = "", origin } = headers;
  const isHere = hosts.includes(host) && (origin === undefined || origin === `http://${host}`);
  if (!isHere) throw new HttpError(403, "The page is only for browsers on this computer.");
}

/** Parses the URL. Throws a 404 if it is invalid or has a character that no text in the database can have. */
function parseAddress({ url = "/" }: IncomingMessage): URL {
  const base = `http://${HOST}`;
  if (url.includes("%00") || !URL.canParse(url, base)) throw new HttpError(404, "There is no such page.");
  return new URL(url, base);
}

async function readBody(request: IncomingMessage): Promise<Answer> {
  if (request.headers["content-type"] !== "application/json")
    throw new HttpError(415, "The body must be JSON.");
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw new HttpError(413, "The body is too long.");
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // A parse error is reported below.
  }
  throw new HttpError(400, "The body is not a JSON object.");
}

function sendFile(response: ServerResponse, name: string): void {
  const bytes = readBytes(fileURLToPath(new URL(`./page/${name}`, import.meta.url)), MAX_FILE_BYTES);
  const type = `${TYPES[name.slice(name.indexOf(".") + 1)]}; charset=utf-8`;
  response.writeHead(200, { ...HEADERS, "content-type": type }).end(bytes);
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...HEADERS, "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(value));
}
