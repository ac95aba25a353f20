import {
  type ManagedSettings,
  type ModelEntry,
  type ModelProvider,
  type ModelSettings,
  type NamedModel,
  type ServiceName,
  SettingsError,
} from "@burin/contract/settings/settings";
import { findVariable } from "../keys/key-variable.ts";
import { findKnownModel } from "./known-model.ts";
import type { ModelChoice } from "./open-model.ts";

type Environment = NodeJS.ProcessEnv;

export interface ModelNames {
  readonly model: ModelSettings;
  readonly models?: Readonly<Record<string, ModelEntry>>;
  readonly managed?: ManagedSettings;
}

interface Service {
  readonly protocol: ModelProvider;
  /** The variables that may contain the key. Messages name the first one. */
  readonly keyVariables: readonly string[];
  /** The variable that may name the model. */
  readonly modelVariable?: string;
  /** The variable that may contain another URL. */
  readonly urlVariable?: string;
  readonly defaultUrl?: string;
  /** The model that is used if there is a key and no model is named. */
  readonly defaultModel?: string;
  /** The variable without which the URL is unknown. */
  readonly requiredVariable?: string;
  /** Returns how to reach the service if it is not at `defaultUrl`; undefined if something is missing. */
  readonly reach?: (asked: ServiceAddress) => Partial<ModelChoice> | undefined;
  /** Matches the names of the service's own models, which otherwise only multi-vendor services offer. */
  readonly ownNames?: RegExp;
}

const OPENAI: Service = {
  protocol: "openai",
  keyVariables: ["OPENAI_API_KEY"],
  modelVariable: "OPENAI_MODEL",
  urlVariable: "OPENAI_BASE_URL",
  defaultUrl: "https://api.openai.com/v1",
  defaultModel: "gpt-6-sol",
  ownNames: /^(?:gpt-\d|chatgpt|codex|o\d)/,
};

/** A chat completions service at that address, whose variables start with its name. */
function defineCompatibleService(
  start: string,
  address: string,
  [defaultModel, ownNames]: [string, RegExp?],
): Service {
  const variables = { keyVariables: [`${start}_API_KEY`], modelVariable: `${start}_MODEL` };
  const defaultUrl = `https://${address}`;
  return { protocol: "openai", ...variables, defaultUrl, defaultModel, ...(ownNames && { ownNames }) };
}

const SERVICES: Readonly<Record<ServiceName, Service>> = {
  openai: OPENAI,
  "openai-responses": { ...OPENAI, protocol: "openai-responses" },
  anthropic: {
    protocol: "anthropic",
    keyVariables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    modelVariable: "ANTHROPIC_MODEL",
    urlVariable: "ANTHROPIC_BASE_URL",
    defaultUrl: "https://api.anthropic.com",
    defaultModel: "claude-sonnet-5",
    ownNames: /^claude-/,
  },
  gemini: {
    protocol: "gemini",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    modelVariable: "GEMINI_MODEL",
    urlVariable: "GEMINI_BASE_URL",
    defaultUrl: "https://generativelanguage.googleapis.com",
    defaultModel: "gemini-flash-latest",
    ownNames: /^gemini-/,
  },
  azure: {
    protocol: "openai",
    keyVariables: ["AZURE_OPENAI_API_KEY"],
    modelVariable: "AZURE_OPENAI_DEPLOYMENT",
    urlVariable: "AZURE_OPENAI_ENDPOINT",
    requiredVariable: "AZURE_OPENAI_ENDPOINT",
    reach: buildAzureChoice,
  },
  vertex: {
    protocol: "gemini",
    keyVariables: ["GOOGLE_VERTEX_TOKEN"],
    modelVariable: "VERTEX_MODEL",
    urlVariable: "VERTEX_BASE_URL",
    requiredVariable: "GOOGLE_CLOUD_PROJECT",
    reach: buildVertexChoice,
  },
  bedrock: {
    protocol: "openai",
    keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"],
    modelVariable: "BEDROCK_MODEL",
    defaultModel: "openai.gpt-oss-120b-1:0",
    requiredVariable: "AWS_REGION",
    reach: buildBedrockChoice,
  },
  openrouter: defineCompatibleService("OPENROUTER", "openrouter.ai/api/v1", ["anthropic/claude-sonnet-5"]),
  groq: defineCompatibleService("GROQ", "api.groq.com/openai/v1", ["openai/gpt-oss-120b"]),
  mistral: defineCompatibleService("MISTRAL", "api.mistral.ai/v1", [
    "mistral-medium-latest",
    /^(?:(?:mi|mini|magi|code|dev)stral|mixtral|pixtral)/,
  ]),
  deepseek: defineCompatibleService("DEEPSEEK", "api.deepseek.com/v1", ["deepseek-v4-pro", /^deepseek-/]),
  xai: defineCompatibleService("XAI", "api.x.ai/v1", ["grok-4.7", /^grok-/]),
  moonshot: defineCompatibleService("MOONSHOT", "api.moonshot.ai/v1", ["kimi-k3", /^(?:kimi|moonshot)-/]),
  dashscope: defineCompatibleService("DASHSCOPE", "dashscope-intl.aliyuncs.com/compatible-mode/v1", [
    "qwen-plus",
    /^qwen/,
  ]),
};
const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];
export const SERVICE_DEFAULTS = Object.values(SERVICES).flatMap(({ defaultModel = [] }) => defaultModel);
/** Leaves out the entry that only repeats another one's URL and key. */
const SEARCHED = SERVICE_NAMES.filter((name) => name !== "openai-responses");

