import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { WebError } from "@burin/net/web-error";

export type PageFormat = "markdown" | "text" | "html";

/** The text of a response as it came. */
export interface RawPage {
  readonly raw: string;
  readonly url: string;
  readonly mimeType: string;
  readonly format: PageFormat;
}

export interface ShapedPage {
  readonly title: string;
  readonly text: string;
  /** What the reader should know about the text. */
  readonly notes: readonly string[];
}

/** The parsers that run outside the main thread, by name: content from outside may take long or much memory. */
export interface Parsers {
  page(page: RawPage): Promise<ShapedPage>;
  pdf(bytes: Uint8Array): Promise<string>;
  notebook(text: string): Promise<string | null>;
}

export type ParserName = keyof Parsers;
export type ParserInput<Name extends ParserName> = Parameters<Parsers[Name]>[0];
export type Parsed<Name extends ParserName> = Awaited<ReturnType<Parsers[Name]>>;

/** The data that a worker is started with. */
export interface ParseOrder {
  readonly name: ParserName;
  readonly input: unknown;
}

/** The one message that it sends. */
export type ParseAnswer =
  | { readonly value: unknown }
  | { readonly fault: { readonly type: string; readonly message: string } };

const MOST_MB = 400;
const MOST_MS = 25_000;
const MEASURED_EVERY_MS = 25;

/** From a chunk of the build, from its top folder, and from the sources, which use the built worker. */
const PLACES = ["../worker/parse-worker", "./worker/parse-worker", "../../../core/dist/worker/parse-worker"];

interface Limits {
  /** What is parsed, as the start of a sentence. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** Shared by sessions: one page or document is parsed at a time, to bound the memory of the process. */
let last: Promise<unknown> = Promise.resolve();

/** Whether there is a worker: a program that bundles this package may have left out its file. */
export function canParseAside(): boolean {
  return workerFile() !== undefined;
}

/** In a separate thread, which ends when it takes too long or too much memory, or the signal aborts. */
export async function parseAside<Name extends ParserName>(
  name: Name,
  input: ParserInput<Name>,
  limits: Limits,
): Promise<Parsed<Name>> {
  const turn = last.then(() => {
    if (!limits.signal.aborted) return parsed({ name, input }, limits);
    throw limits.signal.reason;
  });
  last = turn.catch(() => {});
  return (await turn) as Parsed<Name>;
}

function parsed(workerData: object, { what, signal }: Limits): Promise<unknown> {
  const file = workerFile();
  if (file === undefined)
    throw new WebError("not_available", `${what} cannot be read: the parser is not installed.`);
  const before = process.memoryUsage.rss();
  const resourceLimits = { maxOldGenerationSizeMb: MOST_MB, stackSizeMb: 4 };
  const ownStreams = { stdout: true, stderr: true };
  const worker = new Worker(file, { workerData, resourceLimits, env: {}, execArgv: [], ...ownStreams });
  return new Promise((resolve, reject) => {
    const stop = (error: unknown): void => {
      reject(error);
      void worker.terminate();
    };
    const tooMuch = () =>
      stop(new WebError("too_large", `${what} expands to more than ${MOST_MB} MB, and was not read.`));
    const tooLong = () =>
      stop(new WebError("timeout", `Timed out: ${what} takes longer than ${MOST_MS / 1000} s to read.`));
    // The heap limit does not cover a thread's other memory.
    const measuring = setInterval(() => {
      if (process.memoryUsage.rss() - before > MOST_MB * 1024 * 1024) tooMuch();
    }, MEASURED_EVERY_MS);
    const timer = setTimeout(tooLong, MOST_MS);
    const onAbort = () => stop(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.on("message", (answer: ParseAnswer) => {
      if ("value" in answer) resolve(answer.value);
      else reject(new WebError(answer.fault.type, answer.fault.message));
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") tooMuch();
      else stop(new WebError("broken_content", `${what} cannot be read: ${error.message.slice(0, 200)}`));
    });
    worker.on("exit", () => {
      clearInterval(measuring);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      reject(new WebError("broken_content", `${what} cannot be read: the parser crashed.`));
    });
  });
}

function workerFile(): URL | undefined {
  const extension = import.meta.url.endsWith(".cjs") ? ".cjs" : ".js";
  return PLACES.map((place) => new URL(place + extension, import.meta.url)).find((file) => existsSync(file));
}
