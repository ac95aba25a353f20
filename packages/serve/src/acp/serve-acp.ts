import { realpath } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  type AgentContext,
  type AnyMessage,
  agent,
  type ClientCapabilities,
  type McpServer,
  methods,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import { createSession, type SessionOptions } from "@burin/core";
import {
  AskUser,
  chooseModel,
  findSession,
  listSessionSummaries,
  removeSession,
  resolveBurinHome,
  resumeSession,
  type SessionFile,
  type Settings,
} from "@burin/core/internal";
import { readLog } from "@burin/core/sessions";
import { type ServeOptions, waitForAbort } from "../ground.ts";
import { createMessageStream } from "../message-lines.ts";
import { createEditorMachine } from "./editor-machine.ts";
import { createInvalidError, EditorSession } from "./editor-session.ts";

const PAGE_SIZE = 50;
/** The limit for one message, which may contain a prompt's images. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The protocol's error code for a missing resource. A client that gets it for a session starts a new one. */
const NOT_FOUND = -32002;

type Folders = Pick<NewSessionRequest, "cwd" | "additionalDirectories"> & {
  readonly mcpServers?: readonly McpServer[];
};

/** Serves the editor at the other end of stdin and stdout until it disconnects or the user interrupts. */
export async function serveAcp(ground: ServeOptions): Promise<void> {
  const sessions = new EditorSessions(ground);
  const stream = createMessageStream<AnyMessage>(process.stdin, process.stdout, MAX_BYTES);
  const connection = createRoutes(sessions, ground.version).connect(stream);
  await Promise.race([connection.closed, waitForAbort(ground.signal)]);
  await sessions.close();
}

