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

export interface ExchangeEnd extends Omit<ReadEnd, "errors"> {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Set when it could not be started. */
  readonly startError: string | null;
}

/** Starts it, gives it the input, and ends it with everything that it started. Never rejects. */
export async function exchange(
  start: () => Promise<Supervised>,
  { mostBytes, ...request }: ExchangeRequest,
): Promise<ExchangeEnd> {
  const pieces: Buffer[] = [];
  let size = 0;
  const onOutput = (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    return size <= mostBytes;
  };
  try {
    const { errors, ...end } = await readToEnd(await start(), { ...request, onOutput });
    return { ...end, stdout: Buffer.concat(pieces), stderr: errors, startError: null };
  } catch (error) {
    const startError = messageOf(error);
    return { stdout: Buffer.alloc(0), stderr: "", exitCode: null, signal: null, stopped: null, startError };
  }
}
