import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { SandboxState } from "../sandbox/sandbox.ts";
import type {
  BackgroundCommand,
  CommandRequest,
  CommandsGround,
  CommandsOptions,
} from "./command-request.ts";
import type { CommandRun } from "./command-run.ts";
import { hasTerminal } from "./has-terminal.ts";
import type { ProcessEntry } from "./process-table.ts";
import type { ExchangeEnd, ExchangeRequest } from "./run-exchange.ts";
import type { RunningCommands } from "./running-commands.ts";
import type { ServerProcess, ServerRequest } from "./server-processes.ts";
import { chooseShell, findProgram, type ShellProgram } from "./shell-program.ts";

/**
 * Runs shell commands and knows all that still run. One for each session; `close` ends what is left. The work
 * is done in running-commands.ts, loaded with the first command, because most starts of Burin run none.
 */
export class Commands implements CommandsGround {
  readonly shell: ShellProgram;
  readonly outputFolder: string;
  /** Commands can be given a terminal. */
  readonly hasTerminal = hasTerminal();
  readonly #options: CommandsOptions;
  #running: Promise<RunningCommands> | undefined;

  constructor(options: CommandsOptions) {
    const { environment, home, roots } = options;
    this.#options = options;
    this.shell = chooseShell(process.platform, (name) => findProgram(name, environment.PATH, roots));
    this.outputFolder = join(home, "output");
  }

  get hasNetwork(): boolean {
    return this.#options.network;
  }

  hasNetworkFor({ exception, reads }: CommandRequest): boolean {
    return exception === "network" || (this.#options.network && reads !== "wholly");
  }

  /** What a command would be given, for whoever judges it. */
  get surroundings() {
    const { environment, passEnvironment } = this.#options;
    return { shell: this.shell, environment, passEnvironment };
  }

  get roots(): readonly string[] {
    return this.#options.roots;
  }

  /** Ends what a Burin that crashed has left behind, once. Resolves to the count of processes. */
  async endLeftBehind(): Promise<number> {
    return hasRun(this.#options.home) ? (await this.#work()).endLeftBehind() : 0;
  }

  /** Which limits commands run in, or this one does; found out at the first call. */
  async sandbox(request?: CommandRequest): Promise<SandboxState> {
    return (await this.#work()).sandbox(request);
  }

  /** A program that is spoken with, e.g. an MCP server. Rejects when it cannot be started. */
  async startServer(request: ServerRequest): Promise<ServerProcess> {
    return (await this.#work()).startServer(request);
  }

  /** A line for the shell that answers what it is given to read. Never rejects. */
  async exchange(request: ExchangeRequest): Promise<ExchangeEnd> {
    return (await this.#work()).exchange(request);
  }

  /** Throws a WorkspaceError when the directory is not there. */
  async start(request: CommandRequest): Promise<CommandRun> {
    return (await this.#work()).start(request);
  }

  /** Lets a command go on by itself. The answer is the id it is known by. */
  async keep(request: CommandRequest, run: CommandRun): Promise<string> {
    return (await this.#work()).keep(request, run);
  }

  /** Those that run and those that ended lately, as they are now. */
  async backgrounds(): Promise<readonly BackgroundCommand[]> {
    return this.#running === undefined ? [] : (await this.#running).backgrounds();
  }

  /** Those that a call waits for just now. */
  async foreground(): Promise<readonly BackgroundCommand[]> {
    return this.#running === undefined ? [] : (await this.#running).foreground();
  }

  /** Ends everything that still runs. Resolves to what could not be ended. */
  async close(): Promise<readonly ProcessEntry[]> {
    return this.#running === undefined ? [] : (await this.#running).close();
  }

  #work(): Promise<RunningCommands> {
    this.#running ??= import("./running-commands.ts").then(
      ({ RunningCommands }) => new RunningCommands(this.#options, this),
    );
    return this.#running;
  }
}

/** Nothing can have been left behind where no Burin has noted what it runs. */
function hasRun(home: string): boolean {
  try {
    return readdirSync(join(home, "running")).length > 0;
  } catch {
    return false;
  }
}