/** All variables that name a model, its service's URL or its key. */
export const MODEL_VARIABLES: ReadonlySet<string> = new Set(
  Object.values(SERVICES).flatMap(({ keyVariables, modelVariable = [], urlVariable = [] }) =>
    keyVariables.concat(modelVariable, urlVariable),
  ),
);

/** Whether the environment names a model or contains a key. */
export function hasModelVariable(environment: Environment): boolean {
  return [...MODEL_VARIABLES].some((name) => Boolean(environment[name]));
}

/** Returns the model that the settings and the environment name; null if they name none, or no service for it. */
export function chooseModel(names: ModelNames, environment: Environment): ModelChoice | null {
  return assertAllowed(createChoiceFromEntry(resolveEntry(names.model, names), environment), names);
}

/** Returns another model than the main one: by an alias, or with its own service. */
export function chooseOtherModel(
  named: NamedModel,
  names: ModelNames,
  environment: Environment,
): ModelChoice | null {
  const { timeoutSeconds, callsInText, prices } = names.model;
  const entry = { ...resolveEntry(named, names), ...dropUndefined({ timeoutSeconds, callsInText, prices }) };
  return assertAllowed(createChoiceFromEntry(entry, environment), names);
}

/** Throws SettingsError for a service that this machine's administrator has not allowed. */
function assertAllowed(choice: ModelChoice | null, { managed }: ModelNames): ModelChoice | null {
  if (choice === null || managed?.modelHosts === undefined) return choice;
  const host = URL.canParse(choice.baseUrl) ? new URL(choice.baseUrl).hostname : choice.baseUrl;
  if (managed.modelHosts.includes(host)) return choice;
  const allowed = managed.modelHosts.join(", ");
  throw new SettingsError(`${managed.file} allows models of ${allowed} on this machine, not of ${host}.`);
}

/** A service that is reached with nothing but a key. */
export interface KeyedService {
  readonly service: ServiceName;
  readonly provider: ModelProvider;
  readonly baseUrl: string;
  /** The variable that holds its key. */
  readonly variable: string;
}

export function listKeyedServices(): readonly KeyedService[] {
  return SERVICE_NAMES.filter((service) => service !== "openai-responses").flatMap((service) => {
    const { protocol: provider, defaultUrl: baseUrl, keyVariables } = SERVICES[service];
    const [variable] = keyVariables;
    return baseUrl === undefined || variable === undefined ? [] : [{ service, provider, baseUrl, variable }];
  });
}

export function findKeyVariable({ service }: ModelChoice, named: NamedModel): string {
  return findVariable(named) ?? SERVICES[service ?? "openai"].keyVariables[0] ?? "";
}

/** Returns what is missing if the settings for a model are incomplete, otherwise null. */
export function describeMissing(names: ModelNames, environment: Environment): string | null {
  const named = resolveEntry(names.model, names);
  const said = named.name ?? "";
  const wanted = splitProvider(named, environment)?.provider ?? named.provider ?? guessMaker(said);
  if (wanted !== undefined && said !== "")
    return `${describeMissingAddress(wanted, named, environment)} for ${said}.`;
  if (said !== "") {
    return `there is no service for ${said}: OPENAI_BASE_URL is not set, which holds the address of a server, and no key of a service, such as OPENAI_API_KEY.`;
  }
  const withoutModel = SEARCHED.find((service) => {
    const { urlVariable = "" } = SERVICES[service];
    return service === wanted || environment[urlVariable] || hasServiceKey(service, environment);
  });
  if (withoutModel === undefined) return null;
  const { modelVariable } = SERVICES[withoutModel];
  return `${modelVariable} is not set, so it is not known which model of ${withoutModel} to ask: export ${modelVariable}=<model>, or name one with -m.`;
}

