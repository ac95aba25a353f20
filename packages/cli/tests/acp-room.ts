import { type ContentBlock, methods } from "@agentclientprotocol/sdk";
import type { FakeReply } from "@burin/core/testing";
import { type Editor, type EditorOptions, openEditor } from "./acp-editor.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

/** A project with `a.txt`, a model that answers as told, and editors that are open in it. */
export class AcpRoom {
  readonly #editors: Editor[] = [];
  #named: Record<string, string> = {};

  constructor() {
    put("a.txt", "one\ntwo\n");
  }

  get model() {
    return server;
  }

  /** An editor, and the model that it gets these replies from. */
  async editor(replies: readonly FakeReply[], options: EditorOptions = {}): Promise<Editor> {
    this.#named = await modelEnv(...replies);
    return this.again(options);
  }

  /** Another editor, with the same model. */
  async again(options: EditorOptions = {}): Promise<Editor> {
    const opened = await openEditor(root, { env: this.#named, ...options });
    this.#editors.push(opened);
    return opened;
  }

  newSession({ agent }: Editor, more: object = {}) {
    return agent.request(methods.agent.session.new, { cwd: root, mcpServers: [], ...more });
  }

  async close(): Promise<void> {
    for (const editor of this.#editors) await editor.close();
  }
}

export async function prompt({ agent }: Editor, sessionId: string, words: string | ContentBlock[]) {
  const blocks: ContentBlock[] = typeof words === "string" ? [{ type: "text", text: words }] : words;
  return (await agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks })).stopReason;
}

export const call = (name: string, args: Record<string, unknown>) => ({ calls: [{ name, args }] });
