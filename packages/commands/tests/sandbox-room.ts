import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxMode } from "../src/sandbox/sandbox.ts";
import type { CommandRequest, CommandsOptions } from "../src/shell/command-request.ts";
import { type Commands, openCommands } from "../src/shell/commands.ts";

interface CommandResult {
  readonly code: number | null;
  readonly text: string;
  readonly run: Awaited<ReturnType<Commands["start"]>>;
}

/** A throw-away project whose commands run in the sandbox. */
export class SandboxFixture {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), "burin-sandbox-")));
  readonly root: string = join(this.base, "project");
  readonly home: string = join(this.base, "home");
  commands: Commands;

  constructor() {
    mkdirSync(this.root);
    this.commands = this.open();
  }

  /** Close what was open before. */
  open(
    sandbox: SandboxMode = "workspace-write",
    network = false,
    ...[egress, environment = process.env, hide]: [
      egress?: CommandsOptions["egress"] | undefined,
      environment?: NodeJS.ProcessEnv,
      hide?: readonly string[],
    ]
  ): Commands {
    this.commands = openCommands({
      roots: [this.root],
      home: this.home,
      environment: { ...environment, OPENAI_API_KEY: "canary-key" },
      sandbox,
      network,
      ...(egress && { egress }),
      ...(hide && { hide }),
      passEnvironment: [],
      secretEnvironment: [],
    });
    return this.commands;
  }

  async run(
    command: string,
    exception: "none" | "network" | "unlimited" = "none",
    hosts?: readonly string[],
  ): Promise<CommandResult> {
    return this.#run({ command, directory: this.root, exception, ...(hosts && { hosts }) });
  }

  /** Without limits, and with a yes to these protected files below the root. */
  async runUnlimited(command: string, names: readonly string[]): Promise<CommandResult> {
    const writes = names.map((name) => join(this.root, name));
    return this.#run({ command, directory: this.root, exception: "unlimited", writes });
  }

  async #run(request: CommandRequest): Promise<CommandResult> {
    const run = await this.commands.start(request);
    const { exitCode: code } = await run.shellEnded;
    return { code, text: run.output.soFar().head.toString(), run };
  }

  async remove(): Promise<void> {
    await this.commands.close();
    await rm(this.base, { recursive: true });
  }
}
