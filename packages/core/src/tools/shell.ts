import type { MachineCommands } from "@burin/commands/machine";
import type { CommandRequest, RunningCommand, ShellEnd } from "@burin/commands/shell/command-request";
import { once } from "@burin/contract/async/once";
import type { Workspace } from "@burin/contract/machine/workspace";
import type { JsonSchema } from "@burin/contract/messages/message";
import { choice, flag, integer, STRING, text, type WrittenOptions } from "@burin/contract/messages/option";
import {
  type Confirmation,
  createFailedResult,
  type OnUpdate,
  type PreparedCall,
  PreparingTool,
  type RunContext,
  type ToolError,
  type ToolResult,
} from "@burin/contract/tools";
import type { StopReason } from "../text/command-report.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const MAX_CHARACTERS = 30_000;
/** A background command that fails within this time is reported at once. */
const BACKGROUND_START_MS = 200;
/** After this time, the user is told why a command has not started yet. */
const PATIENCE_MS = 1000;
const STILL_CHECKING =
  "Waiting: the folders of the project are checked for files that run code later, before the command starts.";
/** How often a command is started. Creating the sandbox fails if files disappear at that moment. */
const MAX_TRIES = 3;

/** Loaded with the first command, because reporting is a lot of code that most starts of Burin do not need. */
const loadReport = once(() => import("../text/command-report.ts"));

const ACTIONS = ["list", "output", "stop"] as const;

const PARAMETERS = {
  command: text("The command for the shell."),
  description: text("What it does, in a few words."),
  directory: text("Where to run it. Default: the root."),
  timeout: integer(
    `Milliseconds it may take; default ${DEFAULT_TIMEOUT_MS}. In the background: no limit by default.`,
    { minimum: 1, maximum: MAX_TIMEOUT_MS },
  ),
  is_background: flag("For servers and watchers: answers at once with an id; the command goes on."),
  on_timeout: choice(
    ["end", "background"],
    "When the time is over: end it with all it started (default), or let it go on.",
    STRING,
  ),
  sandbox_exception: choice(
    ["network", "unlimited"],
    "Only after the sandbox refused something: with network, or without the sandbox. Asks.",
    STRING,
  ),
  action: choice(
    ACTIONS,
    "Instead of a command: list background commands; show or stop the one of background_id.",
    STRING,
  ),
  background_id: text("The id of a background command."),
};

/** Parameters that exist only if the optional terminal package is installed. */
const WITH_TERMINAL = {
  terminal: flag("Give it a terminal; for programs that need one."),
  action: choice(
    [...ACTIONS, "input"],
    "Instead of a command: list background commands; show or stop the one of background_id, or type into its terminal.",
    STRING,
  ),
  input: text("What to type; \\r is the Enter key."),
};

export type ShellParams = WrittenOptions<Omit<typeof PARAMETERS, "action"> & typeof WITH_TERMINAL>;

/** The limits of a command, from its question and its verdict. */
interface Limits extends Named, Pick<RunContext, "reads" | "readOnly"> {}

interface Named {
  /** Protected files that the command may write. */
  readonly writes: readonly string[];
  /** Hosts that a yes allows the command to reach. */
  readonly hosts: readonly string[] | undefined;
  /** Whether the answer grants or withholds the network. */
  readonly network?: boolean | undefined;
}

/** The tool `run_shell_command`: runs a command line, in a sandbox where the computer has one. */
export class Shell extends PreparingTool<ShellParams> {
  readonly name = "run_shell_command";
  readonly displayName = "Shell";
  readonly kind = "execute";
  readonly description: string;
  readonly parameterSchema: JsonSchema;
  readonly #workspace: Workspace;
  readonly #commands: MachineCommands;
  /** true if the model has been told that commands cannot reach each other's servers. */
  #isApartKnown = false;

  constructor(workspace: Workspace, commands: MachineCommands) {
    super();
    this.#workspace = workspace;
    this.#commands = commands;
    this.parameterSchema = {
      type: "object",
      properties: commands.hasTerminal ? { ...PARAMETERS, ...WITH_TERMINAL } : PARAMETERS,
      additionalProperties: false,
    };
    this.description =
      `Runs a command with ${commands.shell.title} and answers with its output, exit code, directory and time. ` +
      "No input, no terminal. Each call is a new shell. " +
      "Search and read files with their own tools.";
  }

  ruleSubjects({ command, sandbox_exception: exception }: ShellParams): readonly string[] {
    if (command === undefined) return [];
    return exception === undefined ? [command] : [command, `sandbox_exception:${exception}`];
  }

