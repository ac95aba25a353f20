import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { NamedModel } from "@burin/contract/settings/settings";
import { withRetries } from "../failures/retry.ts";
import { chooseModel, chooseOtherModel, type ModelNames } from "./choose-model.ts";
import { type ModelChoice, openModel } from "./open-model.ts";

interface ModelRequestSettings extends ModelNames {
  /** Wraps every single request to a service, including retries. */
  readonly around?: (model: ChatModel) => ChatModel;
}

/**
 * Returns the model that the settings and the environment name, with retries and the models of `model.fallbacks`; null
 * if none is named. With `name`, returns another model: an alias from `models` or a full name.
 */
export function openConfiguredModel(
  names: ModelRequestSettings,
  environment: NodeJS.ProcessEnv,
  name?: string,
): ChatModel | null {
  // A bare name belongs to the service of the main model.
  const isAlias = name !== undefined && Object.hasOwn(names.models ?? {}, name);
  const first =
    name === undefined
      ? chooseModel(names, environment)
      : chooseOtherModel(isAlias ? { name } : { ...names.model, name }, names, environment);
  if (!first) return null;
  const model = openChoice(first, names, environment);
  const { fallbacks = [] } = names.model;
  if (fallbacks.length === 0) return model;
  let chain: ChatModel | undefined;
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    chain ??= (await import("../failures/fallback.ts")).createFallbackChain([
      model,
      ...openFallbacks(names, environment),
    ]);
    yield* chain.stream(request, signal);
  }
  return { ...model, stream };
}

function openChoice(
  choice: ModelChoice,
  { around = (model) => model }: ModelRequestSettings,
  environment: NodeJS.ProcessEnv,
): ChatModel {
  const { retries, window: contextWindow, price } = choice;
  const often = retries === undefined ? {} : { mostAttempts: retries + 1 };
  const model = withRetries(around(openModel({ ...choice, environment })), often);
  return {
    ...model,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(price === undefined ? {} : { price }),
  };
}

function openFallbacks(names: ModelRequestSettings, environment: NodeJS.ProcessEnv): ChatModel[] {
  return (names.model.fallbacks ?? []).map((entry) => {
    const named: NamedModel = typeof entry === "string" ? { name: entry } : entry;
    const choice = chooseOtherModel(named, names, environment);
    return choice ? openChoice(choice, names, environment) : createMissingModel(named.name ?? "");
  });
}

/** Stands in for a fallback that has no service. Reports this only when it is needed. */
function createMissingModel(name: string): ChatModel {
  const message = `The fallback model "${name}" has no service: set its API key or its baseUrl.`;
  return {
    name,
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      yield { type: "end", reason: "error", error: { type: "unauthorized", message } };
    },
  };
}
