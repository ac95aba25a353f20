import type { Readable, Writable } from "node:stream";
import type { SandboxedCommand, SandboxPlan } from "../sandbox/sandbox.ts";
import { endAtExit } from "./at-exit.ts";
import { childEnvironment, type EnvironmentRules } from "./child-environment.ts";
import { ProcessLedger } from "./process-ledger.ts";
import { endTree, RUN_VARIABLE, type TreeMarks } from "./process-tree.ts";
import { type ChildEnd, killNow, startChild, systemProcesses } from "./run-process.ts";

export interface ServerProcessesOptions extends EnvironmentRules {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Wraps a program in the write limits of commands. */
  readonly confined: (command: SandboxedCommand) => Promise<SandboxPlan>;
}

export interface ServerRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Beside what every child of Burin gets; the person named these, so nothing is taken out. */
  readonly env: Readonly<Record<string, string>>;
  /** It can write where commands can, and nowhere else. */
  readonly sandbox: boolean;
}

/** A program that is spoken with over its input and output for as long as it is needed. */
export interface ServerProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<ChildEnd>;
  /** The last that it wrote to its error stream. */
  errorTail(): string;
  /** Ends it and everything it has started. */
  end(): Promise<void>;
}

/** How much of the error stream is kept, for messages. */
const MOST_TAIL_CHARACTERS = 4000;
/** A server whose input ends is to end by itself; this long it may take. */
const PATIENCE_MS = 200;

/** Starts servers and knows all that still run; what a crash leaves is ended by the next Burin. */
export class ServerProcesses {
  readonly #options: ServerProcessesOptions;
  readonly #ledger: ProcessLedger;
  readonly #running = new Set<ServerProcess>();
  #count = 0;

  constructor(options: ServerProcessesOptions) {
    this.#options = options;
    this.#ledger = new ProcessLedger(options.home, systemProcesses);
  }

  /** Rejects when the program cannot be started, e.g. because there is none of that name. */
  async start(request: ServerRequest): Promise<ServerProcess> {
    this.#count += 1;
    const runId = `${this.#ledger.id}.${this.#count}`;
    const { environment } = this.#options;
    const inherited = environment[RUN_VARIABLE];
    const env = {
      ...childEnvironment(environment, this.#options),
      ...request.env,
      [RUN_VARIABLE]: inherited ? `${inherited} ${runId}` : runId,
    };
    const { command, args, cwd } = request;
    const plan = request.sandbox
      ? await this.#options.confined({ argv: [command, ...args], cwd, network: true })
      : null;
    const child = await startChild({
      ...serverProgram(plan?.program ?? command, plan?.args ?? args, environment.ComSpec),
      cwd,
      env: { ...env, ...plan?.env },
      writeEnd: null,
      hasControl: false,
      hasInput: true,
    });
    const started = systemProcesses.find(child.pid)?.started ?? "";
    this.#ledger.note({ pid: child.pid, started });
    const [output, errors] = child.streams;
    if (output === undefined || errors === undefined || child.input === null) {
      throw new Error("The server was started without its streams.");
    }
    const marks = { runId, known: new Map([[child.pid, started]]) };
    const server = new RunningServer({ input: child.input, output, errors, ended: child.ended }, marks);
    this.#running.add(server);
    void server.gone.then(() => {
      this.#running.delete(server);
      plan?.release();
      if (this.#running.size === 0) this.#ledger.close();
    });
    return server;
  }
}

interface Streams {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  readonly ended: Promise<ChildEnd>;
}

/** On Windows most servers are started through scripts, which only its shell can run. */
function serverProgram(command: string, args: readonly string[], shell = "cmd.exe") {
  if (process.platform !== "win32") return { program: command, args, isVerbatim: false };
  const line = [command, ...args].map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
  return { program: shell, args: ["/d", "/s", "/c", `"${line}"`], isVerbatim: true };
}

class RunningServer implements ServerProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<ChildEnd>;
  /** Resolves when nothing of it is left. */
  readonly gone: Promise<void>;
  readonly #marks: TreeMarks;
  readonly #forget: () => void;
  #settle: () => void = () => {};
  #tail = "";
  #ending: Promise<void> | null = null;

  constructor({ input, output, errors, ended }: Streams, marks: TreeMarks) {
    this.input = input;
    this.output = output;
    this.ended = ended;
    this.#marks = marks;
    this.gone = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#forget = endAtExit(() => killNow(marks));
    errors.on("data", (bytes: Buffer) => {
      this.#tail = (this.#tail + bytes.toString("utf8")).slice(-MOST_TAIL_CHARACTERS);
    });
  }

  errorTail(): string {
    return this.#tail;
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.input.end();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([this.ended, patience]);
    clearTimeout(timer);
    // Also when it has ended by itself: it may have started others.
    await endTree(this.#marks, systemProcesses);
    this.output.destroy();
    this.#forget();
    this.#settle();
  }
}