function describeMissingAddress(service: ServiceName, named: NamedModel, environment: Environment): string {
  const { requiredVariable: required, keyVariables } = SERVICES[service];
  if (required !== undefined && !environment[required]) return `${required} is not set, which is needed`;
  return `${findVariable(named) ?? keyVariables[0]} is not set, which holds the key`;
}

/** Returns the model's entry in `models`, overridden by the fields that are set together with the name. */
function resolveEntry(named: ModelSettings, { models = {} }: ModelNames): ModelSettings {
  const { name = "" } = named;
  const entry = Object.hasOwn(models, name) ? models[name] : undefined;
  if (!entry) return named;
  // Do not apply the main model's URL and properties to this one.
  const { timeoutSeconds, callsInText, retries, prices } = named;
  return {
    ...dropUndefined({ timeoutSeconds, callsInText, retries, prices }),
    ...entry,
    name: entry.model ?? name,
  };
}

function createChoiceFromEntry(entry: ModelSettings, environment: Environment): ModelChoice | null {
  const choice = resolveChoice(entry, environment);
  if (!choice) return null;
  const { timeoutSeconds, callsInText, images, tools, retries, organization, project, certificate } = entry;
  const { maxOutput, reasoning, temperature, topP, cache } = entry;
  const body = choice.tuning?.body ? { ...choice.tuning.body, ...entry.body } : entry.body;
  const tuning = dropUndefined({ maxOutput, reasoning, temperature, topP, cache, body });
  const known = findKnownModel(choice.name);
  const shortName = choice.name.slice(choice.name.lastIndexOf("/") + 1);
  return {
    ...choice,
    passedOver: findBypassedMaker(entry, environment),
    silenceMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
    callsInText,
    images,
    tools,
    retries,
    certificate,
    window: entry.window ?? entry.contextWindow ?? known?.window,
    price: entry.price ?? entry.prices?.[choice.name] ?? entry.prices?.[shortName] ?? known?.price,
    keyHeader: entry.bearer ? "authorization" : choice.keyHeader,
    headers: dropUndefined({
      "openai-organization": organization,
      "openai-project": project,
      ...entry.headers,
    }),
    tuning: Object.keys(tuning).length > 0 ? tuning : undefined,
  };
}

function dropUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

function resolveChoice(named: NamedModel, environment: Environment): ModelChoice | null {
  const prefixed = splitProvider(named, environment);
  if (prefixed) return buildChoice(prefixed.provider, prefixed, environment);
  if (named.provider) return buildChoice(named.provider, named, environment);
  if (named.name) return buildChoice(guessService(named, environment), named, environment);
  const isVertex = /^(?:1|true)$/i.test(environment.GOOGLE_GENAI_USE_VERTEXAI ?? "");
  const order: readonly ServiceName[] = isVertex ? ["vertex", ...SEARCHED] : SEARCHED;
  const choices = order.map((service) => buildChoice(service, named, environment));
  return choices.find((choice) => choice !== null) ?? null;
}

function buildChoice(service: ServiceName, named: NamedModel, environment: Environment): ModelChoice | null {
  const { protocol, keyVariables, modelVariable = "", urlVariable = "", ...more } = SERVICES[service];
  const variable = findVariable(named) ?? keyVariables.find((name) => environment[name]);
  const isBearer = variable === "ANTHROPIC_AUTH_TOKEN";
  const kept = createKeyReader(named, environment);
  const apiKey = kept ?? (variable === undefined ? undefined : environment[variable]);
  const said = named.name || environment[modelVariable];
  const address = named.baseUrl || environment[urlVariable] || undefined;
  const name = said || (apiKey && !address ? more.defaultModel : undefined);
  const own = more.reach?.({ name, address, environment, hasKey: Boolean(apiKey) });
  const baseUrl = own?.baseUrl ?? address ?? (apiKey ? more.defaultUrl : undefined);
  if (!name || !baseUrl) return null;
  const keyHeader = isBearer ? "authorization" : undefined;
  const keyFrom = kept ? undefined : variable;
  return { provider: protocol, service, name, baseUrl, apiKey, keyFrom, keyHeader, isGeneral: !said, ...own };
}

interface ServiceAddress {
  readonly name: string | undefined;
  readonly address: string | undefined;
  readonly environment: Environment;
  readonly hasKey: boolean;
}

function buildAzureChoice({
  name = "",
  address,
  environment,
}: ServiceAddress): Partial<ModelChoice> | undefined {
  if (!address) return undefined;
  const base = address.replace(/\/+$/, "").replace(/\/openai(?:\/v1)?$/, "");
  const version = environment.OPENAI_API_VERSION || environment.AZURE_OPENAI_API_VERSION;
  const deployment = `${base}/openai/deployments/${name}?api-version=${version}`;
  return { baseUrl: version ? deployment : `${base}/openai/v1`, keyHeader: "api-key" };
}

