import type { AgentEvent, UsagePurpose } from "@burin/contract/agent-event";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { Budget } from "./budget.ts";
import { ContextSize } from "./context-size.ts";

/** Who pays for a request that is no turn of the loop, and what for. */
export interface Account {
  readonly purpose: UsagePurpose;
  readonly budget: Budget | undefined;
  readonly tell: (event: AgentEvent) => void;
}

/** The same model for help beside the loop: what it uses counts for the session and is told. */
export function spendingModel(
  answering: { readonly model: ChatModel },
  { purpose, budget, tell }: Account,
): ChatModel {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const { model } = answering;
    let isCounted = false;
    let said = "";
    for await (const event of model.stream(request, signal)) {
      if (event.type === "text") said += event.text;
      if (event.type === "usage") {
        isCounted = true;
        budget?.spend(event.usage, model.name);
        tell({ ...event, purpose });
      }
      if (event.type === "end" && event.reason !== "error" && !isCounted)
        spendEstimated(model, request, said);
      yield event;
    }
  }
  /** A service that counts nothing must not make a budget endless. */
  function spendEstimated(model: ChatModel, request: ModelRequest, said: string): void {
    const size = new ContextSize();
    const usage = { inputTokens: size.of(request), outputTokens: size.ofText(said), cachedTokens: 0 };
    budget?.spend(usage, model.name);
  }
  return {
    get name() {
      return answering.model.name;
    },
    stream,
  };
}
