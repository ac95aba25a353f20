import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { BURIN, buildEnvironment } from "./burin.ts";

export interface EditorOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The id of the option that the user takes; null when the question is given up. */
  readonly says?: (asked: RequestPermissionRequest) => string | null | Promise<string | null>;
  /** Files that are open and not saved, by their paths. */
  readonly buffers?: Map<string, string>;
  readonly capabilities?: ClientCapabilities;
  /** What the user writes into every form. */
  readonly fills?: Readonly<Record<string, string | number | boolean>>;
}

export interface Editor {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly agent: ClientConnection["agent"];
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
  /** The messages of the forms that were shown. */
  readonly forms: string[];
  /** All text of one kind of update. */
  readonly text: (kind: SessionUpdate["sessionUpdate"]) => string;
  readonly close: () => Promise<unknown>;
}

/** The protocol's own client as an editor with `burin serve acp`, the command line as it ships. */
export async function openEditor(cwd: string, options: EditorOptions = {}): Promise<Editor> {
  const child = spawn(process.execPath, [BURIN, "serve", "acp", ...(options.args ?? [])], {
    cwd,
    env: buildEnvironment(cwd, options.env),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const forms: string[] = [];
  const { buffers, says } = options;
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const connection = client({ name: "editor" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const optionId = (await says?.(params)) ?? null;
      return { outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.push(params.message);
      return { action: "accept", content: { ...options.fills } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const content = buffers?.get(params.path);
      if (content === undefined) throw new Error("not open");
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      buffers?.set(params.path, params.content);
      return {};
    })
    .connect(stream);
  const { agent } = connection;
  const fs = buffers === undefined ? {} : { fs: { readTextFile: true, writeTextFile: true } };
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { ...fs, ...options.capabilities },
  });
  return {
    child,
    ended,
    agent,
    updates,
    asked,
    forms,
    text: (kind) =>
      updates
        .flatMap((update) =>
          update.sessionUpdate === kind && "content" in update && !Array.isArray(update.content)
            ? [update.content?.type === "text" ? update.content.text : ""]
            : [],
        )
        .join(""),
    close: () => {
      connection.close();
      child.stdin.destroy();
      return ended;
    },
  };
}
