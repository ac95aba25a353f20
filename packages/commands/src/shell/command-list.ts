import type { ExchangeEnd } from "../processes/server-processes.ts";
import type { BackgroundCommand } from "./command-request.ts";
import type { MachineCommands } from "./machine-commands.ts";

/** One command as a user sees it. */
export interface CommandInfo {
  /** `bg_1` in the background, where the model uses the same id; `run_1` while a call waits for it. */
  readonly id: string;
  readonly command: string;
  readonly directory: string;
  readonly state: "foreground" | "background" | "ended";
  /** The exit code of its shell; absent while that runs. */
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly outputBytes: number;
  /** Whether the command accepts typed input. */
  readonly hasTerminal: boolean;
  /** How many of the command's processes are alive. */
  readonly processes: number;
}

/** The commands of a session, for the user: to list them, to end one, to stop waiting for one. */
export interface CommandList {
  /** Lists the commands that run, and those that ended recently in the background. */
  list(): Promise<readonly CommandInfo[]>;
  /** Returns the end of the command's output so far; null when there is no such command. */
  output(id: string, maxCharacters?: number): Promise<string | null>;
  /** Ends the command with all that it has started. Returns false when there is no such command. */
  end(id: string): Promise<boolean>;
  /**
   * Types keys into the command's terminal: an answer ends with a carriage return. Returns false when it has no
   * terminal.
   */
  type(id: string, text: string): Promise<boolean>;
  /** Makes the call that waits for the command return at once. Returns false if no call waits. */
  toBackground(id: string): Promise<boolean>;
  /** Returns what a command of the user's own prints, in the sandbox and without network. Throws when it fails. */
  read(request: ReadRequest): Promise<string>;
}

interface ReadRequest {
  readonly command: string;
  readonly folder: string;
  /** What the command gets on stdin. */
  readonly input: string;
  readonly seconds: number;
}

const MAX_BYTES = 64 * 1024;

const MAX_CHARACTERS = 10_000;

export function createCommandList(commands: MachineCommands): CommandList {
  const listAllCommands = async () => [...(await commands.foreground()), ...(await commands.backgrounds())];
  const findCommand = async (id: string) => (await listAllCommands()).find((one) => one.id === id);
  return {
    list: async () => Promise.all((await listAllCommands()).map(readInfo)),
    async output(id, maxCharacters = MAX_CHARACTERS) {
      const found = await findCommand(id);
      if (found === undefined) return null;
      const { formatOutputTail } = await import("./output-text.ts");
      await found.run.output.flush();
      return formatOutputTail(await found.run.output.soFar(), maxCharacters);
    },
    async end(id) {
      const found = await findCommand(id);
      await found?.run.end();
      return found !== undefined;
    },
    type: async (id, text) => (await (await findCommand(id))?.run.type(text)) ?? false,
    async toBackground(id) {
      const found = (await commands.foreground()).find((one) => one.id === id);
      found?.run.onLetGo();
      return found !== undefined;
    },
    async read({ command, folder: cwd, input, seconds }) {
      const limits = { limits: { network: false }, milliseconds: seconds * 1000, maxBytes: MAX_BYTES };
      const { signal } = new AbortController();
      const end = await commands.exchange({ command, cwd, input, signal, ...limits });
      const fault = describeExchangeFault(end, seconds);
      if (fault !== null) throw new Error(fault);
      return end.stdout.toString("utf8");
    },
  };
}

function describeExchangeFault(
  { startError, stopped, exitCode, signal, stderr }: ExchangeEnd,
  seconds: number,
) {
  if (startError !== null) return startError;
  if (stopped === "time") return `timed out after ${seconds} s`;
  if (stopped !== null) return "printed too much";
  if (exitCode === 0) return null;
  const [words = ""] = stderr.trim().split("\n").slice(-1);
  return [signal ?? `exit code ${exitCode}`, words].filter((part) => part !== "").join(": ");
}

async function readInfo({ id, request, run }: BackgroundCommand): Promise<CommandInfo> {
  const going = id.startsWith("run_") ? "foreground" : "background";
  const end = run.shellEnd;
  return {
    id,
    command: request.command,
    directory: request.directory,
    state: run.isOver ? "ended" : going,
    ...(end === null ? {} : { exitCode: end.exitCode, signal: end.signal }),
    startedAt: run.startedAt,
    hasTerminal: request.terminal ?? false,
    outputBytes: run.output.bytes,
    processes: (await run.members()).length,
  };
}
