import { type JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** A number that the protocol gives to no error, for answers that never came. */
export const ANSWER_LOST = -32_099;

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/**
 * Streamable HTTP in which a request fails when the stream that was to bring its answer has ended without one and
 * cannot be taken up again. The SDK alone would let it wait for its time limit.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return super.send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // Where the answer has come, nobody waits for this one and it is dropped.
      const error = { code: ANSWER_LOST, message: "the connection ended before the answer" };
      this.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}
