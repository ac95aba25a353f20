import {
  describeError,
  findSchemaError,
  listModes,
  type ObjectSchema,
  type WorkTree,
  type WorkTreeLocation,
  workTrees,
} from "@burin/core/internal";
import { type CommonOptions, readSettings } from "../../request/options.ts";
import type { Io } from "../../request/subcommand.ts";
import { EXIT, UsageError } from "../../terminal/exit-code.ts";
import { formatNote, type Output } from "../../terminal/output.ts";
import { createModelOpener } from "../print/find-model.ts";
import { runPrint } from "../print/print.ts";
import { createPromptInput } from "../print/prompt-input.ts";
import type { RunDocument } from "../print/run-document.ts";
import { createTreeName, openWorkTreeFromOptions } from "./in-work-tree.ts";

const MAX_ATTEMPTS = 20;

/** One of several attempts at the same prompt, as it is stored in the git folder of its work tree. */
export interface Attempt {
  /** The id that attempts started together share. */
  readonly group: string;
  readonly number: number;
  readonly startedAt: string;
  readonly prompt: string;
  readonly model?: string;
  /** The result; absent while the attempt runs, and after a kill. */
  readonly end?: AttemptEnd;
}

interface AttemptEnd {
  readonly status: string;
  readonly check?: "passed" | "failed" | "not run";
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  readonly durationMs: number;
  readonly tokens: number;
  readonly cost?: number;
  readonly sessionId: string | null;
  readonly error?: string;
  readonly result: string;
}

const [TEXT, COUNT] = [{ type: "string" }, { type: "number" }] as const;
const END: ObjectSchema = {
  type: "object",
  properties: {
    status: TEXT,
    check: TEXT,
    files: COUNT,
    added: COUNT,
    removed: COUNT,
    durationMs: COUNT,
    tokens: COUNT,
    cost: COUNT,
    error: TEXT,
    result: TEXT,
  },
  required: ["status", "files", "added", "removed", "durationMs", "tokens", "result"],
};
const ATTEMPT: ObjectSchema = {
  type: "object",
  properties: { group: TEXT, number: COUNT, startedAt: TEXT, prompt: TEXT, model: TEXT, end: END },
  required: ["group", "number", "startedAt", "prompt"],
};

/** Reads the attempt that is stored with a work tree; null if there is none, or an invalid one. */
export async function readAttempt(tree: WorkTree): Promise<Attempt | null> {
  const kept = await workTrees.attempt(tree);
  const isSound = kept !== undefined && findSchemaError(ATTEMPT, kept) === null;
  return isSound ? (kept as Attempt) : null;
}

interface Wanted {
  readonly place: WorkTreeLocation;
  readonly prompt: string;
  readonly count: number;
  /** The models, used in turn. If empty, the model of the settings. */
  readonly models: readonly string[];
}

interface Started {
  readonly place: WorkTreeLocation;
  readonly tree: WorkTree;
  readonly attempt: Attempt;
}

/** Runs the attempts in parallel. Returns those that have ended, with their results. */
export async function runAttempts(
  { place, prompt, count, models }: Wanted,
  options: CommonOptions,
  io: Io,
): Promise<Attempt[]> {
  if (count > MAX_ATTEMPTS) throw new UsageError(`at most ${MAX_ATTEMPTS} attempts run side by side.`);
  if (options.session.kind !== "new" || options.isStreamInput)
    throw new UsageError(
      "attempts are new sessions, so -c, -r, --no-session and --input-format cannot be used.",
    );
  const there = await chooseMode(options);
  for (const model of models.length === 0 ? [options.model] : models)
    await createModelOpener((await readSettings({ ...there, model })).settings);
  const group = createTreeName();
  const startedAt = new Date().toISOString();
  const running: Promise<Attempt>[] = [];
  for (let number = 1; number <= count && !io.signal.aborted; number += 1) {
    const model = models[(number - 1) % models.length] ?? options.model;
    const own = { ...there, model, workTree: `${group}.${number}` };
    const { tree } = await openWorkTreeFromOptions(own);
    const attempt = { group, number, startedAt, prompt, ...(model !== undefined && { model }) };
    await workTrees.keepAttempt(tree, attempt);
    running.push(runAttempt({ place, tree, attempt }, own, io));
  }
  return Promise.all(running);
}

/**
 * Chooses the mode: `auto` unless one is named, because nobody can answer an attempt's questions and its changes stay
 * in its work tree.
 */
async function chooseMode(options: CommonOptions): Promise<CommonOptions> {
  const { settings } = await readSettings(options);
  const isNamed = settings.approvalMode !== undefined;
  const isAllowed = listModes(settings.managed).includes("auto");
  return isNamed || !isAllowed ? options : { ...options, approvalMode: "auto" };
}

async function runAttempt({ place, tree, attempt }: Started, options: CommonOptions, io: Io) {
  const { number, prompt } = attempt;
  const startedAt = process.uptime();
  const { output, read } = collectOutput(number, io.output);
  const own: CommonOptions = {
    ...options,
    workTree: undefined,
    root: tree.root,
    isRootNamed: true,
    outputFormat: "json",
  };
  const error = await runPrint(createPromptInput(prompt), own, { output, signal: io.signal }).then(
    () => undefined,
    describeError,
  );
  const document = read();
  const changes = await workTrees.changes(place, tree);
  const sumLines = (side: "addedLines" | "removedLines") =>
    changes.reduce((total, { diff }) => total + (diff?.[side] ?? 0), 0);
  const why = error ?? document?.error?.message;
  const { inputTokens = 0, outputTokens = 0, cost } = document?.usage ?? {};
  const end: AttemptEnd = {
    status: document?.status ?? (io.signal.aborted ? "cancelled" : "error"),
    ...((options.check ?? document?.check) && { check: readCheckOutcome(document) }),
    files: changes.length,
    added: sumLines("addedLines"),
    removed: sumLines("removedLines"),
    durationMs: document?.durationMs ?? Math.round((process.uptime() - startedAt) * 1000),
    tokens: inputTokens + outputTokens,
    ...(cost !== undefined && { cost }),
    sessionId: document?.sessionId ?? null,
    ...(why !== undefined && { error: why }),
    result: document?.result ?? "",
  };
  const ended = { ...attempt, end };
  await workTrees.keepAttempt(tree, ended);
  if (!options.isQuiet) io.output.note(formatNote(`attempt ${number} has ended: ${end.status}`));
  return ended;
}

function readCheckOutcome(document: RunDocument | null): NonNullable<AttemptEnd["check"]> {
  const check = document?.check;
  return check === undefined ? "not run" : check.passed ? "passed" : "failed";
}

/** Collects the document that the run prints, and marks each line for the user with the attempt's number. */
function collectOutput(number: number, { styled, note }: Output) {
  let said = "";
  const addOutput = (text: string): void => {
    said += text;
  };
  const output: Output = {
    out: addOutput,
    content: addOutput,
    note: (text) => note(text.replace(/^/gm, `${number} | `)),
    isTerminal: false,
    hasResult: false,
    styled,
  };
  const parseDocument = (): RunDocument | null => (said === "" ? null : (JSON.parse(said) as RunDocument));
  return { output, read: parseDocument };
}

/** Chooses the exit code: one successful attempt is enough for success. */
export function chooseExitCode(ended: readonly Attempt[], { signal }: Io) {
  if (signal.aborted) return EXIT.interrupted;
  return ended.some(({ end }) => end?.status === "success") ? EXIT.done : EXIT.failed;
}
