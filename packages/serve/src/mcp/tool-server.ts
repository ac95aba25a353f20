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
import { RULE_ADVICE } from "./approvals.ts";
import { buildTextBlock } from "./call-result.ts";
import type { HostChange, ToolsHost } from "./place.ts";
import { callTool, canFillForms, type PlainCalls } from "./plain-calls.ts";

const INSTRUCTIONS = [
  "Tools to read, search and change files, run commands and read the web.",
  "Read a file before you change it; a call may need its user's approval.",
].join(" ");
const MAX_ROOTS_MS = 10_000;
const MAX_FAULT_CHARACTERS = 500;

export interface ToolServerOptions {
  readonly version: string;
  readonly place: ToolsHost;
  /** true if the client may name the folders to work in. */
  readonly followsRoots: boolean;
  /** Holds the questions of calls that were judged before they reach this server. */
  readonly calls?: Pick<PlainCalls, "takeQuestion">;
}

/** The questions of one client: one is open at a time, as some clients show only the last. */
class QuestionQueue {
  /** The calls whose turn has not ended, by the ids of their requests. */
  readonly #ends = new Map<RequestId, () => void>();
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves when the call may ask. Resolves to true if another call asked in the meantime, whose answer may settle
   * this one too.
   */
  async waitAndTellIfDelayed(id: RequestId, signal: AbortSignal): Promise<boolean> {
    if (this.#ends.has(id)) return false;
    const hasToWait = this.#ends.size > 0;
    const before = this.#last;
    const turn = new Promise<void>((resolve) => this.#ends.set(id, resolve));
    this.#last = before.then(() => turn);
    await before;
    signal.throwIfAborted();
    return hasToWait;
  }

  endQuestions(id: RequestId): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
  }
}

/** Reports wrong params in plain words; the SDK would report an internal error with a list of its checks. */
class ReadableErrorServer extends Server {
  readonly turns = new QuestionQueue();

  protected override _wrapHandler(...[method, handler]: Parameters<Server["_wrapHandler"]>) {
    const wrapped = super._wrapHandler(method, handler);
    return async (...asked: Parameters<typeof handler>) => {
      try {
        return explainResult(await wrapped(...asked));
      } catch (error) {
        const faults = parseFaults(error instanceof Error ? error.message : "");
        if (faults === null) throw error;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${faults}.`);
      } finally {
        // Whatever happened to this call's question, the next one may now be asked.
        this.turns.endQuestions(asked[1].mcpReq.id);
      }
    };
  }
}

function parseFaults(message: string): string | null {
  const [, list] = /^(?:Invalid [\w/ ]+: )?(\[\s*\{.*\])$/s.exec(message) ?? [];
  if (list === undefined) return null;
  const checks = JSON.parse(list) as readonly {
    readonly path: readonly string[];
    readonly message: string;
  }[];
  const faults = checks.map(({ path, message: fault }) => `${path.join(".")}: ${fault}`);
  return faults.join("; ").slice(0, MAX_FAULT_CHARACTERS);
}

/**
 * Explains an error result: some clients claim that they can ask their user, but answer every question with an error.
 */
function explainResult(result: Result): Result {
  // Only compare the whole text: a text that a tool has read may begin with the same words.
  const [block] = result.isError === true && Array.isArray(result.content) ? result.content : [];
  const [, why] = /^Fulfilling input required by .*? failed: (.*)/s.exec(block?.text) ?? [];
  if (why === undefined) return result;
  const text = `The call was not run: the client could not ask its user (${parseFaults(why) ?? why}). If that is always so, ${RULE_ADVICE}.`;
  return { ...result, content: [buildTextBlock(text)] };
}

/** A server of the protocol for one client, in any revision. */
export function createToolServer({ version, place, followsRoots, calls }: ToolServerOptions): Server {
  const server = new ReadableErrorServer(
    { name: "burin", title: "Burin", version },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, logging: {} },
      instructions: `${INSTRUCTIONS} ${describeLocation(place, followsRoots)}`,
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: (await place.getTools()).tools }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { id, signal, notify } = mcpReq;
    const answers = { state: mcpReq.requestState<string>(), responses: mcpReq.inputResponses };
    const canAsk = canFillForms(findCapabilities(server, mcpReq.envelope));
    const onStart = () => server.turns.endQuestions(id);
    const call = () => callTool(place, params, { signal, notify, canAsk, answers, onStart });
    const answer = calls?.takeQuestion(id) ?? (await call());
    const isOutdated = isInputRequiredResult(answer) && (await server.turns.waitAndTellIfDelayed(id, signal));
    return isOutdated ? call() : answer;
  });
  server.setRequestHandler("resources/list", async () => ({
    resources: (await place.getTools()).resources.map(({ type: _, ...resource }) => resource),
  }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params }) =>
    (await place.getTools()).readResource(params.uri),
  );
  if (followsRoots) followRoots(server, place);
  return server;
}

function describeLocation({ root }: ToolsHost, followsRoots: boolean): string {
  const folder = `Paths are absolute, and all work stays in ${root}`;
  return followsRoots ? `${folder}, or in the roots that the client names.` : `${folder}.`;
}

function findCapabilities(
  server: Server,
  envelope: ServerContext["mcpReq"]["envelope"],
): ClientCapabilities | undefined {
  const declared = envelope as Readonly<Record<string, ClientCapabilities | undefined>> | undefined;
  return declared?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
}

/** Follows the project's folders, which a client sends if it opened the server for a project. */
function followRoots(server: Server, place: ToolsHost): void {
  const requestRoots = async (): Promise<void> => {
    if (server.getClientCapabilities()?.roots === undefined) return;
    const { roots } = await server.listRoots({}, { timeout: MAX_ROOTS_MS });
    const folders = roots.flatMap(({ uri }) => (uri.startsWith("file:") ? [fileURLToPath(uri)] : []));
    if (folders.length > 0) await place.changeFolders(folders);
  };
  const followFolders = () => place.runBeforeOpening(requestRoots);
  server.oninitialized = followFolders;
  server.setNotificationHandler("notifications/roots/list_changed", followFolders);
}

/** Resolves when the client disconnects. */
export function notifyOfChanges(server: Server, place: ToolsHost): void {
  const end = place.onChange((what) => void notifyClient(server, what).catch(() => {}));
  server.onclose = end;
}

async function notifyClient(server: Server, what: HostChange): Promise<void> {
  if (what === "tools") return server.sendToolListChanged();
  if (what === "resources") return server.sendResourceListChanged();
  // Clients of the 2026 revision, which has no handshake, ask for log messages with each request.
  if (server.getClientCapabilities() === undefined) return;
  const message = { level: "warning", logger: "burin", data: what.notice } as const;
  return server.sendLoggingMessage(message, server.transport?.sessionId);
}
