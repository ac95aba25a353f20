import { parentPort, workerData } from "node:worker_threads";
import { describeError } from "@burin/contract/text/error-message";
import type { ParseRequest, ParseResponse, Parsers } from "@burin/files/parsing/parse-aside";
import { WebError } from "@burin/net/web-error";

const PARSERS: Parsers = {
  page: async (page) => (await import("./shape-page.ts")).shapePage(page),
  pdf: async (bytes) => (await import("@burin/files/parsing/documents")).extractPdfText(bytes),
  notebook: async (text) => (await import("@burin/files/parsing/documents")).renderNotebook(text),
};

/** The thread of a single parse. It sends the answer and ends. */
async function answer({ name, input }: ParseRequest): Promise<ParseResponse> {
  const parse = PARSERS[name] as (input: unknown) => Promise<unknown>;
  try {
    return { value: await parse(input) };
  } catch (error) {
    const type = error instanceof WebError ? error.type : "broken_content";
    return { fault: { type, message: describeError(error) } };
  }
}

void answer(workerData as ParseRequest).then((said) => parentPort?.postMessage(said));
