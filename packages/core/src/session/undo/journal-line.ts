import type { RefChange } from "@burin/commands/git/git-work";
import type { Repository } from "@burin/files/tree";
import type { Content } from "./content.ts";

/** What a call changed in a repository, apart from files of the work tree. */
export interface GitChange {
  readonly repository: Repository;
  /** HEAD, the index, the configuration and the other small files of git. */
  readonly files: readonly FileChange[];
  readonly refs: readonly RefChange[];
  /** The name of the stored pack with objects that are no longer reachable. */
  readonly pack?: string;
}

/** A change of the content at one path. null means that nothing is there. */
export interface FileChange {
  readonly type: "change";
  readonly id: string;
  readonly at: string;
  readonly file: string;
  readonly before: Content | null;
  readonly after: Content | null;
  readonly madeFolders: number;
}

/** Describes the call that changed something. */
export interface CallNote {
  /** Who made the change: the name of a tool, `hook` or `check`. */
  readonly maker: string;
  /** What it did, in words. */
  readonly what: string;
  readonly callId?: string;
}

/** Everything that a call changed by other means than the file tools. */
interface CallChanges {
  readonly type: "changes";
  readonly id: string;
  readonly at: string;
  readonly call: CallNote;
  readonly changes: readonly FileChange[];
  readonly git?: readonly GitChange[];
  /** true if something else was running too, which may have made a part of the changes. */
  readonly isShared?: boolean;
  /**
   * Set if Burin was killed while the call ran. `during`: what had changed until then. `after`: what changed from then
   * until another Burin process looked, by the command or by anybody else.
   */
  readonly cut?: "during" | "after";
}

export type JournalLine =
  | FileChange
  | CallChanges
  /** A change that an undo is about to make to a repository. The last line with an id counts; null means no change. */
  | { readonly type: "git"; readonly id?: string; readonly change: GitChange | null }
  /** The first line of an undo. If the last line is missing, the undo was killed before its end. */
  | { readonly type: "undo_begun"; readonly id: string; readonly at: string; readonly of: readonly string[] }
  | { readonly type: "forgotten"; readonly id: string }
  /** Says that this change took back a part of an earlier one. */
  | { readonly type: "taken_back"; readonly id: string }
  | UndoLine;

/** Says that the other changes in this journal were made by an undo. */
interface UndoLine {
  readonly type: "undo";
  readonly id: string;
  readonly at: string;
  /** The ids of the operations that were undone. */
  readonly of: readonly string[];
  /** The ids of operations of which only a part was undone, so that they stay in effect. */
  readonly partOf?: readonly string[];
}