function buildBedrockChoice({
  address,
  environment,
  hasKey,
}: ServiceAddress): Partial<ModelChoice> | undefined {
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION;
  if (!region) return undefined;
  const baseUrl = address ?? `https://bedrock-runtime.${region}.amazonaws.com/openai/v1`;
  const createSigner = async () =>
    (await import("../keys/aws-signature.ts")).createAwsSigner(environment, { service: "bedrock", region });
  return { baseUrl, ...(hasKey ? {} : { signer: createSigner }) };
}

function buildVertexChoice({
  name = "",
  address,
  environment,
}: ServiceAddress): Partial<ModelChoice> | undefined {
  const project = environment.GOOGLE_CLOUD_PROJECT;
  if (!project) return undefined;
  const location = environment.GOOGLE_CLOUD_LOCATION || "global";
  const host = `https://${location === "global" ? "" : `${location}-`}aiplatform.googleapis.com`;
  const isClaude = name.startsWith("claude");
  const path = `v1/projects/${project}/locations/${location}/publishers/${isClaude ? "anthropic" : "google"}`;
  const token = environment.GOOGLE_VERTEX_TOKEN;
  return {
    provider: isClaude ? "anthropic" : "gemini",
    baseUrl: `${(address ?? host).replace(/\/+$/, "")}/${path}`,
    keyHeader: "authorization",
    apiKey:
      token ||
      (async (isRefused) => (await import("../keys/key-source.ts")).fetchGoogleToken(environment, isRefused)),
    // Vertex expects the model in the path and the version in the body.
    ...(isClaude ? { tuning: { body: { model: null, anthropic_version: "vertex-2023-10-16" } } } : {}),
  };
}

function createKeyReader({ key }: NamedModel, environment: NodeJS.ProcessEnv): ModelChoice["apiKey"] {
  if (typeof key !== "object" || "variable" in key) return undefined;
  return async (isRefused) => (await import("../keys/key-source.ts")).readKey(key, environment, isRefused);
}

/** Splits `provider/name` if it can mean nothing else: multi-vendor services name their models `maker/model`. */
function splitProvider(
  named: NamedModel,
  environment: Environment,
): (NamedModel & { provider: ServiceName }) | undefined {
  const { provider: set, name = "" } = named;
  const slash = name.indexOf("/");
  const prefix = name.slice(0, Math.max(slash, 0));
  if (!isService(prefix) || slash + 1 === name.length) return undefined;
  const mayHaveMakers = set === undefined || SERVICES[set].protocol.startsWith("openai");
  const isManyMakers =
    mayHaveMakers &&
    Boolean(named.baseUrl || environment.OPENAI_BASE_URL || (set && !set.startsWith("openai")));
  if (isManyMakers && prefix !== "openai-responses") return undefined;
  const rest = { provider: prefix, name: name.slice(slash + 1) };
  // The URL and the key in the settings belong to the provider that is set together with them.
  const isSame = set === prefix || (mayHaveMakers && SERVICES[prefix].urlVariable === OPENAI.urlVariable);
  return isSame ? { ...named, ...rest } : rest;
}

function isService(text: string): text is ServiceName {
  return Object.hasOwn(SERVICES, text);
}

/** Returns the likely service, judged by the model's name and the keys that are set. */
function guessService(named: NamedModel, environment: Environment): ServiceName {
  const { name = "", baseUrl } = named;
  if (baseUrl || named.key || named.apiKeyEnv || environment.OPENAI_BASE_URL) return "openai";
  const maker = guessMaker(name);
  const hasKey = (service: ServiceName): boolean => hasServiceKey(service, environment);
  if (maker === undefined || hasKey(maker)) return maker ?? SEARCHED.find(hasKey) ?? "openai";
  return SEARCHED.find((service) => SERVICES[service].ownNames === undefined && hasKey(service)) ?? maker;
}

function guessMaker(name: string): ServiceName | undefined {
  return SEARCHED.find((service) => SERVICES[service].ownNames?.test(name));
}

function hasServiceKey(service: ServiceName, environment: Environment): boolean {
  return SERVICES[service].keyVariables.some((key) => environment[key]);
}

/** Returns the model's maker if its key is set, but OPENAI_BASE_URL sends the request elsewhere. */
function findBypassedMaker(
  { name = "", provider, baseUrl, key, apiKeyEnv }: NamedModel,
  environment: Environment,
) {
  const isSaid = [provider, baseUrl, key, apiKeyEnv].some((one) => one !== undefined);
  const maker = guessMaker(name);
  if (isSaid || !environment.OPENAI_BASE_URL || maker === undefined || maker === "openai") return undefined;
  return hasServiceKey(maker, environment) ? maker : undefined;
}
