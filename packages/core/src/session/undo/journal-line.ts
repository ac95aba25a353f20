import type { RefChange } from "@burin/commands/git/git-work";
import type { Repository } from "@burin/files/tree";
import type { Content } from "./content.ts";

/** What a call changed in a repository apart from files of the work tree. */
export interface GitChange {
  readonly repository: Repository;
  /** HEAD, the index, settings and what else git keeps in small files. */
  readonly files: readonly FileChange[];
  readonly refs: readonly RefChange[];
  /** The name of a kept file with the objects that nothing leads to any more. */
  readonly pack?: string;
}

/** One change of what is at a path. null stands for nothing. */
export interface FileChange {
  readonly type: "change";
  readonly id: string;
  readonly at: string;
  readonly file: string;
  readonly before: Content | null;
  readonly after: Content | null;
  readonly madeFolders: number;
}

/** The call that changed something. */
export interface CallNote {
  /** A command, a hook, a check, or the name of a tool. */
  readonly maker: string;
  /** In words. */
  readonly what: string;
  readonly callId?: string;
}

/** Everything that a call changed by other ways than the file tools. */
interface CallChanges {
  readonly type: "changes";
  readonly id: string;
  readonly at: string;
  readonly call: CallNote;
  readonly changes: readonly FileChange[];
  readonly git?: readonly GitChange[];
  /** Something else was at work too, so that a part may be its work. */
  readonly isShared?: boolean;
  /**
   * Burin was killed while the call ran. `during`: what had changed until then. `after`: what changed from then until
   * the next Burin looked, by the command or by anybody else.
   */
  readonly cut?: "during" | "after";
}

export type JournalLine =
  | FileChange
  | CallChanges
  /** What an undo is about to do to a repository; the last line with an id counts, and null says that nothing was done. */
  | { readonly type: "git"; readonly id?: string; readonly change: GitChange | null }
  /** The first line of an undo. Without the last one, it was killed before its end. */
  | { readonly type: "undo_begun"; readonly id: string; readonly at: string; readonly of: readonly string[] }
  | { readonly type: "forgotten"; readonly id: string }
  /** This change took back a part of an earlier one. */
  | { readonly type: "taken_back"; readonly id: string }
  | UndoLine;

/** The other changes of this journal undid something. */
interface UndoLine {
  readonly type: "undo";
  readonly id: string;
  readonly at: string;
  /** The operations that were undone. */
  readonly of: readonly string[];
  /** Those of which only a part was undone, so that they stay in effect. */
  readonly partOf?: readonly string[];
}
