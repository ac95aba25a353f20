import type { CallContext } from "@burin/contract/tools";

/** One simple command of a command line, judged by itself. */
export interface PartVerdict {
  /** As written. */
  readonly text: string;
  readonly verdict: "allow" | "ask";
  readonly reason: string;
  /** The rule that covers it, as written. */
  readonly rule?: string;
  /** The rule that would cover it from now on; absent when none can. */
  readonly grant?: string;
  /** It does nothing but read; when it is asked about, then for nothing but where. */
  readonly isOnlyReading: boolean;
  /** It would do more than its words say, so no rule that names them covers it. */
  readonly isBeyondRules?: boolean;
}

/** What was decided about a call, and why. */
export interface Verdict {
  readonly verdict: "allow" | "ask" | "deny";
  /** In words, for the user and for the model. */
  readonly reason: string;
  /** The part of a command line that decided, as written. */
  readonly part?: string;
  /** The rule that decided, as written. */
  readonly rule?: string;
  /** For `ask`: the rules that "always" would store; empty when no rule can make this question go away. */
  readonly grants?: readonly string[];
  /** Of a command line that runs unasked: how much of it only reads, and is held to that as it runs. */
  readonly reads?: CallContext["reads"];
  /** Of a command line: every simple command in it. */
  readonly parts?: readonly PartVerdict[];
}
