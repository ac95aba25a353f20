import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach } from "vitest";
import { newFolder, removeFolder, type ScreenOptions, ScreenTerminal } from "./screen-terminal.ts";

/** Longer than a question that has just come up takes no keys. */
const STOOD_MS = 350;
const AGAIN_MS = 6000;

/** A folder of files, a fake model and the screen, for each test of a file anew. */
export class ScreenRoom {
  root = "";
  #server: FakeModelServer | undefined;
  #screens: ScreenTerminal[] = [];
  readonly #defaults: Partial<ScreenOptions>;

  constructor(files: Readonly<Record<string, string>>, defaults: Partial<ScreenOptions> = {}) {
    this.#defaults = defaults;
    beforeEach(async () => {
      this.root = await newFolder(files);
    });
    afterEach(async () => {
      for (const screen of this.#screens.splice(0)) screen.close();
      await this.#server?.close();
      this.#server = undefined;
      await removeFolder(this.root);
    });
  }

  get server(): FakeModelServer {
    if (this.#server === undefined) throw new Error("No screen was opened yet.");
    return this.#server;
  }

  /** The user's own settings. */
  async set(settings: object | string): Promise<void> {
    const text = typeof settings === "string" ? settings : JSON.stringify(settings);
    await mkdir(join(this.root, ".home"), { recursive: true });
    await writeFile(join(this.root, ".home/settings.json"), text);
  }

  /** A model that gives these replies. */
  async serve(replies: readonly FakeReply[]): Promise<void> {
    await this.#server?.close();
    this.#server = await startFakeModelServer(replies);
  }

  /** The app with a model that gives these replies. */
  async open(
    replies: readonly FakeReply[] = [],
    options: Partial<ScreenOptions> = {},
  ): Promise<ScreenTerminal> {
    await this.serve(replies);
    return this.start(options);
  }

  /** The app once more, with the model there is. */
  async start(options: Partial<ScreenOptions> = {}): Promise<ScreenTerminal> {
    const model = { OPENAI_BASE_URL: this.server.baseUrl, OPENAI_MODEL: "fake-model" };
    const screen = this.begin({ ...options, env: { ...options.env, ...model } });
    await screen.shows("fake-model · ");
    return screen;
  }

  /** The app as it starts where the environment names no model. */
  begin(options: Partial<ScreenOptions> = {}): ScreenTerminal {
    const screen = new ScreenTerminal({ cwd: this.root, ...this.#defaults, ...options });
    this.#screens.push(screen);
    return screen;
  }
}

/** A reply with one command. */
export function running(command: string): FakeReply {
  return { calls: [{ name: "run_shell_command", args: { command } }] };
}

/** Keys count only when a question has stood a while; those that came too soon are typed again, but not twice where the screen is slow. */
export async function answer(terminal: ScreenTerminal, keys: string, gone: string): Promise<void> {
  let next = performance.now() + STOOD_MS;
  await terminal.until(() => {
    if (performance.now() > next && terminal.text().includes(gone)) {
      next = performance.now() + AGAIN_MS;
      terminal.type(keys);
    }
    return !terminal.text().includes(gone);
  }, `an answer to "${gone}"`);
}
