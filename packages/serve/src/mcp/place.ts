import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import type { ServeOptions } from "../ground.ts";
import { ServedTools } from "./served-tools.ts";

/** What a client is informed about in addition to its calls. */
export type HostChange = "tools" | "resources" | { readonly notice: string };

/**
 * The folders that a client works in, and their tools. The tools are opened at the first request, and again when the
 * folders change.
 */
export class ToolsHost {
  readonly #ground: ServeOptions;
  readonly #room: () => Promise<void>;
  readonly #listeners = new Set<(what: HostChange) => void>();
  #folders: readonly string[] | undefined;
  #opening: Promise<ServedTools> | null = null;
  /** Tools of folders that the client has left while calls were still running there. */
  readonly #left = new Set<ServedTools>();
  /** The move to other folders that must finish before tools are opened. */
  #before: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** `room` resolves when the client has read enough of its answers for another. */
  constructor(ground: ServeOptions, room: () => Promise<void>) {
    this.#ground = ground;
    this.#room = room;
  }

  /** The default folder, if the client names no others. */
  get root(): string {
    return this.#ground.root;
  }

  /** Rejects when the settings of the folder are not valid. */
  async getTools(): Promise<ServedTools> {
    await this.#before;
    if (this.#isClosed) throw new Error("The connection is closed.");
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      // Do not cache the failure: the user may fix the settings before the next call.
      this.#opening = null;
      throw error;
    }
  }

  /** Asks the client for its folders. No tools are opened before that is done; a failure is only reported. */
  runBeforeOpening(work: () => Promise<void>): void {
    const before = this.#before;
    this.#before = before.then(work).catch((error: unknown) => {
      this.#reportNotice(`the client's roots are not used: ${formatReason(error)}`);
    });
  }

  /** Changes the folders. Rejects, and keeps the old ones, when the new ones cannot be used. */
  async changeFolders(folders: readonly string[]): Promise<void> {
    if (folders.join("\n") === this.#folders?.join("\n")) return;
    const opened = this.#open(folders);
    await opened;
    this.#folders = folders;
    const old = this.#opening;
    this.#opening = opened;
    if (old === null) return;
    void old.then((tools) => this.#closeWhenIdle(tools)).catch(() => {});
    this.#tell("tools");
  }

  /** Closes the tools of folders that the client has left, after the running calls have been answered. */
  async #closeWhenIdle(tools: ServedTools): Promise<void> {
    this.#left.add(tools);
    await tools.waitForAnswers();
    this.#left.delete(tools);
    await tools.close();
  }

  onChange(listener: (what: HostChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly #tell = (what: HostChange): void => {
    for (const listener of this.#listeners) listener(what);
  };

  #reportNotice(notice: string): void {
    this.#ground.note(notice);
    this.#tell({ notice });
  }

  async #open(folders = this.#folders): Promise<ServedTools> {
    const { options, notices } = await this.#ground.open(folders);
    for (const notice of notices) this.#reportNotice(notice);
    const tools = new ServedTools(options, this.#tell, this.#room);
    void tools.discoverAndListFailures().then((failures) => {
      for (const failure of failures) this.#reportNotice(failure);
    });
    return tools;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    const tools = await this.#opening?.catch(() => null);
    await Promise.allSettled([tools, ...this.#left].map((one) => one?.close()));
  }
}

/**
 * Describes an error in plain words: for a response of the wrong shape, the protocol's library only prints a list of
 * its checks.
 */
function formatReason(error: unknown): string {
  const isOtherShape = error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;
  if (isOtherShape) return "its answer has no roots";
  return error instanceof Error ? error.message : String(error);
}
