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
  burinHome,
  chooseModel,
  findSession,
  removeSession,
  resumeSession,
  type SessionPlace,
  type Settings,
  sessionSummaries,
} from "@burin/core/internal";
import { readLog } from "@burin/core/sessions";
import { type Ground, untilAborted } from "../ground.ts";
import { messageStream } from "../message-lines.ts";
import { editorMachine } from "./editor-machine.ts";
import { EditorSession, invalid } from "./editor-session.ts";

const PAGE = 50;
/** Per message, which may contain images of a prompt. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What the protocol calls a resource that was not found; clients that get it for a session begin a new one. */
const NOT_FOUND = -32002;

type Folders = Pick<NewSessionRequest, "cwd" | "additionalDirectories"> & {
  readonly mcpServers?: readonly McpServer[];
};

/** Serves the editor at the other end of stdin and stdout until it disconnects or the user interrupts. */
export async function serveAcp(ground: Ground): Promise<void> {
  const sessions = new EditorSessions(ground);
  const stream = messageStream<AnyMessage>(process.stdin, process.stdout, MOST_BYTES);
  const connection = routes(sessions, ground.version).connect(stream);
  await Promise.race([connection.closed, untilAborted(ground.signal)]);
  await sessions.close();
}

/** Version 1 of the protocol. */
function routes(sessions: EditorSessions, version: string) {
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
      return { sessionId: opened.id, ...opened.shown };
    })
    .onRequest(session.load, async ({ params, client }) => {
      const past = await sessions.past(params.sessionId, params.cwd);
      const opened = await sessions.open(params, client, params.sessionId);
      await opened.replay(past);
      return opened.shown;
    })
    .onRequest(session.resume, async ({ params, client }) => {
      const opened = await sessions.open(params, client, params.sessionId);
      return opened.shown;
    })
    .onRequest(session.list, ({ params }) => sessions.list(params.cwd ?? null, params.cursor ?? null))
    .onRequest(session.close, async ({ params }) => {
      await sessions.end(params.sessionId);
      return {};
    })
    .onRequest(session.delete, async ({ params }) => {
      await sessions.remove(params.sessionId);
      return {};
    })
    .onRequest(session.setMode, ({ params }) => {
      sessions.named(params.sessionId).setMode(params.modeId);
      return {};
    })
    .onRequest(session.setConfigOption, ({ params }) => {
      const opened = sessions.named(params.sessionId);
      if (params.configId !== "model") throw invalid("the only option is model");
      opened.setModel(params.value);
      return { configOptions: opened.configOptions };
    })
    .onRequest(session.prompt, async ({ params, signal }) => ({
      stopReason: await sessions.named(params.sessionId).prompt(params.prompt, signal),
    }))
    .onNotification(session.cancel, ({ params }) => sessions.find(params.sessionId)?.cancel());
}

class EditorSessions {
  capabilities: ClientCapabilities = {};
  readonly #ground: Ground;
  readonly #home = burinHome(process.env);
  readonly #open = new Map<string, EditorSession>();

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  find(id: string): EditorSession | undefined {
    return this.#open.get(id);
  }

  named(id: string): EditorSession {
    const found = this.#open.get(id);
    if (found === undefined)
      throw unknownSession(id, `no session ${id} is open: load one, or start a new one`);
    return found;
  }

