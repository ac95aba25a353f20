import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import { findSchemaError } from "@burin/contract/messages/check-schema";
import { type JsonSchema, joinText } from "@burin/contract/messages/message";
import { describeError } from "@burin/contract/text/error-message";
import type { Tool } from "@burin/contract/tools";
import type { Budget } from "../agent/budget.ts";
import { readExitCode } from "./work-proof.ts";

/**
 * The result of checking an attempt: the final end of the run, or a message that asks the model for a better answer.
 */
type Verdict = { readonly end: RunEnd } | { readonly again: string; readonly notice?: string };

interface Attempt {
  /** The number of this attempt, from 1. */
  readonly count: number;
  readonly hasWorked: boolean;
}

/** A demand that a run must meet at its end: an answer of a given form, or a check that passes. */
interface Demand {
  /** Returns the prompt as the model gets it; null to continue without one. */
  readonly tell: (prompt: string | null) => string | null;
  readonly judge: (end: RunEnd, attempt: Attempt) => Promise<Verdict>;
}

/** Sends the model back to work until each demand is met, the first one first. */
export class Demands {
  readonly #all: readonly { readonly demand: Demand; count: number; hasWorked: boolean }[];
  #turns = 0;

  constructor(demands: readonly Demand[]) {
    this.#all = demands.map((demand) => ({ demand, count: 0, hasWorked: false }));
  }

  writePrompt(prompt: string | null): string | null {
    return addInstructions(this.#all, prompt);
  }

  noteEvent(event: AgentEvent): void {
    if (event.type !== "tool_call" || event.call.status !== "success") return;
    for (const one of this.#all) one.hasWorked = true;
  }

  async judge(given: RunEnd): Promise<Verdict> {
    let end = given;
    this.#turns += given.turns;
    for (const [place, one] of this.#all.entries()) {
      if (end.status !== "success") break;
      one.count += 1;
      const verdict = await one.demand.judge(end, one);
      if ("again" in verdict) {
        const inner = this.#all.slice(0, place);
        for (const again of inner) again.count = 0;
        for (const again of [...inner, one]) again.hasWorked = false;
        return { ...verdict, again: addInstructions(inner, verdict.again) ?? verdict.again };
      }
      end = verdict.end;
    }
    return { end: { ...end, turns: this.#turns } };
  }
}

export function createDemands(answerSchema: JsonSchema | undefined, check: Check | undefined): Demands {
  return new Demands([
    ...(answerSchema ? [createAnswerDemand(answerSchema)] : []),
    ...(check ? [createCheckDemand(check)] : []),
  ]);
}

function addInstructions(all: readonly { readonly demand: Demand }[], prompt: string | null): string | null {
  return all.reduce((words, { demand }) => demand.tell(words), prompt);
}

const MAX_CORRECTIONS = 3;
const LONGEST_FAULT = 2000;

/**
 * Demands an answer in JSON that matches the schema. The schema follows the prompt, so that requests start the same.
 */
function createAnswerDemand(schema: JsonSchema): Demand {
  const instruction = `When you are done, answer with nothing but a JSON value that fits this JSON Schema:\n${JSON.stringify(schema)}`;
  let isTold = false;
  return {
    tell: (prompt) => {
      isTold = prompt !== null;
      return prompt === null ? null : `${prompt}\n\n${instruction}`;
    },
    judge: async (end, { count }) => {
      const read = readAnswer(end.result, schema);
      if (!("fault" in read)) return { end: { ...end, result: read.json, structured: read.value } };
      if (count > MAX_CORRECTIONS) {
        const message = `The final answer does not fit the schema: ${read.fault}`;
        return { end: { ...end, status: "error", error: { type: "schema_mismatch", message } } };
      }
      const again = isTold ? "Answer again, with nothing but the JSON value." : instruction;
      isTold = true;
      return { again: `Your answer does not fit the schema: ${read.fault}. ${again}` };
    },
  };
}

type ReadAnswer = { readonly json: string; readonly value: unknown } | { readonly fault: string };

function readAnswer(text: string, schema: JsonSchema): ReadAnswer {
  const json = stripFence(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { fault: `it is not valid JSON (${describeError(error)})` };
  }
  const fault = findSchemaError(schema, value)?.replaceAll("the arguments", "the answer");
  if (fault === undefined) return { json, value };
  return { fault: fault.length > LONGEST_FAULT ? `${fault.slice(0, LONGEST_FAULT)}...` : fault };
}

/** Removes the code block that many models put around JSON even when asked not to. */
function stripFence(text: string): string {
  const lines = text.split(/\r?\n/);
  const fences = lines.flatMap((line, index) => (/^\s*```/.test(line) ? [index] : []));
  const [first = 0, last] = fences;
  return (fences.length === 2 ? lines.slice(first + 1, last).join("\n") : text).trim();
}

const MAX_FAILED_CHECKS = 5;
const MAX_CHECK_MS = 600_000;

export interface Check {
  readonly command: string;
  /** Returns why the command may no longer run, or null. */
  readonly fault: () => Promise<string | null>;
  /** Returns the tool that runs commands, with its limits; undefined if it is excluded. */
  readonly shell: () => Tool | undefined;
  readonly signal: AbortSignal;
  /** The budget. The check's time counts like that of the model's calls. */
  readonly budget: Budget | undefined;
  /** Runs the work and stores what it changes for undo. */
  readonly journal: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Demands that the user's check passes. The model gets its failures until it does or a limit ends the run. */
function createCheckDemand(check: Check): Demand {
  const { command, signal, budget } = check;
  const judge: Demand["judge"] = async (end, { count: attempts, hasWorked }) => {
    const changed = await check.fault();
    const { passed, exitCode, said } =
      changed === null ? await check.journal(() => runCheck(check)) : NOT_RUN;
    const result = { ...end, check: { command, passed, exitCode, attempts } };
    const endWithFailure = (message: string): Verdict => {
      return { end: { ...result, status: "error", error: { type: "check_failed", message } } };
    };
    // The model cannot fix this.
    if (changed !== null) return endWithFailure(`The check "${command}" was not run: ${changed}.`);
    if (passed) return { end: result };
    const fault = `The check "${command}" does not pass (${exitCode === null ? "did not end" : `exit code ${exitCode}`})`;
    if (budget?.exhausted !== undefined) {
      const error = { type: "budget", message: `${fault}. ${budget.exhausted}` };
      return { end: { ...result, status: "limit", error } };
    }
    const isIdle = attempts > 1 && !hasWorked;
    if (isIdle || attempts > MAX_FAILED_CHECKS || signal.aborted) return endWithFailure(`${fault}.`);
    return {
      notice: `${fault}; the model goes on.`,
      again: `The check that has to pass before you are done does not: ${command}\n${said}\n\nFix the cause, not the check, then say what you did.`,
    };
  };
  return { tell: (prompt) => prompt, judge };
}

const NOT_RUN = { passed: false, exitCode: null, said: "" };

async function runCheck({ command, shell, signal, budget }: Check) {
  const tool = shell();
  if (!tool) return { ...NOT_RUN, said: "There is no tool here that runs commands." };
  budget?.startClock();
  const timeout = Math.max(1, Math.min(MAX_CHECK_MS, Math.ceil(budget?.millisecondsLeft ?? MAX_CHECK_MS)));
  const { llmContent, error } = await tool
    .execute({ command, timeout }, signal)
    .finally(() => budget?.stopClock());
  const exitCode = error ? null : readExitCode(llmContent);
  return { passed: exitCode === 0, exitCode, said: joinText(llmContent) };
}
