import { rmSync, statSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { randomName } from "@burin/files/disk/own-files";
import { readGitLine } from "@burin/shell-judge";
import { type EgressLease, SessionEgress } from "../egress/session-egress.ts";
import { ALLOWED_GIT_ENVIRONMENT, buildReadOnlyEnvironment } from "../git/git-programs.ts";
import { runAtExit } from "../processes/at-exit.ts";
import { buildChildEnvironment, mapCodePaths } from "../processes/child-environment.ts";
import { excludeFromHelperSearch, removeProjectFolders } from "../processes/helper-program.ts";
import { createTemporary, endLeftovers, removeTemporary } from "../processes/process-ledger.ts";
import type { ProcessEntry } from "../processes/process-table.ts";
import { tryRunProgram } from "../processes/run-process.ts";
import {
  type ExchangeEnd,
  type ExchangeRequest,
  runExchange,
  type ServerProcess,
  type ServerRequest,
  startServer,
} from "../processes/server-processes.ts";
import { buildShellArguments, type ShellProgram } from "../processes/shell-program.ts";
import { Supervisor } from "../processes/supervisor.ts";
import { createGuardCheck } from "../sandbox/guard-notes.ts";
import { beginAllowedCall } from "../sandbox/permissions.ts";
import type { SandboxedCommand, SandboxPlan, SandboxState } from "../sandbox/sandbox.ts";
import { openSpace } from "../sandbox/sandbox-probe.ts";
import type { SessionSpace } from "../sandbox/session-space.ts";
import { createCommandLimits } from "./command-limits.ts";
import type {
  BackgroundCommand,
  CommandRequest,
  CommandsOptions,
  ProtectedWrite,
} from "./command-request.ts";
import { CommandRun } from "./command-run.ts";
import { closePipe, createOutputPipes } from "./output-pipe.ts";

/** How often to look for a crashed Burin's leftovers in the same home folder. */
const CLEANUP_INTERVAL_MS = 5000;
/** The maximum number of ended background commands that can still be read. */
const MAX_REMEMBERED = 50;
const OUTPUT_KEPT_MS = 7 * 24 * 3600 * 1000;

/** Implements MachineCommands on this machine: runs commands, and ends all that they started. */
export class RunningCommands {
  readonly #shell: ShellProgram;
  readonly #outputFolder: string;
  readonly #options: CommandsOptions;
  readonly #supervisor: Supervisor;
  #env: Readonly<Record<string, string>> | null = null;
  readonly #running = new Map<CommandRun, Running>();
  readonly #background = new Map<CommandRun, BackgroundCommand<CommandRun>>();
  #count = 0;
  #kept = 0;
  #session: Session | null = null;
  #egress: SessionEgress | null = null;
  #space: Promise<SessionSpace | null> | null = null;
  readonly #limits: ReturnType<typeof createCommandLimits>;
  #cleaned: Promise<number> | null = null;
  #cleanedAt = 0;
  readonly #cleanings: (Promise<void> | undefined)[] = [];

  constructor(options: CommandsOptions, shell: ShellProgram, outputFolder: string) {
    this.#options = options;
    excludeFromHelperSearch(options.roots);
    this.#shell = shell;
    this.#outputFolder = outputFolder;
    this.#supervisor = new Supervisor(options);
    this.#limits = createCommandLimits({
      ...options,
      temporary: () => this.#openSession().folder,
      space: () => this.#openSpace(),
      onGuard: (note) => this.#supervisor.ledger.noteGuard(note),
    });
  }

  /** Returns the space that this session's commands share; opens a new one if it has ended. */
  async #openSpace(): Promise<SessionSpace | null> {
    const opening = this.#space;
    const current = await opening;
    if (current !== null && !current.canBeEntered && this.#space === opening) {
      this.#space = null;
      await current.close();
    }
    this.#space ??= openSpace(this.#supervisor, this.#options.environment);
    return this.#space;
  }

  /** Ends the leftovers of crashed Burins, at most once every CLEANUP_INTERVAL_MS. */
  endLeftoversOnce(): Promise<number> {
    if (this.#cleaned !== null && performance.now() - this.#cleanedAt < CLEANUP_INTERVAL_MS)
      return this.#cleaned;
    if (this.#cleaned === null) void removeOldOutputs(this.#outputFolder);
    this.#cleanedAt = performance.now();
    this.#cleaned = endLeftovers(this.#options.home, createGuardCheck(this.#options.environment));
    return this.#cleaned;
  }

  #isReadOnly(request?: CommandRequest): boolean {
    return request?.reads === "wholly" || (this.#options.isReadOnly?.() ?? false);
  }

  /** Returns the limits that commands run in, determined with the first call. */
  sandbox(request?: CommandRequest): Promise<SandboxState> {
    // The caller is about to run something, so prepare what that needs.
    this.#openSession().pipes.prepare();
    this.#buildEnvironment();
    if (this.#options.sandbox !== "off" && this.#space === null) void this.#openSpace().catch(() => {});
    return this.#limits.state(this.#isReadOnly(request));
  }

  /** Whether a command can reach the servers that earlier ones of this session have started. */
  async sharesServers(): Promise<boolean> {
    if (process.platform !== "linux" || (await this.#limits.state(false)).sandbox === null) return true;
    return (await this.#openSpace()) !== null;
  }

  /** Creates a temporary folder. The caller removes it; after a crash, the next Burin does. */
  async temporaryFolder(): Promise<string> {
    return this.#makeTemporary();
  }

  #makeTemporary(): string {
    const folder = createTemporary(this.#options.home, this.#options.roots);
    this.#supervisor.ledger.note({ temporary: folder });
    return folder;
  }

  /** Starts a server. Rejects when the program cannot be started, or needs limits and there are none. */
  async startServer({ sandbox, ...request }: ServerRequest): Promise<ServerProcess> {
    const { command, args, cwd } = request;
    const limits = { argv: [command, ...args] as const, cwd, network: true, isAlone: true };
    return startServer(this.#supervisor, {
      ...request,
      env: { ...this.#buildEnvironment(), ...request.env },
      sandbox: sandbox ? await this.#limits.confine(limits) : null,
      comSpec: this.#options.environment.ComSpec,
    });
  }

  /** Never rejects. */
  exchange(request: ExchangeRequest): Promise<ExchangeEnd> {
    const { command, cwd, limits } = request;
    const shell = this.#buildShellProgram(command, cwd);
    const argv = [shell.program, ...shell.args] as const;
    return runExchange(async () => {
      const sandbox = limits ? await this.#limits.confine({ argv, cwd, ...limits, isAlone: true }) : null;
      return this.#supervisor.start({ ...shell, sandbox, writeEnd: null, hasInput: true });
    }, request);
  }

  #buildShellProgram(command: string, cwd: string) {
    const { path: program, isVerbatim } = this.#shell;
    const env = { ...this.#buildEnvironment(), PWD: cwd };
    return { program, args: buildShellArguments(this.#shell, command), cwd, env, isVerbatim };
  }

  async start(request: CommandRequest): Promise<CommandRun> {
    const { home, roots, environment } = this.#options;
    assertDirectory(request.directory, roots);
    void this.endLeftoversOnce();
    const { pipes, folder } = this.#openSession();
    const number = ++this.#count;
    const { terminal = false } = request;
    const shell = this.#buildShellProgram(request.command, request.directory);
    const taking = terminal ? null : pipes.take();
    const limits = this.#buildLimits(request, [shell.program, ...shell.args]);
    const needs = Promise.all([taking, limits, this.#options.secrets?.()]);
    const [pipe, { sandbox, egress }, secrets] = await needs.catch(async (error) => {
      closePipe(await taking);
      throw error;
    });
    const endCall = await this.#beginCall(request);
    const run = await CommandRun.start(this.#supervisor, {
      ...shell,
      env: { ...shell.env, ...egress?.env, ...this.#buildReadingEnvironment(request, sandbox !== null) },
      ...{ egress, pipe, terminal, home, roots, environment },
      temporary: sandbox === null || process.platform !== "linux" ? null : join(folder, "tmp"),
      outputFile: (id) => join(this.#outputFolder, `${id}-${randomName(4)}.txt`),
      sandbox,
      isSecretIn: secrets?.isIn,
    }).catch((error: unknown) => {
      endCall();
      throw explainStartError(error, request.command);
    });
    // If the file cannot be rewritten, it stays as it is, readable by its owner alone.
    run.output.onSecret = (file) => this.#cleanings.push(secrets?.clean(file).catch(() => {}));
    this.#running.set(run, { id: `run_${number}`, request, run, endCall });
    void run.shellEnded.then(() => {
      endCall();
      for (const one of this.#running.keys()) if (one.isOver) this.#running.delete(one);
    });
    return run;
  }

  /**
   * Begins a call. Takes back the files that other commands created before it, because they are not the work of a call
   * without limits.
   */
  async #beginCall({ exception, writes = [] }: CommandRequest): Promise<() => void> {
    if (exception !== "unlimited") return () => {};
    await Promise.all([...this.#running.keys()].map((run) => run.takenBack()));
    const { home, roots } = this.#options;
    return runOnce(beginAllowedCall({ home, roots, paths: writes }).endWithFiles);
  }

  #buildEnvironment(): Readonly<Record<string, string>> {
    const { environment, roots, passEnvironment: pass, secretEnvironment: secret } = this.#options;
    this.#env ??= buildChildEnvironment(environment, { pass, secret, roots });
    return this.#env;
  }

  /**
   * Builds variables that keep a command, and git in it, from doing more than reading; the sandbox does not know what
   * programs do.
   */
  #buildReadingEnvironment(request: CommandRequest, isSandboxed: boolean): Record<string, string> {
    if (!this.#isReadOnly(request)) return request.reads === "partly" ? ALLOWED_GIT_ENVIRONMENT : {};
    const paths = mapCodePaths(this.#buildEnvironment(), (path) =>
      removeProjectFolders(path, this.#options.roots),
    );
    const showsSettings = readGitLine(request.command)?.isAboutSettings ?? false;
    return { ...buildReadOnlyEnvironment({ isSandboxed, showsSettings }), ...paths };
  }

  /** Returns the protected files that a command would write, according to its words or to git, and why they matter. */
  async protectedWrites(request: CommandRequest): Promise<readonly ProtectedWrite[]> {
    if (this.#shell.kind === "cmd" || this.#shell.kind === "powershell") return [];
    const { sandbox } = await this.#limits.state(this.#isReadOnly(request));
    if (sandbox?.mode !== "workspace-write") return [];
    const { findProtectedWrites } = await import("./protected-writes.ts");
    return findProtectedWrites(request, { ...this.#options, sandbox });
  }

  async #buildLimits(request: CommandRequest, argv: SandboxedCommand["argv"]): Promise<CommandLaunch> {
    const { directory, exception, readOnly = [], terminal: hasTerminal = false } = request;
    if (exception === "unlimited") return { sandbox: null, egress: null };
    const isReadOnly = this.#isReadOnly(request);
    const egress = await this.#leaseEgress(request, isReadOnly);
    const network =
      egress === null && (exception === "network" || (this.#options.network && request.reads !== "wholly"));
    const within = egress === null ? {} : { within: egress.within };
    const { findAllowedAccess } = await import("./protected-writes.ts");
    const place = { roots: this.#options.roots, environment: this.#buildEnvironment() };
    const access = findAllowedAccess(request, place);
    const wrapped = { argv, cwd: directory, network, readOnly, ...access, ...within, hasTerminal };
    try {
      const sandbox = await this.#limits.plan(wrapped, isReadOnly);
      if (egress === null || sandbox === null) return { sandbox, egress };
      const releaseEgress = () => {
        egress.close();
        return sandbox.release();
      };
      return { sandbox: { ...sandbox, release: releaseEgress }, egress };
    } catch (error) {
      egress?.close();
      throw error;
    }
  }

  /** Leases the way to the allowed hosts; null for a command with no network, or with full access. */
  async #leaseEgress(request: CommandRequest, isReadOnly: boolean): Promise<EgressLease | null> {
    const { egress, environment, network } = this.#options;
    const { command, exception, hosts, reads, needsWholeNetwork: isWhole = false } = request;
    if (egress === undefined || network || reads === "wholly") return null;
    if (isWhole && exception === "network") return null;
    const mayAsk = exception === "network" || hosts !== undefined;
    if (!mayAsk && (await egress.rules()).allow.length === 0) return null;
    if ((await this.#limits.state(isReadOnly)).sandbox === null) return null;
    this.#egress ??= new SessionEgress({ ...egress, environment, space: () => this.#openSpace() });
    return this.#egress.lease({ command, hosts: hosts ?? [], mayAsk });
  }

  #openSession(): Session {
    if (this.#session !== null) return this.#session;
    const folder = this.#makeTemporary();
    const forget = runAtExit(() => {
      // Other pipes may be created in that folder at the same time.
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      this.#supervisor.ledger.close();
    });
    const pipes = createOutputPipes(folder, async (paths) => {
      const isPossible = process.platform !== "win32";
      return isPossible && tryRunProgram("mkfifo", ["-m", "600", ...paths], this.#options.environment);
    });
    this.#session = { folder, pipes, forget };
    return this.#session;
  }

  async keep(request: CommandRequest, run: CommandRun): Promise<string> {
    const known = this.#background.get(run);
    if (known !== undefined) return known.id;
    this.#running.get(run)?.endCall();
    this.#kept += 1;
    const id = `bg_${this.#kept}`;
    this.#background.set(run, { id, request, run });
    const ended = [...this.#background.keys()].filter(({ isOver }) => isOver);
    for (const one of ended.slice(0, -MAX_REMEMBERED)) this.#background.delete(one);
    return id;
  }

  async backgrounds(): Promise<readonly BackgroundCommand[]> {
    const all = [...this.#background.values()];
    await Promise.all(all.map(({ run }) => run.settle()));
    return all;
  }

  foreground(): readonly BackgroundCommand[] {
    return [...this.#running.values()].filter(({ run }) => !run.isOver && !this.#background.has(run));
  }

  async close(): Promise<readonly ProcessEntry[]> {
    await this.#cleaned;
    const left = (await Promise.all([...this.#running.keys()].map((run) => run.end()))).flat();
    const space = await this.#space;
    this.#space = null;
    left.push(...((await space?.close()) ?? []));
    left.push(...(await this.#supervisor.end()));
    this.#running.clear();
    await Promise.all(this.#cleanings.splice(0));
    this.#egress?.close();
    this.#egress = null;
    const session = this.#session;
    let isRemoved = true;
    this.#session = null;
    this.#limits.forget();
    if (session !== null) {
      await session.pipes.settled();
      await removeTemporary(session.folder, this.#options.home).then(session.forget, () => {
        isRemoved = false;
      });
    }
    // What cannot be removed is tried again at exit, and then by the next Burin, which reads the ledger.
    if (left.length === 0 && isRemoved) this.#supervisor.ledger.close();
    return left;
  }
}

interface CommandLaunch {
  readonly sandbox: SandboxPlan | null;
  readonly egress: EgressLease | null;
}

interface Running extends BackgroundCommand<CommandRun> {
  /** Ends the permission to write protected files. */
  readonly endCall: () => void;
}

interface Session {
  /** Temporary files of this session, of Burin and of the commands. */
  readonly folder: string;
  readonly pipes: ReturnType<typeof createOutputPipes>;
  readonly forget: () => void;
}

function assertDirectory(path: string, roots: readonly string[]): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new WorkspaceError("not_a_directory", `${path} is not a directory.`);
  const hint = roots.includes(path)
    ? "it was deleted or moved"
    : `give another "directory"; the root is ${roots[0]}`;
  throw new WorkspaceError("not_found", `Nothing was run: the directory ${path} does not exist; ${hint}.`);
}

function explainStartError(error: unknown, command: string): unknown {
  if (!(error instanceof Error && "code" in error && error.code === "E2BIG")) return error;
  const advice = "write what it needs to files, with write_file, and name them in a short command";
  return new WorkspaceError(
    "too_large",
    `Nothing was run: a command of ${Buffer.byteLength(command)} bytes is longer than this system takes; ${advice}.`,
  );
}

async function removeOldOutputs(folder: string): Promise<void> {
  const oldest = Date.now() - OUTPUT_KEPT_MS;
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    const stats = await stat(file).catch(() => null);
    if (stats !== null && stats.mtimeMs < oldest) await rm(file, { force: true }).catch(() => {});
  }
}

function runOnce(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
