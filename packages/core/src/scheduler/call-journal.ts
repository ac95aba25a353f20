import type { FunctionCall } from "@burin/contract/messages/message";
import type { CallContext, Tool } from "@burin/contract/tools";

/** A call that is about to run. */
interface StartedCall extends Pick<FunctionCall, "id" | "args"> {
  readonly tool: Pick<Tool, "name" | "kind">;
  readonly reads: CallContext["reads"] | undefined;
  readonly description: string;
}

/** Runs the work of a call and stores what it changes. */
export type CallJournal = <T>(call: StartedCall, work: () => Promise<T>) => Promise<T>;
