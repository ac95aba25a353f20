import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import { openAiCompatible } from "@burin/models/choice/open-model";
import type { ServiceOptions } from "@burin/models/protocols/protocol";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "./fake-model-server.ts";
import type { ServiceName } from "./service-habits.ts";

/** The only message of a history with one question. */
export const ASK: Message = { role: "user", parts: [{ text: "go" }] };

const running: FakeModelServer[] = [];

export async function serve(...replies: FakeReply[]): Promise<FakeModelServer> {
  return serveAs(undefined, ...replies);
}

/** Starts a fake server that also has the requirements of the given service. */
export async function serveAs(
  playing: ServiceName | undefined,
  ...replies: FakeReply[]
): Promise<FakeModelServer> {
  const server = await startFakeModelServer(replies, playing === undefined ? {} : { service: playing });
  running.push(server);
  return server;
}

/** Closes the servers. Call it after each test. */
export async function closeServers(): Promise<void> {
  for (const server of running.splice(0)) await server.close();
}

/** Returns all events of the reply to a request, which offers no tools unless it says otherwise. */
export async function readAll(
  model: ChatModel | null,
  request: Partial<ModelRequest> = {},
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const whole = { system: "s", history: [ASK], tools: [], ...request };
  for await (const event of model?.stream(whole, new AbortController().signal) ?? []) events.push(event);
  return events;
}

/** Returns all events of one request; throws unless there is exactly one end event, the last. */
export async function ask(
  options: Partial<ServiceOptions>,
  history: readonly Message[] = [ASK],
): Promise<ModelEvent[]> {
  const events = await readAll(openAiCompatible({ name: "m", baseUrl: "", ...options }), { history });
  const ends = events.filter((event) => event.type === "end");
  if (ends.length !== 1 || events.at(-1) !== ends[0])
    throw new Error(`not exactly one end event at the end: ${JSON.stringify(events)}`);
  return events;
}

/** Creates a reply with exactly these bytes as its body. */
export function raw(
  body: string,
  head: { status?: number; type?: string; headers?: Record<string, string> } = {},
): FakeReply {
  const { status = 200, type = "text/event-stream", headers } = head;
  return {
    raw: (_request, response) => {
      response.writeHead(status, { "content-type": type, ...headers });
      response.end(body);
    },
  };
}

export function sse(...chunks: unknown[]): string {
  return chunks
    .map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`)
    .join("");
}

export function delta(fields: object, finish_reason: string | null = null): object {
  return { choices: [{ index: 0, delta: fields, finish_reason }] };
}

export async function readReply(reply: FakeReply): Promise<ModelEvent[]> {
  return ask({ baseUrl: (await serve(reply)).baseUrl });
}

export async function readFailure(
  reply: FakeReply,
  options: Partial<ServiceOptions> = {},
): Promise<ModelFailure> {
  return findFailure(await ask({ baseUrl: (await serve(reply)).baseUrl, ...options }));
}

export function findFailure(events: readonly ModelEvent[]): ModelFailure {
  const end = events.at(-1);
  if (end?.type !== "end" || end.reason !== "error")
    throw new Error(`the reply did not fail: ${JSON.stringify(end)}`);
  return end.error;
}
