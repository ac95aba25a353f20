import type { AgentEvent } from "@burin/contract/agent-event";
import { withFallback } from "@burin/contract/with-fallback";
import { readLog } from "../log/read-log.ts";
import { resolveSessionPath } from "../log/session-files.ts";
import { TurnCount } from "../turn-count.ts";
import type { Operation } from "./operations.ts";

/** Which changes to take back. Without a choice, the last one. */
export interface UndoOptions {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** Undo this many of the last calls that are in effect. Default: the last operation, which may itself be an undo. */
  readonly count?: number;
  /** Undo all calls of this session that are in effect; with `count`, only that many of the last ones. */
  readonly session?: string;
  /**
   * Consider only what this session changed, and what the sessions that it is a copy of changed before. `calls`: what
   * calls outside of sessions changed. See `resolveUndoScope`.
   */
  readonly only?: string;
  /** Undo the last undo, if no call has changed a file since. */
  readonly redo?: boolean;
  /** Undo the call with this id, or with an id that begins with it. */
  readonly call?: string;
  /** Undo only the last change of this file. */
  readonly file?: string;
  /** Undo all changes of the session `only` since the user's last prompt, or since the model's last turn. */
  readonly last?: "prompt" | "turn";
  /** Undo all changes of the session `only` after the turn with this number. */
  readonly afterTurn?: number;
  /** Where to look for git; default: the environment of the process. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const CALLS_SCOPE = "calls";
export const isCall = (writer: string) => writer.startsWith("call-");

/** Whether a change at this time by this writer is in scope. Of a copied session, only earlier changes are. */
type Scope = (writer: string, at: string) => boolean;

export function buildScope(only: string, { home, root }: UndoOptions): Scope {
  if (only === CALLS_SCOPE) return isCall;
  const ancestors = new Set<string>();
  let begun: string | null = null;
  const records = withFallback([], () => [...readLog(resolveSessionPath(home, root, only))]);
  for (const { event, at } of records) {
    if (event.type !== "session") continue;
    if (event.sessionId === only) begun ??= at;
    else ancestors.add(event.sessionId);
  }
  return (writer, at) => writer === only || (ancestors.has(writer) && (begun === null || at < begun));
}

/** Returns the recorded changes that are in scope, and the undos of those changes. */
export function filterWithUndos(operations: readonly Operation[], isMeant: Scope): Operation[] {
  const ids = new Set<string>();
  return operations.filter(({ id, of, partOf = [], at, writer }) => {
    const undone = [...(of ?? []), ...partOf];
    const isIn = undone.length === 0 ? isMeant(writer, at) : undone.some((its) => ids.has(its));
    if (isIn) ids.add(id);
    return isIn;
  });
}

/** Returns the operations that the options choose, latest first. */
export function chooseOperations(
  operations: readonly Operation[],
  options: UndoOptions,
): readonly Operation[] {
  const { count, session, redo, call, file } = options;
  const all = operations.filter(({ isInForce }) => isInForce).reverse();
  if (call !== undefined)
    return all.filter((one) => one.of === null && (one.id.startsWith(call) || one.call?.callId === call));
  // Changes after a kill may be the user's own work, so they are undone only if their id is given.
  const inForce = all.filter(({ cut }) => cut !== "after");
  const calls = inForce.filter(({ of }) => of === null);
  if (file !== undefined) return calls.flatMap((one) => limitToFile(one, file)).slice(0, count ?? 1);
  if (session !== undefined) {
    const its = inForce.filter(({ writer }) => writer === session);
    return its.slice(0, count ?? its.length);
  }
  if (redo) {
    const last = inForce.find(({ depth }) => depth === 0 || depth % 2 === 1);
    return last === undefined || last.depth === 0 ? [] : [last];
  }
  if (options.last !== undefined || options.afterTurn !== undefined) {
    const since = findStart(options);
    return since === null ? [] : calls.filter(({ at }) => at >= since);
  }
  return count === undefined ? inForce.slice(0, 1) : calls.slice(0, count);
}

/** Limits an operation to its change of one file. The operation itself stays in effect. */
function limitToFile(operation: Operation, file: string): Operation[] {
  const changes = operation.changes.filter((change) => change.file === file);
  return changes.length === 0
    ? []
    : [{ ...operation, changes, git: [], isPart: changes.length < operation.changes.length }];
}

/** Returns when the part of the session began that is to be undone; null if it has not begun. */
function findStart({ home, root, only = "", last, afterTurn = 0 }: UndoOptions): string | null {
  const records = withFallback([], () => [...readLog(resolveSessionPath(home, root, only))]);
  const isPrompt = (event: AgentEvent) => event.type === "text" && event.role === "user";
  if (last === "prompt") return records.findLast(({ event }) => isPrompt(event))?.at ?? null;
  const count = new TurnCount();
  const starts = records.flatMap(({ event, at }) => (count.countEvent(event).isFirst ? [at] : []));
  return (last === "turn" ? starts.at(-1) : starts[afterTurn]) ?? null;
}
