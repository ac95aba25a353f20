import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { FunctionCall } from "@burin/contract/messages/message";
import type { MachineCommands } from "@burin/machine/machine";
import { endAtExit } from "@burin/machine/processes/at-exit";
import { pathOutside } from "@burin/machine/processes/helper-program";
import type { RunCalls } from "../scheduler/scheduler.ts";
import { type Home, resolveHome } from "./home.ts";
import type { ToolboxOptions } from "./options.ts";

/** A faster reply needs nothing of this, or could not wait for it. */
const PAUSE_MS = 15;
/** Between two steps, incoming data is read. */
const STEP_MS = 5;
/** A model that takes this long is thinking, and will probably call a tool. */
const THOUGHT_MS = 200;

/** Calls that need, together, what other first calls need too. */
const TRIALS: readonly ((file: string) => Pick<FunctionCall, "name" | "args">)[] = [
  () => ({ name: "search_file_content", args: { pattern: "a" } }),
  (file) => ({ name: "edit", args: { file_path: file, old_string: "a", new_string: "b" } }),
  () => ({ name: "run_shell_command", args: { command: "true" } }),
];
/** Once for each process. */
let areTried = false;

export interface LoadAheadNeeds {
  readonly commands: Pick<MachineCommands, "sandbox" | "roots" | "temporaryFolder">;
  readonly home: Pick<Home, "environment">;
  /** Opens other tools. */
  open(options: ToolboxOptions, home: Home): { readonly runCalls: RunCalls; close(): Promise<void> };
  /** Called while the first request is away, or never. */
  first?(): unknown;
}

/** Loads what the first calls usually need, in steps so small that they do not delay a reply. */
export class LoadAhead {
  readonly #left: { readonly pauseMs: number; do(): Promise<unknown> }[];
  readonly #needs: LoadAheadNeeds;
  #isFirst = true;

  constructor(needs: LoadAheadNeeds) {
    this.#needs = needs;
    // Each import is one file of the build.
    const code = [
      () => import("../scheduler/scheduler.ts"),
      () => import("@burin/contract/patterns/glob-pattern"),
      () => import("../approval/approval-policy.ts"),
      () => import("@burin/machine/processes/supervisor"),
      () => import("@burin/machine/commands/command-report"),
      async () => (await import("@burin/machine/search/ripgrep")).ripgrepProgram(),
      () => import("../text/overwriting.ts"),
      () => import("../text/changing.ts"),
    ];
    const soon = (work: () => Promise<unknown>) => ({ pauseMs: STEP_MS, do: work });
    this.#left = [...code.map(soon), { pauseMs: THOUGHT_MS, do: () => needs.commands.sandbox() }];
    const makeFolder = needs.commands.temporaryFolder;
    // Another machine does its calls elsewhere.
    if (makeFolder === undefined || areTried) return;
    areTried = true;
    this.#left.push(...TRIALS.map((trial) => soon(async () => this.#try(trial, await makeFolder()))));
  }

  /** Takes the next step. Resolves to whether there are more. */
  async step(): Promise<boolean> {
    await this.#left.shift()?.do();
    return this.#left.length > 0;
  }

  /** Continues with the remaining steps until the signal aborts. Keeps no process alive. */
  async during(signal: AbortSignal): Promise<void> {
    const waiting = { ref: false, signal };
    // Behind the first reply, calls may have changed what it looks at.
    const first = this.#isFirst ? this.#needs.first : undefined;
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

  /**
   * V8 compiles a function when it first runs, and Node loads what it needs then: that is most of the time of a first
   * call. So some are made in a folder of their own, a command only where the sandbox works.
   */
  async #try(trial: (typeof TRIALS)[number], root: string): Promise<void> {
    const remove = () => rmSync(root, { recursive: true, force: true });
    const forget = endAtExit(remove);
    try {
      const file = join(root, "a.txt");
      writeFileSync(file, "a\n");
      const call = { id: "", ...trial(file) };
      const { commands, home, open } = this.#needs;
      if (call.name === "run_shell_command" && !(await commands.sandbox()).sandbox) return;
      // No program of the project runs unasked.
      const PATH = pathOutside(home.environment.PATH ?? "", commands.roots);
      const options = { root, approvalMode: "yolo", environment: { ...home.environment, PATH } } as const;
      const tools = open(options, resolveHome(options));
      await tools.runCalls([call], { signal: new AbortController().signal, onCall: () => {} });
      await tools.close();
    } finally {
      forget();
      remove();
    }
  }
}
