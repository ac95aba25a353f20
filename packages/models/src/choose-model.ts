import type { ModelProvider, ModelSettings, NamedModel } from "@burin/contract/settings/settings";
import type { ModelChoice } from "./open-model.ts";

interface Service {
  readonly key: string;
  readonly model: string;
  readonly url: string;
  readonly home: string;
}

const OPENAI: Service = {
  key: "OPENAI_API_KEY",
  model: "OPENAI_MODEL",
  url: "OPENAI_BASE_URL",
  home: "https://api.openai.com/v1",
};

const SERVICES: Readonly<Record<ModelProvider, Service>> = {
  openai: OPENAI,
  "openai-responses": OPENAI,
  anthropic: {
    key: "ANTHROPIC_API_KEY",
    model: "ANTHROPIC_MODEL",
    url: "ANTHROPIC_BASE_URL",
    home: "https://api.anthropic.com",
  },
  gemini: {
    key: "GEMINI_API_KEY",
    model: "GEMINI_MODEL",
    url: "GEMINI_BASE_URL",
    home: "https://generativelanguage.googleapis.com",
  },
};

/** In the order in which the environment is looked through. */
const SEARCHED = ["openai", "anthropic", "gemini"] as const;

/** What settings and environment name; null when they name no model, or no service that would have it. */
export function chooseModel(settings: ModelSettings, environment: NodeJS.ProcessEnv): ModelChoice | null {
  const choice = namedChoice(settings, environment);
  const { timeoutSeconds, callsInText } = settings;
  return (
    choice && {
      ...choice,
      ...(timeoutSeconds === undefined ? {} : { silenceMs: timeoutSeconds * 1000 }),
      ...(callsInText === undefined ? {} : { callsInText }),
    }
  );
}

/** The variable that holds the key of the chosen service. */
export function keyVariable({ provider }: ModelChoice, { apiKeyEnv }: NamedModel): string {
  return apiKeyEnv ?? SERVICES[provider].key;
}

function namedChoice(named: NamedModel, environment: NodeJS.ProcessEnv): ModelChoice | null {
  const prefixed = prefixedName(named, environment);
  if (prefixed) return choiceOf(prefixed.provider, prefixed, environment);
  if (named.provider) return choiceOf(named.provider, named, environment);
  if (named.name) return choiceOf(likelyProvider(named, environment), named, environment);
  const choices = SEARCHED.map((provider) => choiceOf(provider, named, environment));
  return choices.find((choice) => choice !== null) ?? null;
}

function choiceOf(
  provider: ModelProvider,
  { name, baseUrl, apiKeyEnv }: NamedModel,
  environment: NodeJS.ProcessEnv,
): ModelChoice | null {
  const service = SERVICES[provider];
  const model = name || environment[service.model];
  const apiKey = environment[apiKeyEnv ?? service.key];
  const url = baseUrl || environment[service.url] || (apiKey ? service.home : undefined);
  if (!model || !url) return null;
  return { provider, name: model, baseUrl: url, ...(apiKey ? { apiKey } : {}) };
}

/**
 * `provider/name` taken apart, where it can mean nothing else: services that have models of many makers name
 * them `maker/model`, so with a base URL of such a service the whole is the name.
 */
function prefixedName(
  named: NamedModel,
  environment: NodeJS.ProcessEnv,
): (NamedModel & { provider: ModelProvider }) | undefined {
  const { provider: set, name = "" } = named;
  const slash = name.indexOf("/");
  const prefix = name.slice(0, Math.max(slash, 0));
  if (!isProvider(prefix) || slash + 1 === name.length) return undefined;
  const mayHaveMakers = set === undefined || set === "openai" || set === "openai-responses";
  const isManyMakers = mayHaveMakers && Boolean(named.baseUrl || environment.OPENAI_BASE_URL);
  if (isManyMakers && prefix !== "openai-responses") return undefined;
  const rest = { provider: prefix, name: name.slice(slash + 1) };
  // The address and the key in the settings belong to the provider that is set beside them.
  const isSame = set === prefix || (mayHaveMakers && SERVICES[prefix] === OPENAI);
  return isSame ? { ...named, ...rest } : rest;
}

function isProvider(text: string): text is ModelProvider {
  return Object.hasOwn(SERVICES, text);
}

/** Whose model it is, from its name and from the keys that are there. */
function likelyProvider(
  { name = "", baseUrl, apiKeyEnv }: NamedModel,
  environment: NodeJS.ProcessEnv,
): ModelProvider {
  if (baseUrl || apiKeyEnv || environment.OPENAI_BASE_URL) return "openai";
  if (name.startsWith("claude-") && environment.ANTHROPIC_API_KEY) return "anthropic";
  if (name.startsWith("gemini-") && environment.GEMINI_API_KEY) return "gemini";
  return SEARCHED.find((provider) => environment[SERVICES[provider].key]) ?? "openai";
}
