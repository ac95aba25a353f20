import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "@burin/commands/node-machine";
import { type Commands, openCommands } from "@burin/commands/shell/commands";
import type { ToolResult } from "@burin/contract/tools";
import { Shell } from "@burin/core";

type ShellParams = Parameters<Shell["execute"]>[0];

/** A project in a temporary folder, Burin's own home beside it, and run_shell_command without a sandbox. */
export class ShellRoom {
  readonly root: string;
  readonly home: string;
  readonly #base: string;
  #commands: Commands;

  static async open(): Promise<ShellRoom> {
    const base = await realpath(await mkdtemp(join(tmpdir(), "burin-shell-")));
    await mkdir(join(base, "project"));
    return new ShellRoom(base);
  }

  private constructor(base: string) {
    this.#base = base;
    this.root = join(base, "project");
    this.home = join(base, "home");
    this.#commands = this.#begin(process.env, []);
  }

  get commands(): Commands {
    return this.#commands;
  }

  /** Ends what runs, and goes on in another environment. */
  async renew(environment: NodeJS.ProcessEnv, pass: readonly string[]): Promise<void> {
    await this.#commands.close();
    this.#commands = this.#begin(environment, pass);
  }

  async close(): Promise<void> {
    await this.#commands.close();
    await rm(this.#base, { recursive: true });
  }

  /** Throws where the tool does not take the parameters. */
  async run(
    params: ShellParams,
    signal: AbortSignal = new AbortController().signal,
    onUpdate?: (text: unknown) => void,
  ): Promise<ToolResult & { readonly text: string }> {
    const workspace = openWorkspace(this.root, [], { ignoreFileNames: [], ignore: [], denied: [] });
    const shell = new Shell(workspace, this.#commands);
    const fault = shell.validateToolParams(params);
    if (fault !== null) throw new Error(fault);
    const result = await shell.execute(params, signal, onUpdate);
    return { ...result, text: String(result.llmContent) };
  }

  #begin(environment: NodeJS.ProcessEnv, passEnvironment: readonly string[]): Commands {
    return openCommands({
      roots: [this.root],
      home: this.home,
      environment,
      sandbox: "off",
      network: false,
      passEnvironment,
      secretEnvironment: ["MY_MODEL_KEY"],
    });
  }
}
