import { isAbsolute, resolve } from "node:path";
import type { ApprovalMode } from "@burin/core";
import { APPROVAL_MODES, describeError, parseRule } from "@burin/core/internal";
import { parseBudget } from "@burin/core/sessions";

/** Where the code of a task comes from. */
export type Source =
  | { readonly folder: string }
  | { readonly git: string; readonly revision: string }
  | { readonly tarball: string };

/** One line of a task file. */
export interface Task {
  readonly id: string;
  readonly source: Source;
  readonly prompt: string;
  readonly model?: string;
  /** The owner of the task, for `--per-tenant`. */
  readonly tenant?: string;
  /** Has the same format as `--budget`: `200k, $2, 10m, 50 calls`. */
  readonly budget?: string;
  readonly maxTurns?: number;
  readonly approvalMode: ApprovalMode;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** A command that runs in the folder before the session begins. */
  readonly setup?: string;
  /** A command that must succeed before the session can end successfully. */
  readonly check?: string;
  /** How many workers in a row may be lost without a finished call before the task is set aside. */
  readonly tries: number;
}

/** An error in a task file. The message gives the line number. */
export class TaskError extends Error {}

const DEFAULT_TRIES = 3;

const KEYS: Readonly<Record<string, (value: unknown) => string | null>> = {
  id: findNameFault,
  folder: checkText,
  git: checkText,
  revision: checkText,
  tarball: checkText,
  prompt: checkText,
  model: checkText,
  tenant: checkText,
  budget: (value) => checkText(value) ?? catchFault(() => parseBudget(String(value))),
  maxTurns: checkCount,
  approvalMode: (value) =>
    APPROVAL_MODES.some((mode) => mode === value) ? null : `must be one of ${APPROVAL_MODES.join(", ")}`,
  allow: checkRules,
  deny: checkRules,
  setup: checkText,
  check: checkText,
  tries: checkCount,
};

/** Parses JSON Lines with one task per line. Folders and tarballs are relative to `from`. Throws TaskError. */
export function readTasks(text: string, from: string): Task[] {
  const ids = new Set<string>();
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n/);
  const tasks = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      const task = readTask(line, from);
      if (ids.has(task.id)) throw new Error(`there is already a task "${task.id}".`);
      ids.add(task.id);
      return [task];
    } catch (error) {
      throw new TaskError(`Line ${index + 1}: ${describeError(error)}`);
    }
  });
  if (tasks.length === 0) throw new TaskError("There is no task in the file.");
  return tasks;
}

function readTask(line: string, from: string): Task {
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(line);
  } catch (error) {
    throw new Error(`it is not valid JSON (${describeError(error)}).`);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new Error("a task is a JSON object.");
  for (const [key, value] of Object.entries(given)) {
    const check = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (check === undefined)
      throw new Error(`"${key}" is not part of a task; there are ${Object.keys(KEYS).join(", ")}.`);
    const fault = check(value);
    if (fault !== null) throw new Error(`"${key}" ${fault}.`);
  }
  for (const key of ["id", "prompt"]) if (given[key] === undefined) throw new Error(`"${key}" is missing.`);
  const { folder: _f, git: _g, revision: _r, tarball: _t, ...rest } = given;
  const defaults = { approvalMode: "default", allow: [], deny: [], tries: DEFAULT_TRIES };
  return { ...defaults, ...rest, id: String(given.id), source: readSource(given, from) } as unknown as Task;
}

function readSource({ folder, git, revision, tarball }: Record<string, unknown>, from: string): Source {
  const given = [folder, git, tarball].filter((one) => one !== undefined);
  if (given.length !== 1)
    throw new Error('it names its code with exactly one of "folder", "git", "tarball".');
  if (revision !== undefined && git === undefined) throw new Error('"revision" goes with "git".');
  if (typeof folder === "string") return { folder: resolve(from, folder) };
  if (typeof tarball === "string") return { tarball: resolve(from, tarball) };
  const url = String(git);
  if (URL.canParse(url) && hasSecret(new URL(url)))
    throw new Error(
      [
        '"git" has a password, which would be kept in the database.',
        `Write a variable in its place, as in https://user:\${BURIN_GIT_PASSWORD}@host/,`,
        "and give it to each worker.",
      ].join(" "),
    );
  // A relative path is a repository on this machine.
  const isHere = !isAbsolute(url) && /^\.{1,2}(?:\/|$)/.test(url);
  return { git: isHere ? resolve(from, url) : url, revision: String(revision ?? "HEAD") };
}

/** Whether a URL contains a secret. `${BURIN_GIT_NAME}` is none; a long user name with digits is a token. */
function hasSecret({ username, password }: URL): boolean {
  const isToken = /^(?=.*\d)[\w-]{20,}$/.test(username);
  return isToken || (password !== "" && !/^\$\{BURIN_GIT_\w+\}$/.test(decodeURIComponent(password)));
}

/** Returns what is wrong with the name of a run or task, or null. Such names become parts of folder names. */
export function findNameFault(name: unknown): string | null {
  const isName = typeof name !== "object" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(String(name));
  return isName ? null : "must be letters, digits, - and _, at most 80 of them";
}

function checkText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? null : "must be a text that is not empty";
}

function checkCount(value: unknown): string | null {
  return Number.isSafeInteger(value) && Number(value) > 0 ? null : "must be a whole number above 0";
}

function checkRules(value: unknown): string | null {
  if (!Array.isArray(value)) return "must be a list of rules";
  return (
    value
      .map((rule) => checkText(rule) ?? catchFault(() => parseRule(rule)))
      .find((fault) => fault !== null) ?? null
  );
}

function catchFault(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return `cannot be used: ${describeError(error).replace(/\.$/, "")}`;
  }
}
