import { type AgentEvent, type CheckResult, notice } from "@burin/contract/agent-event";
import type { Tool } from "@burin/contract/tools";
import { type Ask, untilDone } from "./bound-answer.ts";
import { exitCodeIn, textOf } from "./command-answer.ts";

/** So often the model is told that the check fails. */
const MOST_CORRECTIONS = 5;
/** As long as a command may take. */
const MOST_CHECK_MS = 600_000;

/** What must pass before a run has ended well. */
export interface Check {
  readonly command: string;
  /** The tool that runs commands, with the limits that they have here; absent where it is excluded. */
  readonly shell: () => Tool | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs the person's check when the model says that it is done, and has the model go on with what it says until
 * it passes, a limit ends the work, or the model changes nothing any more. The result stands in the end.
 */
export async function* checkedRun(check: Check, prompt: string | null, ask: Ask): AsyncGenerator<AgentEvent> {
  let input = prompt;
  let turns = 0;
  for (let attempts = 1; ; attempts += 1) {
    let calls = 0;
    const done = yield* untilDone(ask(input), (event) => {
      if (event.type === "tool_call" && event.call.status === "success") calls += 1;
    });
    if (done === null) return;
    turns += done.turns;
    if (done.status !== "success") return yield { ...done, turns };
    const isIdle = attempts > 1 && calls === 0;
    const { passed, exitCode, said } = await runCheck(check);
    const result: CheckResult = { command: check.command, passed, exitCode, attempts };
    if (passed) return yield { ...done, turns, check: result };
    const how = exitCode === null ? "did not end" : `exit code ${exitCode}`;
    if (isIdle || attempts > MOST_CORRECTIONS || check.signal.aborted) {
      const message = `The check "${check.command}" does not pass (${how}).`;
      return yield {
        ...done,
        turns,
        status: "error",
        error: { type: "check_failed", message },
        check: result,
      };
    }
    yield notice(`The check "${check.command}" does not pass (${how}); the model goes on.`);
    input = `The check that has to pass before you are done does not: ${check.command}\n${said}\n\nPut the cause right, not the check, then say what you did.`;
  }
}

async function runCheck({ command, shell, signal }: Check) {
  const tool = shell();
  if (!tool) return { passed: false, exitCode: null, said: "There is no tool here that runs commands." };
  const { llmContent, error } = await tool.execute({ command, timeout: MOST_CHECK_MS }, signal);
  const exitCode = error ? null : exitCodeIn(llmContent);
  return { passed: exitCode === 0, exitCode, said: textOf(llmContent) };
}
