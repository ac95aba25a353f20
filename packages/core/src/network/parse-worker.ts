import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../text/error-message.ts";
import { PARSERS, type ParseAnswer, type ParseOrder } from "./parsers.ts";
import { WebError } from "./web-error.ts";

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
