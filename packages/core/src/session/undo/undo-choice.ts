import type { AgentEvent } from "@burin/contract/agent-event";
import { orElse } from "@burin/contract/or-else";
import { readLog } from "../log/read-log.ts";
import { sessionPath } from "../log/session-files.ts";
import { TurnCount } from "../turn-count.ts";
import type { Operation } from "./operations.ts";

export interface UndoOptions {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real path of the project's folder. */
  readonly root: string;
  /** The last so many calls that are in effect; default: the last operation, which may be an undo. */
  readonly count?: number;
  /** All calls of this session that are in effect; with `count`, the last so many of them. */
  readonly session?: string;
  /**
   * Looks at nothing but what this session has changed, and before it those that it is a copy of. `calls`: what
   * calls outside of sessions have changed. See `undoScope`.
   */
  readonly only?: string;
  /** The last undo, if no call has changed a file since. */
  readonly redo?: boolean;
  /** The call with this id, or with an id that begins so. */
  readonly call?: string;
  /** The last change of this file alone. */
  readonly file?: string;
  /** All changes of the session `only` since the user's last prompt, or since the model's last turn. */
  readonly last?: "prompt" | "turn";
  /** All changes of the session `only` after the turn with this number. */
  readonly afterTurn?: number;
  /** Where to look for git. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const CALLS = "calls";
export const isCall = (writer: string) => writer.startsWith("call-");

/** Writers whose changes are meant, each with the time until which they are: of a copied session only what came before. */
type Scope = (writer: string, at: string) => boolean;

export function scopeOf(only: string, { home, root }: UndoOptions): Scope {
  if (only === CALLS) return isCall;
  const ancestors = new Set<string>();
  let begun: string | null = null;
  const records = orElse([], () => [...readLog(sessionPath(home, root, only))]);
  for (const { event, at } of records) {
    if (event.type !== "session") continue;
    if (event.sessionId === only) begun ??= at;
    else ancestors.add(event.sessionId);
  }
  return (writer, at) => writer === only || (ancestors.has(writer) && (begun === null || at < begun));
}

/** The operations in scope, and the undoing of them. */
export function within(operations: readonly Operation[], isMeant: Scope): Operation[] {
  const ids = new Set<string>();
  return operations.filter(({ id, of, partOf = [], at, writer }) => {
    const undone = [...(of ?? []), ...partOf];
    const isIn = undone.length === 0 ? isMeant(writer, at) : undone.some((its) => ids.has(its));
    if (isIn) ids.add(id);
    return isIn;
  });
}

/** Latest first. */
export function chosenFrom(operations: readonly Operation[], options: UndoOptions): readonly Operation[] {
  const { count, session, redo, call, file } = options;
  const all = operations.filter(({ isInForce }) => isInForce).reverse();
  if (call !== undefined)
    return all.filter((one) => one.of === null && (one.id.startsWith(call) || one.call?.callId === call));
  // What changed after a kill may be the user's own work: it is taken back only by its name.
  const inForce = all.filter(({ cut }) => cut !== "after");
  const calls = inForce.filter(({ of }) => of === null);
  if (file !== undefined) return calls.flatMap((one) => onlyFile(one, file)).slice(0, count ?? 1);
  if (session !== undefined) {
    const its = inForce.filter(({ writer }) => writer === session);
    return its.slice(0, count ?? its.length);
  }
  if (redo) {
    const last = inForce.find(({ depth }) => depth === 0 || depth % 2 === 1);
    return last === undefined || last.depth === 0 ? [] : [last];
  }
  if (options.last !== undefined || options.afterTurn !== undefined) {
    const since = startOf(options);
    return since === null ? [] : calls.filter(({ at }) => at >= since);
  }
  return count === undefined ? inForce.slice(0, 1) : calls.slice(0, count);
}

/** What an operation did to one file. The operation itself stays in effect. */
function onlyFile(operation: Operation, file: string): Operation[] {
  const changes = operation.changes.filter((change) => change.file === file);
  return changes.length === 0
    ? []
    : [{ ...operation, changes, git: [], isPart: changes.length < operation.changes.length }];
}

/** When the part of the session began that is to be taken back; null if it has not. */
function startOf({ home, root, only = "", last, afterTurn = 0 }: UndoOptions): string | null {
  const records = orElse([], () => [...readLog(sessionPath(home, root, only))]);
  const isPrompt = (event: AgentEvent) => event.type === "text" && event.role === "user";
  if (last === "prompt") return records.findLast(({ event }) => isPrompt(event))?.at ?? null;
  const count = new TurnCount();
  const starts = records.flatMap(({ event, at }) => (count.follow(event).isFirst ? [at] : []));
  return (last === "turn" ? starts.at(-1) : starts[afterTurn]) ?? null;
}
