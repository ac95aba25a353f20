import { type HostPlace, hostPlaceText } from "@burin/shell-judge";

/** Why a connection was not made. `status` is the HTTP status that the program gets. */
export interface EgressRefusal {
  readonly status: 400 | 403 | 407 | 408 | 502 | 503;
  /** `host:port` as the program asked for it. */
  readonly place: string;
  /** One sentence for people and models, with what would allow it. */
  readonly reason: string;
  /** The name of the client, as its password proves it; null for a stranger. */
  readonly client: string | null;
}

/** Thrown while a connection is judged and opened; the program gets it as its answer. */
export class RefusedConnection extends Error {
  readonly status: EgressRefusal["status"];

  constructor(status: EgressRefusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** For a place that is reached only when the user has named it, with its port. */
export function refusedPlace(place: HostPlace, what: string): RefusedConnection {
  const text = hostPlaceText(place);
  const how = `"sandbox": {"network": ["${text}"]} in the user's settings allows it`;
  return new RefusedConnection(
    403,
    `${text} ${what}, which commands reach only when the user names it: ${how}.`,
  );
}

/** The whole answer to a request that is not served. */
export function refusalText(status: number, reason: string): string {
  const length = String(Buffer.byteLength(reason) + 1);
  const headers = { ...refusalHeaders(status), "content-length": length, connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${refusalPhrase(reason)}\r\n${lines.join("\r\n")}\r\n\r\n${reason}\n`;
}

/** Programs print the words behind the status, and few of them the body. */
export function refusalPhrase(reason: string): string {
  return reason.replace(/[^\x20-\x7e]+/g, "?").slice(0, 400);
}

export function refusalHeaders(status: number): Record<string, string> {
  const login = status === 407 ? { "proxy-authenticate": 'Basic realm="Burin"' } : {};
  return { "content-type": "text/plain; charset=utf-8", "x-burin-refused": "1", ...login };
}
