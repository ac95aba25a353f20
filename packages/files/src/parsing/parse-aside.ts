import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { WebError } from "@burin/net/web-error";

export type PageFormat = "markdown" | "text" | "html";

/** The text of a response as it arrived. */
export interface RawPage {
  readonly raw: string;
  readonly url: string;
  readonly mimeType: string;
  readonly format: PageFormat;
}

export interface ShapedPage {
  readonly title: string;
  readonly text: string;
  /** Notes for the model about the text, for example that pages are missing. */
  readonly notes: readonly string[];
}

/** The parsers that run in a worker thread, by name: untrusted content may take much time or memory. */
export interface Parsers {
  page(page: RawPage): Promise<ShapedPage>;
  pdf(bytes: Uint8Array): Promise<string>;
  notebook(text: string): Promise<string | null>;
}

export type ParserName = keyof Parsers;
export type ParserInput<Name extends ParserName> = Parameters<Parsers[Name]>[0];
export type ParserOutput<Name extends ParserName> = Awaited<ReturnType<Parsers[Name]>>;

/** The data that a worker is started with. */
export interface ParseRequest {
  readonly name: ParserName;
  readonly input: unknown;
}

/** The only message that a worker sends. */
export type ParseResponse =
  | { readonly value: unknown }
  | { readonly fault: { readonly type: string; readonly message: string } };

const MAX_MB = 400;
const MAX_MS = 25_000;
const MEMORY_CHECK_MS = 25;

/**
 * The worker's path from a chunk of the build, from the build's top folder, and from the sources, which use the built
 * worker.
 */
const WORKER_PATHS = [
  "../worker/parse-worker",
  "./worker/parse-worker",
  "../../../core/dist/worker/parse-worker",
];

interface Limits {
  /** What is parsed, in words that begin a sentence. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** Shared by sessions: one page or document is parsed at a time, to bound the memory of the process. */
let lastParse: Promise<unknown> = Promise.resolve();

/** Whether there is a worker: a program that bundles this package may have left out its file. */
export function hasParseWorker(): boolean {
  return findWorkerFile() !== undefined;
}

/** Parses in a separate thread, which is ended when it takes too much time or memory, or when the signal aborts. */
export async function parseInWorker<Name extends ParserName>(
  name: Name,
  input: ParserInput<Name>,
  limits: Limits,
): Promise<ParserOutput<Name>> {
  const turn = lastParse.then(() => {
    if (!limits.signal.aborted) return runWorker({ name, input }, limits);
    throw limits.signal.reason;
  });
  lastParse = turn.catch(() => {});
  return (await turn) as ParserOutput<Name>;
}

function runWorker(workerData: object, { what, signal }: Limits): Promise<unknown> {
  const file = findWorkerFile();
  if (file === undefined)
    throw new WebError("not_available", `${what} cannot be read: the parser is not installed.`);
  const before = process.memoryUsage.rss();
  const resourceLimits = { maxOldGenerationSizeMb: MAX_MB, stackSizeMb: 4 };
  const ownStreams = { stdout: true, stderr: true };
  const worker = new Worker(file, { workerData, resourceLimits, env: {}, execArgv: [], ...ownStreams });
  return new Promise((resolve, reject) => {
    const rejectAndTerminate = (error: unknown): void => {
      reject(error);
      void worker.terminate();
    };
    const stopTooLarge = () =>
      rejectAndTerminate(
        new WebError("too_large", `${what} expands to more than ${MAX_MB} MB, and was not read.`),
      );
    const stopTooSlow = () =>
      rejectAndTerminate(
        new WebError("timeout", `Timed out: ${what} takes longer than ${MAX_MS / 1000} s to read.`),
      );
    // The heap limit does not cover a thread's memory outside the heap.
    const measuring = setInterval(() => {
      if (process.memoryUsage.rss() - before > MAX_MB * 1024 * 1024) stopTooLarge();
    }, MEMORY_CHECK_MS);
    const timer = setTimeout(stopTooSlow, MAX_MS);
    const onAbort = () => rejectAndTerminate(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.on("message", (answer: ParseResponse) => {
      if ("value" in answer) resolve(answer.value);
      else reject(new WebError(answer.fault.type, answer.fault.message));
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") stopTooLarge();
      else
        rejectAndTerminate(
          new WebError("broken_content", `${what} cannot be read: ${error.message.slice(0, 200)}`),
        );
    });
    worker.on("exit", () => {
      clearInterval(measuring);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      reject(new WebError("broken_content", `${what} cannot be read: the parser crashed.`));
    });
  });
}

function findWorkerFile(): URL | undefined {
  const extension = import.meta.url.endsWith(".cjs") ? ".cjs" : ".js";
  return WORKER_PATHS.map((place) => new URL(place + extension, import.meta.url)).find((file) =>
    existsSync(file),
  );
}
