import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLazyMethods } from "@burin/contract/async/lazy-methods";
import { tryReadEntries } from "@burin/files/disk/disk-looks";
import { chooseShell, findProgram } from "../processes/shell-program.ts";
import type { CommandRequest, CommandsOptions } from "./command-request.ts";
import type { RunningCommands } from "./running-commands.ts";

export type Commands = ReturnType<typeof openCommands>;

const METHODS = [
  "start",
  "protectedWrites",
  "keep",
  "sandbox",
  "sharesServers",
  "temporaryFolder",
  "startServer",
  "exchange",
] as const;

/**
 * Creates the commands of one session; `close` ends whatever still runs. The code is loaded when the first command
 * starts, because most sessions run none.
 */
export function openCommands(given: CommandsOptions) {
  const { egress, ...others } = given;
  // Only Linux has a network namespace for each session.
  const reachesByName = egress !== undefined && process.platform === "linux" && !given.network;
  const options = reachesByName ? given : others;
  const { environment, home, network, roots } = options;
  const shell = chooseShell(process.platform, (name) => findProgram(name, environment.PATH, roots));
  const outputFolder = join(home, "output");
  let running: Promise<RunningCommands> | undefined;
  const load = async () => {
    const { RunningCommands } = await import("./running-commands.ts");
    return new RunningCommands(options, shell, outputFolder);
  };
  const open = () => (running ??= load());
  let ledger: Promise<WriteLedger> | undefined;
  return {
    shell,
    outputFolder,
    roots,
    hasTerminal: hasTerminal(),
    hasNetwork: network,
    reachesByName,
    hasNetworkFor: ({ exception, reads, hosts, needsWholeNetwork: isWhole }: CommandRequest) =>
      exception === "network"
        ? !reachesByName || isWhole === true
        : hosts === undefined && network && reads !== "wholly",
    ...createLazyMethods(open, METHODS),
    endLeftBehind: async () =>
      // Without a ledger on disk, no crashed Burin can have left anything behind.
      tryReadEntries(join(home, "running")).length > 0 ? (await open()).endLeftoversOnce() : 0,
    backgrounds: async () => (await running)?.backgrounds() ?? [],
    foreground: async () => (await running)?.foreground() ?? [],
    beginWrite: async (folder: string) => {
      ledger ??= openWriteLedger(home);
      return (await ledger).beginWrite(folder);
    },
    close: async () => {
      (await ledger)?.close();
      return (await running)?.close() ?? [];
    },
  };
}

/** Ends the processes that a killed Burin has left running; resolves to their number. */
export async function endLeftCommands(home: string, environment: NodeJS.ProcessEnv): Promise<number> {
  if (tryReadEntries(join(home, "running")).length === 0) return 0;
  const [{ endLeftovers }, { createGuardCheck }] = await Promise.all([
    import("../processes/process-ledger.ts"),
    import("../sandbox/guard-notes.ts"),
  ]);
  return endLeftovers(home, createGuardCheck(environment));
}

type WriteLedger = Awaited<ReturnType<typeof openWriteLedger>>;

/** Records pending file writes without loading the code for commands. */
export async function openWriteLedger(home: string) {
  const [{ ProcessLedger }, { runAtExit }] = await Promise.all([
    import("../processes/process-ledger.ts"),
    import("../processes/at-exit.ts"),
  ]);
  const ledger = new ProcessLedger(home);
  const forget = runAtExit(() => ledger.close());
  return {
    beginWrite: async (folder: string) => ledger.beginWrite(folder),
    close: () => {
      forget();
      ledger.close();
    },
  };
}

/** Whether the optional package for terminals is installed. Searches as Node does, but loads nothing. */
export function hasTerminal(
  platform = `${process.platform}-${process.arch}`,
  start = import.meta.dirname,
): boolean {
  const native = `@lydell/node-pty-${platform}/package.json`;
  for (let folder = start; ; folder = dirname(folder)) {
    const modules = join(folder, "node_modules");
    const nested = join(modules, "@lydell/node-pty/node_modules");
    if (existsSync(join(modules, native)) || existsSync(join(nested, native))) return true;
    if (folder === dirname(folder)) return false;
  }
}
