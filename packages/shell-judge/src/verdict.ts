import type { CallContext, Effect } from "@burin/contract/tools";

/** What "always" would store, by how wide it is. */
export interface Grants {
  /** Rules for exactly this command and this file. */
  readonly exact: readonly string[];
  /**
   * Rules that also cover other arguments that cannot change the kind of command, and the file's whole folder. Equals
   * `exact` if there is nothing wider.
   */
  readonly wide: readonly string[];
  /** Rules for everything that the tool does; never offered for a command line. */
  readonly all?: readonly string[];
}

/** The verdict on one simple command of a command line. */
export interface PartVerdict {
  readonly text: string;
  readonly verdict: "allow" | "ask";
  readonly reason: string;
  /** The rule that covers it, as written. */
  readonly rule?: string;
  /** The rules that would cover it from now on, alone and with other arguments; absent when none can. */
  readonly grants?: Grants;
  /** true if the command only reads. If it needs a question, then only because of where it reads. */
  readonly isOnlyReading: boolean;
  /** What it would do that a user should know, worst first. */
  readonly effects: readonly Effect[];
  /** true if the command needs a question, but everything that it can do stays inside the roots and can be undone. */
  readonly isContained?: true;
}

/** What was decided about a call, and why. */
export interface Verdict {
  readonly verdict: "allow" | "ask" | "deny";
  /** The reason for the decision, for the user and for the model. */
  readonly reason: string;
  /** The part of a command line that decided, as written. */
  readonly part?: string;
  /** The rule that decided, as written. */
  readonly rule?: string;
  /** For `ask`: the rules that "always" would store; empty when no rule can prevent this question. */
  readonly grants?: readonly string[];
  /** The rules by their width, where there is more than one width. */
  readonly widths?: Grants;
  /** For a line that runs without a question: how much of it is known to only read and is limited to that. */
  readonly reads?: CallContext["reads"];
  /** Only the mode `auto` lets it run without a question. */
  readonly isContained?: true;
  /** For a command line that runs without a question: what it must not change. */
  readonly readOnly?: CallContext["readOnly"];
  /** For a command line: every simple command in it. */
  readonly parts?: readonly PartVerdict[];
}
