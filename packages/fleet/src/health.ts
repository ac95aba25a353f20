import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { FleetError } from "./ground.ts";
import type { WorkerState } from "./worker.ts";

const LOCAL = "127.0.0.1";
/** A worker checks its tasks every second, even without an answer from the database. After this time it is stuck. */
const STUCK_MS = 60_000;
const LATE_MS = 10_000;

/** Parses an address such as `8080` or `0.0.0.0:8080`. */
export function readHealthAddress(text: string): { readonly host: string; readonly port: number } {
  const at = text.lastIndexOf(":");
  const host = at < 0 ? LOCAL : text.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const port = Number(text.slice(at + 1));
  if (isIP(host) === 0 || !/^\d{1,5}$/.test(text.slice(at + 1)) || port > 65_535)
    throw new FleetError(`--health must be a port or an address with one, as in 8080 or 0.0.0.0:8080`);
  return { host, port };
}

/** Serves two URLs for service managers: `/health` says whether the worker runs, `/ready` whether it takes tasks. */
export async function serveHealth(address: string, stateOf: () => WorkerState) {
  const { host, port } = readHealthAddress(address);
  const server = createServer((request, response) => {
    const state = stateOf();
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendAnswer(response, 405, { error: "GET only" });
    if (request.url === "/health") return sendAnswer(response, isStuck(state) ? 503 : 200, toPlain(state));
    if (request.url === "/ready") return sendAnswer(response, isReady(state) ? 200 : 503, toPlain(state));
    return sendAnswer(response, 404, { error: "there are /health and /ready" });
  });
  server.listen(port, host);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw new FleetError(`--health ${address} cannot be used: ${error.message}`);
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const found = server.address();
  return { port: typeof found === "object" && found !== null ? found.port : port, close };
}

function isStuck({ triedMsAgo }: WorkerState): boolean {
  return triedMsAgo > STUCK_MS;
}

function isReady(state: WorkerState): boolean {
  return !state.isDraining && state.lookedMsAgo < LATE_MS && !isStuck(state);
}

function toPlain(state: WorkerState) {
  const { worker, tasks, concurrency, isDraining } = state;
  return {
    ready: isReady(state),
    worker,
    tasks,
    concurrency,
    draining: isDraining,
    database: state.lookedMsAgo < LATE_MS,
  };
}

function sendAnswer(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(`${JSON.stringify(value)}\n`);
}
