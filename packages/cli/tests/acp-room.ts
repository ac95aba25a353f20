import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContentBlock, methods } from "@agentclientprotocol/sdk";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { type Editor, type EditorOptions, openEditor } from "./acp-editor.ts";

/** A project with `a.txt`, a model that answers as told, and editors that are open in it. */
export class AcpRoom {
  readonly root: string;
  #model: FakeModelServer | null = null;
  readonly #editors: Editor[] = [];

  private constructor(root: string) {
    this.root = root;
  }

  static async open(): Promise<AcpRoom> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "burin-acp-")));
    await writeFile(join(root, "a.txt"), "one\ntwo\n");
    return new AcpRoom(root);
  }

  get model(): FakeModelServer {
    if (this.#model === null) throw new Error("No editor was opened yet.");
    return this.#model;
  }

  /** An editor, and the model that it gets these replies from. */
  async editor(replies: readonly FakeReply[], options: EditorOptions = {}): Promise<Editor> {
    this.#model = await startFakeModelServer(replies);
    return this.again(options);
  }

  /** Another editor, with the same model. */
  async again(options: EditorOptions = {}): Promise<Editor> {
    const named = { OPENAI_BASE_URL: this.model.baseUrl, OPENAI_MODEL: "m", OPENAI_API_KEY: "k" };
    const opened = await openEditor(this.root, { ...options, env: options.env ?? named });
    this.#editors.push(opened);
    return opened;
  }

  newSession({ agent }: Editor, more: object = {}) {
    return agent.request(methods.agent.session.new, { cwd: this.root, mcpServers: [], ...more });
  }

  async close(): Promise<void> {
    for (const editor of this.#editors) await editor.close();
    await this.#model?.close();
    await rm(this.root, { recursive: true, force: true });
  }
}

export async function prompt({ agent }: Editor, sessionId: string, words: string | ContentBlock[]) {
  const blocks: ContentBlock[] = typeof words === "string" ? [{ type: "text", text: words }] : words;
  return (await agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks })).stopReason;
}

export const call = (name: string, args: Record<string, unknown>) => ({ calls: [{ name, args }] });
