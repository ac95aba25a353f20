import { setTimeout as pause } from "node:timers/promises";
import type { MachineCommands } from "@burin/machine/machine";

/** A reply that comes sooner needs nothing of this, or could not wait for it. */
const PAUSE_MS = 15;
/** Between two steps, what has come meanwhile is read. */
const STEP_MS = 5;
/** A model that takes so long is one that thinks, and may well want a program started. */
const THOUGHT_MS = 200;

/** What the first program, hash or lock would load of Node itself. */
const BUILTINS = ["node:child_process", "node:crypto", "node:net", "node:cluster"];

interface Step {
  readonly pauseMs: number;
  do(): Promise<unknown>;
}

/** What the first calls need, as sessions usually need it, in steps so small that they hold up no reply. */
export class LoadAhead {
  readonly #left: Step[];
  readonly #first: (() => unknown) | undefined;
  #isFirst = true;

  /** Without commands no program is started to see what there is of them. `first` is begun while the first request is away, or never. */
  constructor(commands?: MachineCommands, first?: () => unknown) {
    this.#first = first;
    // Each import is one file of what is built.
    const code = [
      () => import("../scheduler/scheduler.ts"),
      () => import("@burin/contract/patterns/glob-pattern"),
      () => import("../approval/approval-policy.ts"),
      () => import("@burin/machine/processes/supervisor"),
      () => import("@burin/machine/processes/command-report"),
      async () => (await import("@burin/machine/search/ripgrep")).ripgrepProgram(),
      () => import("../text/overwriting.ts"),
      () => import("../text/changing.ts"),
      ...BUILTINS.map((name) => async () => process.getBuiltinModule(name)),
    ];
    const loads = code.map((load) => ({ pauseMs: STEP_MS, do: load }));
    const probes = commands ? [{ pauseMs: THOUGHT_MS, do: () => commands.sandbox() }] : [];
    this.#left = [...loads, ...probes];
  }

  /** Goes on with what is left until the signal aborts, but not while somebody works. Keeps no process alive. */
  async during(signal: AbortSignal, isBusy = () => false): Promise<void> {
    const waiting = { ref: false, signal };
    const first = this.#isFirst ? this.#first : undefined;
    this.#isFirst = false;
    try {
      await pause(PAUSE_MS, null, waiting);
      first?.();
      for (let [step] = this.#left; step !== undefined; [step] = this.#left) {
        do await pause(step.pauseMs, null, waiting);
        while (isBusy());
        this.#left.shift();
        await step.do();
      }
    } catch {
      // The reply has come, or the call that needs the step will tell what is wrong.
    }
  }
}
