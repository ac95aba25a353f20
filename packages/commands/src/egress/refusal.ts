import { formatHostEndpoint, type HostEndpoint } from "@burin/shell-judge";

/** Why a connection was not made. `status` is the HTTP status that the program gets. */
export interface EgressRefusal {
  readonly status: 400 | 403 | 407 | 408 | 502 | 503;
  /** `host:port` as the program asked for it. */
  readonly place: string;
  /** One sentence for people and models, with what would allow it. */
  readonly reason: string;
  /** The client whose password was given; null if the password was unknown. */
  readonly client: string | null;
}

/** Thrown while a connection is judged and opened; the program gets it as its answer. */
export class RefusedConnectionError extends Error {
  readonly status: EgressRefusal["status"];

  constructor(status: EgressRefusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** Refuses a place that is reachable only if the user has allowed it together with its port. */
export function createPrivateHostRefusal(place: HostEndpoint, what: string): RefusedConnectionError {
  const text = formatHostEndpoint(place);
  const how = `"sandbox": {"network": ["${text}"]} in the user's settings allows it`;
  return new RefusedConnectionError(
    403,
    `${text} ${what}, which commands reach only when the user names it: ${how}.`,
  );
}

/** Formats the whole answer to a request that is refused. */
export function formatRefusal(status: number, reason: string): string {
  const length = String(Buffer.byteLength(reason) + 1);
  const headers = { ...buildRefusalHeaders(status), "content-length": length, connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${formatStatusText(reason)}\r\n${lines.join("\r\n")}\r\n\r\n${reason}\n`;
}

/** Most programs print the status text, and few print the body. */
export function formatStatusText(reason: string): string {
  return reason.replace(/[^\x20-\x7e]+/g, "?").slice(0, 400);
}

export function buildRefusalHeaders(status: number): Record<string, string> {
  const login = status === 407 ? { "proxy-authenticate": 'Basic realm="Burin"' } : {};
  return { "content-type": "text/plain; charset=utf-8", "x-burin-refused": "1", ...login };
}