  /** Opens a new session, or resumes the one with that id. */
  async open(folders: Folders, client: AgentContext, id?: string): Promise<EditorSession> {
    const { cwd, additionalDirectories = [], mcpServers = [] } = folders;
    const root = await this.#rootOf(cwd);
    // The user's command names the additional folders, too.
    if (this.#ground.isRootFixed && additionalDirectories.length > 0) throw startedFor(root);
    if (id !== undefined) await this.end(id);
    const opened = await this.#ground.open([root, ...additionalDirectories]).catch(inWords);
    for (const notice of opened.notices) this.#ground.note(notice);
    const settings = withServers(opened.options.settings as Settings, mcpServers);
    const resumed = id === undefined ? {} : { resume: await this.#resumed(root, id) };
    // An editor that shows no forms could not ask.
    const asking = this.capabilities.elicitation?.form ? [new AskUser()] : [];
    const more: Partial<SessionOptions> = {
      settings,
      awaitsAnswers: true,
      tools: [...(opened.options.tools ?? []), ...asking],
      record: true,
      ...resumed,
    };
    const machine = this.#machine(() => session.id, client);
    const creating = Promise.resolve({ ...opened.options, ...more, ...machine }).then(createSession);
    const session = await creating.catch(inWords);
    const { name = "" } = chooseModel(settings, process.env) ?? {};
    const editor = { client, capabilities: this.capabilities, settings, root };
    const editorSession = new EditorSession(session, editor, settings.model.name ?? name);
    this.#open.set(session.id, editorSession);
    // After the answer, which tells the editor the id.
    setImmediate(() => void editorSession.announceCommands().catch(() => {}));
    return editorSession;
  }

  async #rootOf(cwd: string): Promise<string> {
    const { isRootFixed, root } = this.#ground;
    if (!isAbsolute(cwd)) throw invalid(`cwd must be absolute, not "${cwd}"`);
    const real = await realpath(cwd).catch(inWords);
    if (!isRootFixed || real === (await realpath(root))) return real;
    throw startedFor(root);
  }

  /** Through the editor's buffers, if it lets others read and write them. */
  #machine(sessionId: () => string, client: AgentContext): Pick<SessionOptions, "machine"> {
    const { readTextFile, writeTextFile } = this.capabilities.fs ?? {};
    if (!readTextFile || !writeTextFile) return {};
    const { fs } = methods.client;
    const machine = editorMachine({
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

  async #resumed(root: string, id: string) {
    await this.#placeOf(root, id);
    return resumeSession({ home: this.#home, root, id }).catch(inWords);
  }

  /** By the whole of its id, which is what editors keep. */
  async #placeOf(root: string, id: string): Promise<SessionPlace> {
    const place = await findSession(this.#home, root, id).catch(() => null);
    if (place?.id === id) return place;
    throw unknownSession(
      id,
      `there is no session ${id}: nothing was said in it, or it was removed; start a new one`,
    );
  }

  /** What was said and done in a session, which is ended if it is open here. */
  async past(id: string, cwd: string) {
    await this.end(id);
    const { path } = await this.#placeOf(await this.#rootOf(cwd), id);
    const events = [...readLog(path)].map(({ event }) => event);
    if (events.length > 0) return events;
    throw invalid(`nothing of the session ${id} can be read`);
  }

  async list(cwd: string | null, cursor: string | null) {
    const root = cwd === null ? null : await realpath(cwd).catch(inWords);
    // A damaged record may lack the folder, and without it no editor can open the session.
    const all = (await sessionSummaries(this.#home, root)).filter((one) => (cwd ?? one.root) !== null);
    const from = Number(cursor ?? 0);
    if (!/^\d*$/.test(cursor ?? "")) throw invalid("the cursor is not known");
    const sessions = all.slice(from, from + PAGE).map(({ id, root: itsRoot, prompt, changed }) => ({
      sessionId: id,
      cwd: itsRoot ?? cwd ?? "",
      title: prompt?.split("\n")[0]?.slice(0, 200) ?? null,
      updatedAt: new Date(changed).toISOString(),
    }));
    return { sessions, ...(from + PAGE < all.length ? { nextCursor: String(from + PAGE) } : {}) };
  }

  async end(id: string): Promise<void> {
    const found = this.#open.get(id);
    this.#open.delete(id);
    await found?.close();
  }

  async remove(id: string): Promise<void> {
    await this.end(id);
    const place = (await sessionSummaries(this.#home, null)).find((one) => one.id === id);
    if (place !== undefined) await removeSession(place).catch(inWords);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map((id) => this.end(id)));
  }
}

function unknownSession(sessionId: string, why: string): RequestError {
  return new RequestError(NOT_FOUND, why, { sessionId });
}

function startedFor(root: string): RequestError {
  return invalid(`this agent was started for ${root} only`);
}

/** What goes wrong is told in words. */
function inWords(error: unknown): never {
  throw invalid(error instanceof Error ? error.message : String(error));
}

/** The servers of the editor and of the settings; for equal names the editor's wins. */
function withServers(settings: Settings, servers: readonly McpServer[]): Settings {
  const pairs = (list: readonly { name: string; value: string }[]) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]));
  const given = servers.map((server) => {
    if ("command" in server) {
      const { name, command, args, env } = server;
      return [name, { command, args, env: pairs(env) }] as const;
    }
    const { name, url, headers, type } = server;
    return [name, { url, type, headers: pairs(headers) }] as const;
  });
  return { ...settings, mcpServers: { ...settings.mcpServers, ...Object.fromEntries(given) } };
}