  getDescription(params: ShellParams): string {
    if (params.action === "list") return "List background commands";
    if (params.action === "output") return `Show the output of ${params.background_id}`;
    if (params.action === "input") return `Type into ${params.background_id}: ${params.input}`;
    if (params.action === "stop") return `Stop ${params.background_id}`;
    const where = params.directory === undefined ? "" : ` in ${this.#workspace.relative(params.directory)}`;
    const how = params.is_background ? " in the background" : "";
    const why = params.description ? ` (${params.description})` : "";
    return `Run ${params.command}${where}${how}${why}`;
  }

  async prepare(params: ShellParams): Promise<PreparedCall> {
    const confirmation = await this.#buildQuestion(params);
    const { writes = [], hosts } = confirmation && confirmation.kind === "exec" ? confirmation : {};
    const paths = writes.map(({ path }) => path);
    const { description: _ofOther, ...others } = params;
    return {
      confirmation,
      withCommand: (command) => ({ ...others, command }),
      run: (approval, signal, context = {}) => {
        const network = approval?.outcome === "once" ? approval.network : undefined;
        const named = { writes: paths, hosts: approval ? hosts : undefined, network };
        return this.#runCommand(params, named, { ...context, signal });
      },
    };
  }

  override shouldConfirmExecute(params: ShellParams): Promise<Confirmation | false> {
    return this.#buildQuestion(params);
  }

  async #buildQuestion(params: ShellParams): Promise<Confirmation | false> {
    const { command, directory, sandbox_exception: exception, is_background: isBackground } = params;
    if (command === undefined && params.action !== "input") return false;
    const { buildCommandQuestion, buildTypingQuestion } = await import(
      "@burin/commands/shell/command-question"
    );
    if (command === undefined) return buildTypingQuestion(params, this.#commands);
    const where = await this.#workspace.resolve(directory ?? ".");
    return buildCommandQuestion({ command, directory: where, exception, isBackground }, this.#commands);
  }

  protected override checkParams(params: ShellParams): string | null {
    const { command, action, background_id: id, input } = params;
    if (action !== undefined) {
      if (command !== undefined) return 'Give either "command" or "action", not both.';
      if ((action === "input") !== (input !== undefined)) return '"input" goes with "action": "input".';
      if (action !== "list" && id === undefined) return `"action": "${action}" needs "background_id".`;
      return null;
    }
    if (command === undefined) return '"command" is required.';
    if (command.trim() === "") return '"command" must not be empty.';
    if (command.includes("\0")) return '"command" cannot contain a NUL character.';
    if (id !== undefined || input !== undefined) {
      return '"background_id" and "input" go with "action", not with a command.';
    }
    return null;
  }

  async #runCommand(
    params: ShellParams,
    { writes, hosts, network }: Named,
    { signal, onUpdate, ask, ...limits }: RunContext & { readonly signal: AbortSignal },
  ): Promise<ToolResult> {
    if (params.command === undefined) return this.#runBackgroundAction(params, ask);
    signal.throwIfAborted();
    const request = await this.#request(params.command, params, { writes, hosts, network, ...limits });
    let run = await this.#startCommand(request, onUpdate);
    if (params.is_background) return this.#moveToBackground(run, request, params.timeout);
    const limit = params.timeout ?? DEFAULT_TIMEOUT_MS;
    const { waitForEndOrStop, showLive } = await loadReport();
    let end: ShellEnd | StopReason;
    for (let tries = 1; ; tries += 1) {
      const stopShowing = showLive(run, onUpdate);
      end = await waitForEndOrStop(run, limit, signal);
      stopShowing();
      if (typeof end === "string" || !end.wasNotStarted || tries === MAX_TRIES) break;
      // The command itself has not run yet, so it can be started again.
      run = await this.#startCommand(request, onUpdate);
    }
    if (typeof end !== "string") {
      const refused = await askAboutCreated(run, ask);
      const ended = await this.#reportEnd(run, request, end);
      return refused === null ? ended : { ...ended, error: refused };
    }
    const stopped = "the command and its child processes were stopped.";
    if (end === "cancelled")
      return this.#reportStop(run, request, { type: end, message: `Cancelled; ${stopped}` });
    if (end === "let go" || params.on_timeout === "background") {
      const id = await this.#commands.keep(request, run);
      const why = end === "let go" ? "Moved to the background by the user" : `Timed out after ${limit} ms`;
      return formatLive(
        run,
        `${why}; it keeps running as ${id}.`,
        id,
        await this.#buildServerNotes(run, request),
      );
    }
    return this.#reportStop(run, request, { type: end, message: `Timed out after ${limit} ms; ${stopped}` });
  }

