import { fileURLToPath } from "node:url";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type Result,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { BY_A_RULE } from "./approvals.ts";
import { textBlock } from "./call-result.ts";
import type { Change, Place } from "./place.ts";
import { callTool, canFillForms, type PlainCalls } from "./plain-calls.ts";

const INSTRUCTIONS = [
  "Tools to read, search and change files, run commands and read the web.",
  "Read a file before you change it; a call may need its user's approval.",
].join(" ");
const MOST_ROOTS_MS = 10_000;
const MOST_FAULT_CHARACTERS = 500;

export interface ToolServerNeeds {
  readonly version: string;
  readonly place: Place;
  /** The client may name the folders to work in. */
  readonly followsRoots: boolean;
  /** Has the questions of calls that were judged before they come here. */
  readonly calls?: Pick<PlainCalls, "takeQuestion">;
}

/** The questions of one client: one is open at a time, as some clients show only the last. */
class QuestionTurns {
  /** The calls whose turn has not ended, by the ids of their requests. */
  readonly #ends = new Map<RequestId, () => void>();
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the call may ask: true if another was asked meanwhile, whose answer may decide this one, too. */
  async take(id: RequestId, signal: AbortSignal): Promise<boolean> {
    if (this.#ends.has(id)) return false;
    const hasToWait = this.#ends.size > 0;
    const before = this.#last;
    const turn = new Promise<void>((resolve) => this.#ends.set(id, resolve));
    this.#last = before.then(() => turn);
    await before;
    signal.throwIfAborted();
    return hasToWait;
  }

  end(id: RequestId): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
  }
}

/** Says in words which params are wrong: the SDK calls that an internal error, with a list of its checks. */
class WordedServer extends Server {
  readonly turns = new QuestionTurns();

  protected override _wrapHandler(...[method, handler]: Parameters<Server["_wrapHandler"]>) {
    const wrapped = super._wrapHandler(method, handler);
    return async (...asked: Parameters<typeof handler>) => {
      try {
        return explained(await wrapped(...asked));
      } catch (error) {
        const faults = faultsIn(error instanceof Error ? error.message : "");
        if (faults === null) throw error;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${faults}.`);
      } finally {
        // Whatever became of its question, another may be asked.
        this.turns.end(asked[1].mcpReq.id);
      }
    };
  }
}

function faultsIn(message: string): string | null {
  const [, list] = /^(?:Invalid [\w/ ]+: )?(\[\s*\{.*\])$/s.exec(message) ?? [];
  if (list === undefined) return null;
  const checks = JSON.parse(list) as readonly {
    readonly path: readonly string[];
    readonly message: string;
  }[];
  const faults = checks.map(({ path, message: fault }) => `${path.join(".")}: ${fault}`);
  return faults.join("; ").slice(0, MOST_FAULT_CHARACTERS);
}

/** Some clients say that they can ask their user, and answer a question with an error. */
function explained(result: Result): Result {
  // What a tool has read may begin with the same words.
  const [block] = result.isError === true && Array.isArray(result.content) ? result.content : [];
  const [, why] = /^Fulfilling input required by .*? failed: (.*)/s.exec(block?.text) ?? [];
  if (why === undefined) return result;
  const text = `The call was not run: the client could not ask its user (${faultsIn(why) ?? why}). If that is always so, ${BY_A_RULE}.`;
  return { ...result, content: [textBlock(text)] };
}

/** A server of the protocol for one client, in any revision. */
export function toolServer({ version, place, followsRoots, calls }: ToolServerNeeds): Server {
  const server = new WordedServer(
    { name: "burin", title: "Burin", version },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, logging: {} },
      instructions: `${INSTRUCTIONS} ${whereOf(place, followsRoots)}`,
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: (await place.tools()).tools }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { id, signal, notify } = mcpReq;
    const answers = { state: mcpReq.requestState<string>(), responses: mcpReq.inputResponses };
    const canAsk = canFillForms(capabilitiesOf(server, mcpReq.envelope));
    const onStart = () => server.turns.end(id);
    const call = () => callTool(place, params, { signal, notify, canAsk, answers, onStart });
    const answer = calls?.takeQuestion(id) ?? (await call());
    const isOutdated = isInputRequiredResult(answer) && (await server.turns.take(id, signal));
    return isOutdated ? call() : answer;
  });
  server.setRequestHandler("resources/list", async () => ({
    resources: (await place.tools()).resources.map(({ type: _, ...resource }) => resource),
  }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params }) =>
    (await place.tools()).readResource(params.uri),
  );
  if (followsRoots) followRoots(server, place);
  return server;
}

function whereOf({ root }: Place, followsRoots: boolean): string {
  const folder = `Paths are absolute, and all work stays in ${root}`;
  return followsRoots ? `${folder}, or in the roots that the client names.` : `${folder}.`;
}

function capabilitiesOf(
  server: Server,
  envelope: ServerContext["mcpReq"]["envelope"],
): ClientCapabilities | undefined {
  const declared = envelope as Readonly<Record<string, ClientCapabilities | undefined>> | undefined;
  return declared?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
}

/** Follows the project's folders, which a client sends if it opened the server for a project. */
function followRoots(server: Server, place: Place): void {
  const ask = async (): Promise<void> => {
    if (server.getClientCapabilities()?.roots === undefined) return;
    const { roots } = await server.listRoots({}, { timeout: MOST_ROOTS_MS });
    const folders = roots.flatMap(({ uri }) => (uri.startsWith("file:") ? [fileURLToPath(uri)] : []));
    if (folders.length > 0) await place.moveTo(folders);
  };
  const follow = () => place.during(ask);
  server.oninitialized = follow;
  server.setNotificationHandler("notifications/roots/list_changed", follow);
}

/** As long as the client is connected. */
export function tellOfChanges(server: Server, place: Place): void {
  const end = place.onChange((what) => void tell(server, what).catch(() => {}));
  server.onclose = end;
}

async function tell(server: Server, what: Change): Promise<void> {
  if (what === "tools") return server.sendToolListChanged();
  if (what === "resources") return server.sendResourceListChanged();
  // Clients of the 2026 revision, which has no handshake, request log messages with each request.
  if (server.getClientCapabilities() === undefined) return;
  const message = { level: "warning", logger: "burin", data: what.notice } as const;
  return server.sendLoggingMessage(message, server.transport?.sessionId);
}
