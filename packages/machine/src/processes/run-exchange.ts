import { messageOf } from "@burin/contract/text/error-message";
import { type ReadEnd, readToEnd, type Supervised } from "./supervisor.ts";

export interface ExchangeRequest {
  readonly command: string;
  readonly cwd: string;
  readonly input: string;
  readonly milliseconds: number;
  /** Of its output; of its errors only the last part is kept. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
  /** It gets the limits of commands, with or without network. */
  readonly limits?: { readonly network: boolean };
}

export interface ExchangeEnd extends Omit<ReadEnd, "output" | "errors"> {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Set when it could not be started. */
  readonly startError: string | null;
}

/** Starts it, gives it the input, and ends it with everything that it started. Never rejects. */
export async function exchange(
  start: () => Promise<Supervised>,
  request: ExchangeRequest,
): Promise<ExchangeEnd> {
  try {
    const { output: stdout, errors: stderr, ...end } = await readToEnd(await start(), request);
    return { ...end, stdout, stderr, startError: null };
  } catch (error) {
    const startError = messageOf(error);
    return { stdout: Buffer.alloc(0), stderr: "", exitCode: null, signal: null, stopped: null, startError };
  }
}