  async #request(command: string, params: ShellParams, limits: Limits): Promise<CommandRequest> {
    const { writes, hosts, network, reads, readOnly } = limits;
    return {
      command,
      directory: await this.#workspace.resolve(params.directory ?? "."),
      ...(network === false ? {} : await this.#prepareNetworkRequest(command, hosts)),
      exception: network === false ? "none" : (params.sandbox_exception ?? (network ? "network" : "none")),
      terminal: params.terminal ?? false,
      isBackground: params.is_background ?? false,
      ...(reads && { reads }),
      ...(readOnly && { readOnly }),
      // A command that only reads must get no chance to write.
      ...(reads === "wholly" ? {} : { writes }),
    };
  }

  /** Starts a command. Tells the user if it is delayed: checking very many folders around each takes time. */
  async #startCommand(request: CommandRequest, onUpdate?: OnUpdate): Promise<RunningCommand> {
    const timer = setTimeout(() => onUpdate?.(STILL_CHECKING), PATIENCE_MS);
    try {
      return await this.#commands.start(request);
    } finally {
      clearTimeout(timer);
    }
  }

  async #prepareNetworkRequest(command: string, allowed: readonly string[] | undefined) {
    if (!this.#commands.reachesByName) return {};
    const { buildNetworkRequest } = await import("@burin/commands/shell/command-question");
    return buildNetworkRequest(command, allowed);
  }

  async #moveToBackground(run: RunningCommand, request: CommandRequest, limit?: number): Promise<ToolResult> {
    const id = await this.#commands.keep(request, run);
    if (limit !== undefined) run.endAfter(limit);
    const { waitForEndOrStop } = await loadReport();
    const end = await waitForEndOrStop(run, BACKGROUND_START_MS);
    if (typeof end !== "string" && run.isOver) return this.#reportEnd(run, request, end);
    return formatLive(
      run,
      `Started in the background as ${id}.`,
      id,
      await this.#buildServerNotes(run, request),
    );
  }

  /** Returns notes about the addresses on which the command listens and, once, that no other command reaches them. */
  async #buildServerNotes(run: RunningCommand, { exception }: CommandRequest): Promise<string[]> {
    const { describeAddresses, NOT_SHARED_NOTE } = await loadReport();
    const notes = [(await describeAddresses(run)) ?? []].flat();
    if (this.#isApartKnown || exception === "unlimited") return notes;
    if ((await this.#commands.sharesServers?.()) !== false) return notes;
    this.#isApartKnown = true;
    return [...notes, NOT_SHARED_NOTE];
  }

  async #reportEnd(run: RunningCommand, request: CommandRequest, end: ShellEnd): Promise<ToolResult> {
    if (end.wasNotStarted) return buildNotStartedResult(run);
    const { describeEnd, findRefusal, describeHosts, describeProcesses, describeRun } = await loadReport();
    const lines = [describeEnd(end)];
    const refusals = await describeHosts(run);
    const left = await run.members();
    const id = left.length > 0 ? await this.#commands.keep(request, run) : undefined;
    if (id !== undefined) {
      lines.push(`Left running as ${id}: ${describeProcesses(left)}. ${explainAccess(id)}`);
      lines.push(...(await this.#buildServerNotes(run, request)));
    }
    const refusal = await findRefusal(this.#commands, { run, request }, end.exitCode !== 0);
    if (refusal !== null) refusals.push(refusal);
    const shown = [lines.join(" "), ...refusals].join("\n");
    const told = await reportRun(run, [...lines, ...refusals, ...describeRun(run, request)], shown);
    const how = end.exitCode === null ? { signal: end.signal ?? "unknown" } : { exitCode: end.exitCode };
    return { ...told, data: { ...how, ...(id && { background: id }) } };
  }

  async #reportStop(run: RunningCommand, request: CommandRequest, error: ToolError): Promise<ToolResult> {
    const alive = await run.end();
    const lines = [error.message];
    const { describeProcesses, describeRun } = await loadReport();
    if (alive.length > 0) lines.push(`Could not be stopped: ${describeProcesses(alive)}.`);
    if (error.type === "timeout") {
      lines.push(
        'Give a longer "timeout", "on_timeout": "background" to let it go on then, or "is_background": true for what does not end by itself.',
      );
    }
    const told = await reportRun(run, [...lines, ...describeRun(run, request)], error.message);
    return { ...told, error };
  }

  async #runBackgroundAction(params: ShellParams, ask: RunContext["ask"]): Promise<ToolResult> {
    const { action, background_id: id = "", input = "" } = params;
    const all = await this.#commands.backgrounds();
    const { describeAddresses, describeCommand, describeProcesses, describeState } = await loadReport();
    if (action === "list") {
      const text = all.map(describeCommand).join("\n") || "There are no background commands.";
      return { llmContent: text, returnDisplay: text };
    }
    const found = all.find((one) => one.id === id);
    if (found === undefined) {
      const known = all.map((one) => one.id).join(", ") || "none";
      const message = `There is no background command "${id}"; known: ${known}.`;
      return createFailedResult({ type: "not_found", message });
    }
    await askAboutCreated(found.run, ask);
    if (action === "input") {
      if (!(await found.run.type(input))) {
        const message = `${id} has no terminal or has ended, so nothing was typed.`;
        return createFailedResult({ type: "no_terminal", message });
      }
      await found.run.quiet();
      return reportRun(found.run, [`Typed. ${describeState(found.run)}`], describeCommand(found));
    }
    if (action === "output") {
      const state = [describeState(found.run), (await describeAddresses(found.run)) ?? []].flat();
      return reportRun(found.run, state, describeCommand(found));
    }
    const left = await found.run.end();
    const text = left.length === 0 ? `Stopped ${id}.` : `Could not be stopped: ${describeProcesses(left)}.`;
    return reportRun(found.run, [text], text);
  }
}

/**
 * Asks the user about protected files that a command created unexpectedly. If nobody could be asked, the files stay
 * outside the project and the call's error is returned.
 */
async function askAboutCreated(run: RunningCommand, ask: RunContext["ask"]): Promise<ToolError | null> {
  const taken = (await run.takenBack()).filter(({ kept }) => kept !== null);
  if (taken.length === 0 || run.settleTaken === undefined) return null;
  const created = taken.map(({ path, why }) => ({ path, why }));
  const list = created.map(({ path, why }) => `${path} (${why})`).join("\n");
  const prompt = `The command created files that run code later. Keep them? With no, they stay outside of the project.\n${list}`;
  const question = {
    kind: "info",
    title: "Keep what the command created?",
    prompt,
    urls: [],
    created,
    grants: [],
  } as const;
  const decision =
    (await ask?.(question, "it was not known before that the command would create them")) ?? null;
  await run.settleTaken(taken, decision !== null && decision.outcome !== "cancel");
  if (decision !== null) return null;
  const message = `The command ran, and created protected files that nobody could be asked about, so they were moved out of the project: ${list}`;
  return { type: "needs_approval", message };
}

async function reportRun(run: RunningCommand, state: readonly string[], shown: string): Promise<ToolResult> {
  const { MAX_LIVE_CHARACTERS, formatOutputTail, formatOutput, describeTakenBack } = await loadReport();
  await run.output.flush();
  const taken = describeTakenBack(await run.takenBack());
  const output = await run.output.soFar();
  const text = output.bytes === 0 ? "(no output)" : formatOutput(output, MAX_CHARACTERS);
  const live = formatOutputTail(output, MAX_LIVE_CHARACTERS).trimEnd();
  return {
    llmContent: `${[...state, ...taken].join("\n")}\nOutput:\n${text}`,
    returnDisplay: [...(live === "" ? [] : [`${live}\n`]), shown, ...taken].join("\n"),
  };
}

async function formatLive(
  run: RunningCommand,
  what: string,
  ...[id, notes]: [id: string, notes: readonly string[]]
): Promise<ToolResult> {
  const state = [what, ...notes, explainAccess(id), "Output so far follows."];
  return { ...(await reportRun(run, state, [what, ...notes].join(" "))), data: { background: id } };
}

function explainAccess(id: string): string {
  return `Read or stop it with "action": "output" or "stop" and "background_id": "${id}".`;
}

/** Returns the result if the sandbox itself failed. The output then contains only its error message. */
async function buildNotStartedResult(run: RunningCommand): Promise<ToolResult> {
  const { MAX_LIVE_CHARACTERS, formatOutputTail } = await loadReport();
  const why = formatOutputTail(await run.output.soFar(), MAX_LIVE_CHARACTERS).trim();
  const message = `The command was not run, because its sandbox could not be made: ${why}`;
  return createFailedResult({ type: "sandbox_failed", message });
}
