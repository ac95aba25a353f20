import type { ModelEvent } from "@burin/contract/chat-model";
import { httpRequest } from "@burin/machine/http/http-request";
import { SilenceWatch } from "@burin/machine/http/silence-watch";
import type { Asked, Outcome } from "./read-answer.ts";
import type { ReplyReader } from "./reply-reader.ts";

export interface Exchange extends Asked {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  /** The service may be silent for as long as this, at any moment. */
  readonly silenceMs: number;
  /** Where a proxy is named. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

/** One request and its streamed reply, without the end, which is returned. Throws what the network throws. */
export async function* exchange(
  open: Exchange,
  openReply: () => Promise<ReplyReader>,
): AsyncGenerator<ModelEvent, Outcome, undefined> {
  const watch = new SilenceWatch(open.silenceMs, open.connection);
  try {
    const { url, headers, body, connection, environment } = open;
    const asked = httpRequest({ url, method: "POST", headers, body, environment }, connection.signal);
    const reading = whileWaiting(() => Promise.all([import("./read-answer.ts"), openReply()]));
    const answer = await asked;
    const [{ readAnswer }, reply] = await reading;
    return yield* readAnswer({ ...answer, body: watch.listen(answer.body) }, open, reply);
  } catch (error) {
    if (!watch.isOver) throw error;
    const { silenceFailure } = await import("./service-failure.ts");
    return {
      end: { type: "end", reason: "error", error: silenceFailure(open.url, open.silenceMs) },
    };
  } finally {
    watch.stop();
  }
}

/** Loads what reads the answer only when the request is on its way: nothing may stand before its first byte. */
function whileWaiting<T>(load: () => Promise<T>): Promise<T> {
  const loading = new Promise((resolve) => setImmediate(resolve)).then(load);
  // A request that fails meanwhile leaves nobody to hear of it.
  loading.catch(() => {});
  return loading;
}
