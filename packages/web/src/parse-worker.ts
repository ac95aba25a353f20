import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "@burin/contract/text/error-message";
import type { ParseAnswer, ParseOrder, Parsers } from "@burin/files/parsing/parse-aside";
import { WebError } from "@burin/net/web-error";

const PARSERS: Parsers = {
  page: async (page) => (await import("./shape-page.ts")).shapePage(page),
  pdf: async (bytes) => (await import("@burin/files/parsing/pdf-text")).pdfText(bytes),
  notebook: async (text) => (await import("@burin/files/parsing/notebook")).notebookText(text),
};

/** The thread of one parse: it answers and ends. */
async function answer({ name, input }: ParseOrder): Promise<ParseAnswer> {
  const parse = PARSERS[name] as (input: unknown) => Promise<unknown>;
  try {
    return { value: await parse(input) };
  } catch (error) {
    const type = error instanceof WebError ? error.type : "broken_content";
    return { fault: { type, message: messageOf(error) } };
  }
}

void answer(workerData as ParseOrder).then((said) => parentPort?.postMessage(said));