/** Version 1 of the protocol. */
function createRoutes(sessions: EditorSessions, version: string) {
  const { session } = methods.agent;
  return agent({ name: "burin" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      sessions.capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "burin", title: "Burin", version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(session.new, async ({ params, client }) => {
      const opened = await sessions.open(params, client);
      return { sessionId: opened.id, ...opened.state };
    })
    .onRequest(session.load, async ({ params, client }) => {
      const past = await sessions.endAndReadEvents(params.sessionId, params.cwd);
      const opened = await sessions.open(params, client, params.sessionId);
      await opened.replay(past);
      return opened.state;
    })
    .onRequest(session.resume, async ({ params, client }) => {
      const opened = await sessions.open(params, client, params.sessionId);
      return opened.state;
    })
    .onRequest(session.list, ({ params }) => sessions.list(params.cwd ?? null, params.cursor ?? null))
    .onRequest(session.close, async ({ params }) => {
      await sessions.endSession(params.sessionId);
      return {};
    })
    .onRequest(session.delete, async ({ params }) => {
      await sessions.remove(params.sessionId);
      return {};
    })
    .onRequest(session.setMode, ({ params }) => {
      sessions.findOrThrow(params.sessionId).setMode(params.modeId);
      return {};
    })
    .onRequest(session.setConfigOption, ({ params }) => {
      const opened = sessions.findOrThrow(params.sessionId);
      if (params.configId !== "model") throw createInvalidError("the only option that can be set is model");
      opened.setModel(params.value);
      return { configOptions: opened.configOptions };
    })
    .onRequest(session.prompt, async ({ params, signal }) => ({
      stopReason: await sessions.findOrThrow(params.sessionId).prompt(params.prompt, signal),
    }))
    .onNotification(session.cancel, ({ params }) => sessions.find(params.sessionId)?.cancel());
}

class EditorSessions {
  capabilities: ClientCapabilities = {};
  readonly #ground: ServeOptions;
  readonly #home = resolveBurinHome(process.env);
  readonly #open = new Map<string, EditorSession>();

  constructor(ground: ServeOptions) {
    this.#ground = ground;
  }

  find(id: string): EditorSession | undefined {
    return this.#open.get(id);
  }

  findOrThrow(id: string): EditorSession {
    const found = this.#open.get(id);
    if (found === undefined)
      throw createUnknownSessionError(id, `no session ${id} is open: load one, or start a new one`);
    return found;
  }

  /** Opens a new session, or resumes the one with that id. */
  async open(folders: Folders, client: AgentContext, id?: string): Promise<EditorSession> {
    const { cwd, additionalDirectories = [], mcpServers = [] } = folders;
    const root = await this.#resolveRoot(cwd);
    // The user's command names the additional folders, too.
    if (this.#ground.isRootFixed && additionalDirectories.length > 0) throw createWrongRootError(root);
    if (id !== undefined) await this.endSession(id);
    const opened = await this.#ground.open([root, ...additionalDirectories]).catch(throwInvalidError);
    for (const notice of opened.notices) this.#ground.note(notice);
    const settings = addServers(opened.options.settings as Settings, mcpServers);
    const resumed = id === undefined ? {} : { resume: await this.#resume(root, id) };
    // An editor that cannot show forms could not ask these questions.
    const asking = this.capabilities.elicitation?.form ? [new AskUser()] : [];
    const more: Partial<SessionOptions> = {
      settings,
      awaitsAnswers: true,
      tools: [...(opened.options.tools ?? []), ...asking],
      record: true,
      ...resumed,
    };
    const machine = this.#createMachine(() => session.id, client);
    const creating = Promise.resolve({ ...opened.options, ...more, ...machine }).then(createSession);
    const session = await creating.catch(throwInvalidError);
    const { name = "" } = chooseModel(settings, process.env) ?? {};
    const editor = { client, capabilities: this.capabilities, settings, root };
    const editorSession = new EditorSession(session, editor, settings.model.name ?? name);
    this.#open.set(session.id, editorSession);
    // Send this after the response, which tells the editor the session's id.
    setImmediate(() => void editorSession.announceCommands().catch(() => {}));
    return editorSession;
  }

  async #resolveRoot(cwd: string): Promise<string> {
    const { isRootFixed, root } = this.#ground;
    if (!isAbsolute(cwd)) throw createInvalidError(`cwd must be absolute, not "${cwd}"`);
    const real = await realpath(cwd).catch(throwInvalidError);
    if (!isRootFixed || real === (await realpath(root))) return real;
    throw createWrongRootError(root);
  }

  /** Creates a machine that reads and writes files through the editor's buffers, if the editor allows that. */
  #createMachine(sessionId: () => string, client: AgentContext): Pick<SessionOptions, "machine"> {
    const { readTextFile, writeTextFile } = this.capabilities.fs ?? {};
    if (!readTextFile || !writeTextFile) return {};
    const { fs } = methods.client;
    const machine = createEditorMachine({
      read: async (path) => {
        const answer = client.request(fs.readTextFile, { sessionId: sessionId(), path });
        return answer.then(({ content }) => (typeof content === "string" ? content : null)).catch(() => null);
      },
      write: async (path, content) => {
        await client.request(fs.writeTextFile, { sessionId: sessionId(), path, content });
      },
    });
    return { machine };
  }

  async #resume(root: string, id: string) {
    await this.#findSession(root, id);
    return resumeSession({ home: this.#home, root, id }).catch(throwInvalidError);
  }

  /** Finds a session by its full id, because editors keep the full id. */
  async #findSession(root: string, id: string): Promise<SessionFile> {
    const place = await findSession(this.#home, root, id).catch(() => null);
    if (place?.id === id) return place;
    throw createUnknownSessionError(
      id,
      `there is no session ${id}: nothing was said in it, or it was removed; start a new one`,
    );
  }

  /** Returns the events of a session. Ends the session first if it is open here. */
  async endAndReadEvents(id: string, cwd: string) {
    await this.endSession(id);
    const { path } = await this.#findSession(await this.#resolveRoot(cwd), id);
    const events = [...readLog(path)].map(({ event }) => event);
    if (events.length > 0) return events;
    throw createInvalidError(`nothing of the session ${id} can be read`);
  }

  async list(cwd: string | null, cursor: string | null) {
    const root = cwd === null ? null : await realpath(cwd).catch(throwInvalidError);
    // A damaged record may lack the folder, and an editor cannot open a session without one.
    const all = (await listSessionSummaries(this.#home, root)).filter((one) => (cwd ?? one.root) !== null);
    const from = Number(cursor ?? 0);
    if (!/^\d*$/.test(cursor ?? "")) throw createInvalidError("the cursor is not known");
    const sessions = all.slice(from, from + PAGE_SIZE).map(({ id, root: itsRoot, prompt, changed }) => ({
      sessionId: id,
      cwd: itsRoot ?? cwd ?? "",
      title: prompt?.split("\n")[0]?.slice(0, 200) ?? null,
      updatedAt: new Date(changed).toISOString(),
    }));
    return { sessions, ...(from + PAGE_SIZE < all.length ? { nextCursor: String(from + PAGE_SIZE) } : {}) };
  }

  async endSession(id: string): Promise<void> {
    const found = this.#open.get(id);
    this.#open.delete(id);
    await found?.close();
  }

  async remove(id: string): Promise<void> {
    await this.endSession(id);
    const place = (await listSessionSummaries(this.#home, null)).find((one) => one.id === id);
    if (place !== undefined) await removeSession(place).catch(throwInvalidError);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map((id) => this.endSession(id)));
  }
}

function createUnknownSessionError(sessionId: string, why: string): RequestError {
  return new RequestError(NOT_FOUND, why, { sessionId });
}

function createWrongRootError(root: string): RequestError {
  return createInvalidError(`this agent was started for ${root} only`);
}

/** Turns an error into one whose message the editor can show. */
function throwInvalidError(error: unknown): never {
  throw createInvalidError(error instanceof Error ? error.message : String(error));
}

/** Merges the editor's servers into those of the settings; if names are equal, the editor's wins. */
function addServers(settings: Settings, servers: readonly McpServer[]): Settings {
  const toRecord = (list: readonly { name: string; value: string }[]) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  const given = servers.map((server) => {
    if ("command" in server) {
      const { name, command, args, env } = server;
      return [name, { command, args, env: toRecord(env) }] as const;
    }
    const { name, url, headers, type } = server;
    return [name, { url, type, headers: toRecord(headers) }] as const;
  });
  return { ...settings, mcpServers: { ...settings.mcpServers, ...Object.fromEntries(given) } };
}
