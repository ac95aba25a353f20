import { once } from "@burin/contract/async/once";
import { lazily } from "@burin/machine/files/lazily";
import type { MachineCommands } from "@burin/machine/machine";
import type { RunToolCommand } from "../discovery/discovered-tool.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { Home } from "./home.ts";

interface CommandGround {
  readonly home: Home;
  readonly commands: MachineCommands;
  /** Whether they run with the limits of the shell tool's commands. */
  readonly isConfined: boolean;
}

const MOST_BYTES = 10 * 1024 * 1024;

/** Runs commands from the settings, with the environment of every child process. */
export function commandRunner({
  home: { root: cwd, settings },
  commands,
  isConfined,
}: CommandGround): RunToolCommand {
  const { network } = settings.sandbox;
  const limits = isConfined ? { limits: { network } } : {};
  return ({ seconds, ...request }) =>
    commands.exchange({ ...request, ...limits, cwd, milliseconds: seconds * 1000, mostBytes: MOST_BYTES });
}

/** The hooks of a session; nothing is loaded when settings have none. */
export type JoinedHooks = Pick<Hooks, "before" | "after" | "at">;

interface HookGround extends Omit<CommandGround, "isConfined"> {
  readonly sessionId: string | undefined;
  readonly report: (message: string) => void;
}

export function joinHooks(ground: HookGround): JoinedHooks | undefined {
  const { home, sessionId, report } = ground;
  const { hooks: configured } = home.settings;
  if (configured.length === 0) return undefined;
  const run = commandRunner({ ...ground, isConfined: false });
  const session = { root: home.root, ...(sessionId === undefined ? {} : { sessionId }) };
  const open = once(async () => {
    const [{ Hooks }, { assertAsTrusted }] = await Promise.all([
      import("../hooks/hooks.ts"),
      import("../settings/project-definitions.ts"),
    ]);
    return new Hooks({
      assertAsTrusted: (scripts) => assertAsTrusted(home.root, scripts),
      settings: configured,
      session,
      report,
      run: (request, signal) => run({ ...request, signal }),
    });
  });
  return lazily(open, ["before", "after", "at"]);
}
