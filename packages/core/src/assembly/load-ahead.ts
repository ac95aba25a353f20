import { setTimeout as pause } from "node:timers/promises";
import type { MachineCommands } from "@burin/machine/machine";

/** A faster reply needs nothing of this, or could not wait for it. */
const PAUSE_MS = 15;
/** Between two steps, incoming data is read. */
const STEP_MS = 5;
/** A model that takes this long is thinking, and will probably start a program. */
const THOUGHT_MS = 200;

/** The built-in modules that the first program, hash or lock would load. */
const BUILTINS = ["node:child_process", "node:crypto", "node:net", "node:cluster", "node:worker_threads"];

interface Step {
  readonly pauseMs: number;
  do(): Promise<unknown>;
}

/** Loads what the first calls usually need, in steps so small that they do not delay a reply. */
export class LoadAhead {
  readonly #left: Step[];
  readonly #first: (() => unknown) | undefined;
  #isFirst = true;

  /** `first` is called while the first request is away, or never. */
  constructor(commands: MachineCommands, first?: () => unknown) {
    this.#first = first;
    // Each import is one file of the build.
    const code = [
      () => import("../scheduler/scheduler.ts"),
      () => import("@burin/contract/patterns/glob-pattern"),
      judgeOnce,
      () => import("@burin/machine/processes/supervisor"),
      () => import("@burin/machine/commands/command-report"),
      async () => (await import("@burin/machine/search/ripgrep")).ripgrepProgram(),
      () => import("../text/overwriting.ts"),
      changeOnce,
      ...BUILTINS.map((name) => async () => process.getBuiltinModule(name)),
      // The first lock of a process takes five times as long as the next; no file has this path.
      async () => (await import("@burin/machine/disk/path-lock")).lockPath("", async () => {}),
    ];
    const loads = code.map((load) => ({ pauseMs: STEP_MS, do: load }));
    // It starts a program, and so the first program that a call starts takes no longer than the next.
    this.#left = [...loads, { pauseMs: THOUGHT_MS, do: () => commands.sandbox() }];
  }

  /** Takes the next step. Resolves to whether there are more. */
  async step(): Promise<boolean> {
    await this.#left.shift()?.do();
    return this.#left.length > 0;
  }

  /** Continues with the remaining steps until the signal aborts. Keeps no process alive. */
  async during(signal: AbortSignal): Promise<void> {
    const waiting = { ref: false, signal };
    const first = this.#isFirst ? this.#first : undefined;
    this.#isFirst = false;
    try {
      await pause(PAUSE_MS, null, waiting);
      first?.();
      for (let [step] = this.#left; step !== undefined; [step] = this.#left) {
        await pause(step.pauseMs, null, waiting);
        await this.step();
      }
    } catch {
      // The reply has come, or the call that needs this step will report the failure.
    }
  }
}

// V8 compiles a function with its first call: for these that takes a third of the first call of a tool.

async function judgeOnce(): Promise<void> {
  const { judge } = await import("../approval/approval-policy.ts");
  const confirmation = { kind: "exec", title: "", command: "true", parts: [], grants: [] } as const;
  const call = { tool: "", kind: "execute", confirmation, subjects: [] } as const;
  judge(call, "default", { allow: [], ask: [], deny: [] });
}

async function changeOnce(): Promise<void> {
  const { fileDiff, findEdit } = await import("../text/changing.ts");
  findEdit({ content: "a\n", oldText: "a", newText: "b", expected: 1 });
  fileDiff({ fileName: "", before: "a\n", after: "b\n" });
}
