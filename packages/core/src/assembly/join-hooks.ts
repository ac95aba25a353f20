import { createLazyMethods } from "@burin/contract/async/lazy-methods";
import { once } from "@burin/contract/async/once";
import type { Hooks } from "../hooks/hooks.ts";
import type { JoinedJournal } from "./join-journal.ts";
import { type CommandOptions, createCommandRunner } from "./run-command.ts";

/** The hooks of a session. Their code is not loaded if settings have none. */
export type JoinedHooks = Pick<Hooks, "runBefore" | "runAfter" | "runEvent">;

interface HookOptions extends Omit<CommandOptions, "isConfined"> {
  readonly sessionId: string | undefined;
  readonly report: (message: string) => void;
  readonly journal: JoinedJournal;
}

export function joinHooks(ground: HookOptions): JoinedHooks | undefined {
  const { home, sessionId, report, journal } = ground;
  const { hooks: configured } = home.settings;
  if (configured.length === 0) return undefined;
  const run = createCommandRunner({ ...ground, isConfined: false });
  const session = { root: home.root, ...(sessionId === undefined ? {} : { sessionId }) };
  const open = once(async () => {
    const { Hooks } = await import("../hooks/hooks.ts");
    return new Hooks({
      settings: configured,
      session,
      report,
      run: (request, signal) => journal.ofCommand("hook", request.command, () => run({ ...request, signal })),
    });
  });
  return createLazyMethods(open, ["runBefore", "runAfter", "runEvent"]);
}
