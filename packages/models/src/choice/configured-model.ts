import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { NamedModel } from "@burin/contract/settings/settings";
import { retrying } from "../failures/retry.ts";
import { chooseModel, chooseOther, type ModelNames } from "./choose-model.ts";
import { type ModelChoice, openModel } from "./open-model.ts";

interface Asked extends ModelNames {
  /** Wraps each single request to a service, including retries. */
  readonly around?: (model: ChatModel) => ChatModel;
}

/**
 * The model that settings and environment name, with retries, and after it those of `model.fallbacks`. Null when
 * none is named. With a name: another one, by an alias of `models` or in full.
 */
export function configuredModel(
  names: Asked,
  environment: NodeJS.ProcessEnv,
  name?: string,
): ChatModel | null {
  // A name alone belongs to the service of the main model.
  const isAlias = name !== undefined && Object.hasOwn(names.models ?? {}, name);
  const first =
    name === undefined
      ? chooseModel(names, environment)
      : chooseOther(isAlias ? { name } : { ...names.model, name }, names, environment);
  if (!first) return null;
  const model = opened(first, names, environment);
  const { fallbacks = [] } = names.model;
  if (fallbacks.length === 0) return model;
  let chain: ChatModel | undefined;
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    chain ??= (await import("../failures/fallback.ts")).fallbackChain([model, ...others(names, environment)]);
    yield* chain.stream(request, signal);
  }
  return { ...model, stream };
}

function opened(
  choice: ModelChoice,
  { around = (model) => model }: Asked,
  environment: NodeJS.ProcessEnv,
): ChatModel {
  const { retries, window: contextWindow, price } = choice;
  const often = retries === undefined ? {} : { mostAttempts: retries + 1 };
  const model = retrying(around(openModel({ ...choice, environment })), often);
  return {
    ...model,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(price === undefined ? {} : { price }),
  };
}

function others(names: Asked, environment: NodeJS.ProcessEnv): ChatModel[] {
  return (names.model.fallbacks ?? []).map((entry) => {
    const named: NamedModel = typeof entry === "string" ? { name: entry } : entry;
    const choice = chooseOther(named, names, environment);
    return choice ? opened(choice, names, environment) : missing(named.name ?? "");
  });
}

/** Stands for a fallback without a service; reports that only when it is needed. */
function missing(name: string): ChatModel {
  const message = `The fallback model "${name}" has no service: set its API key or its baseUrl.`;
  return {
    name,
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      yield { type: "end", reason: "error", error: { type: "unauthorized", message } };
    },
  };
}
