import type { FunctionCall } from "@burin/contract/messages/message";
import type { CallContext, Tool } from "@burin/contract/tools";

/** A call that is about to do something. */
interface StartedCall extends Pick<FunctionCall, "id" | "args"> {
  readonly tool: Pick<Tool, "name" | "kind">;
  readonly reads: CallContext["reads"] | undefined;
  readonly description: string;
}

/** Does what a call does, and notes what that changes. */
export type CallJournal = <T>(call: StartedCall, work: () => Promise<T>) => Promise<T>;
