import type { AgentEvent, ContextFill, UsagePurpose } from "@burin/contract/agent-event";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import { type ModelPrice, type Settings, SettingsError } from "@burin/contract/settings/settings";
import { guessContextWindow } from "@burin/models/choice/context-window";
import { computeCost } from "@burin/models/replies/price";
import { Budget, parseBudget } from "../agent/budget.ts";
import type { Conversation } from "../agent/conversation.ts";
import { createPageAnswerer, createSamplingHandler, trackModelUsage } from "../agent/reply.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { chooseMode, type Home } from "./home.ts";
import type { SessionOptions } from "./options.ts";
import type { ReadMessages } from "./tool-set.ts";

/** The minimum number of tokens that is worth a notice. */
const MIN_TOLD_TOKENS = 10_000;

/** Returns the model's window in tokens: from the model or the settings, or else the one known for its name. */
export function resolveContextWindow(
  { contextWindow }: { readonly contextWindow?: number },
  model: ChatModel,
): number {
  return model.contextWindow ?? contextWindow ?? guessContextWindow(model.name);
}

/** The model that answers, and the models that can be opened by name. */
export class Models {
  model: ChatModel;
  /** The model for summaries, corrections and pages, if settings name one. */
  readonly small: ChatModel | undefined;
  /** The model for small work if there is one, otherwise the model that answers. */
  readonly forSmallWork: { readonly model: ChatModel };
  readonly #first: string;
  readonly #settings: Settings;
  readonly #openModel: SessionOptions["openModel"];

  constructor({ model, openModel }: SessionOptions, settings: Settings) {
    this.#settings = settings;
    this.#openModel = openModel;
    const main = model ? wrapModel(model) : openModel?.();
    if (!main)
      throw new Error(
        "No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.",
      );
    this.model = main;
    this.#first = main.name;
    const { small } = settings.model;
    this.small = small === undefined ? undefined : this.#getModel(small);
    this.forSmallWork = this.small === undefined ? this : { model: this.small };
  }

  /** The model's window in tokens. The window in the settings applies only to the session's first model. */
  get window(): number {
    return resolveContextWindow(this.model.name === this.#first ? this.#settings.model : {}, this.model);
  }

  /** The price for a million tokens; undefined if neither the settings nor the service names it. */
  get #price(): ModelPrice | undefined {
    return this.#findPrice(this.model.name) ?? this.model.price;
  }

  /** Looks up the price in the settings by the model's name, with or without the prefix of its service. */
  #findPrice(name: string): ModelPrice | undefined {
    const known = new Map(Object.entries(this.#settings.model.prices ?? {}));
    return known.get(name) ?? known.get(name.slice(name.lastIndexOf("/") + 1));
  }

  /** Returns the session's budget, which is shared with all code that spends on its behalf. */
  createBudget(given: string | Budget | undefined): Budget | undefined {
    if (typeof given !== "string") return given;
    const limits = parseBudget(given);
    const own = this.#price;
    if (limits.money !== undefined && own === undefined) {
      const { name } = this.model;
      const example = `{"model": {"prices": {"${name}": {"input": 3, "output": 15}}}}`;
      throw new SettingsError(
        `A budget of money needs the price of ${name} per million tokens. Add it to the settings: ${example}`,
      );
    }
    // A subagent's model without a price is assumed to cost as much as the main model.
    return new Budget(limits, (name) => this.#findPrice(name) ?? own);
  }

  /** Returns a notice about the cost of the next request if none of it is cached. Empty if that is little. */
  createCostNotice(what: string, { tokens: inputTokens }: ContextFill): string[] {
    if (inputTokens < MIN_TOLD_TOKENS) return [];
    const cost = computeCost({ inputTokens, outputTokens: 0, cachedTokens: 0 }, this.#price);
    const money = cost === undefined ? "" : `, about $${cost.toFixed(2)}`;
    const tokens = `about ${Math.round(inputTokens / 1000)}k tokens`;
    return [`${what} sends ${tokens} to ${this.model.name} that it may not have cached${money}.`];
  }

  /** Returns the model with this name, or without a name the model that answers. */
  getModelOrDefault(name: string | undefined): ChatModel {
    return name === undefined ? this.model : this.#getModel(name);
  }

  changeModel(given: string | ChatModel): void {
    this.model = typeof given === "string" ? this.#getModel(given) : wrapModel(given);
  }

  #getModel(name: string): ChatModel {
    const found = this.#openModel?.(name);
    if (found) return found;
    throw new SettingsError(`No service is configured for the model "${name}": set its key or its baseUrl.`);
  }
}

interface HelpOptions {
  readonly home: Home;
  readonly budget: Budget | undefined;
  readonly conversation: Conversation;
}

/** Returns what tools can use the model for. The usage counts for the session. */
export function createModelHelpers(models: Models, { home, budget, conversation }: HelpOptions) {
  const { tell, history } = conversation;
  const trackUsage = (purpose: UsagePurpose, asked: { readonly model: ChatModel } = models.forSmallWork) =>
    trackModelUsage(asked, { purpose, budget, tell });
  // Loaded when needed, because few runs correct an edit.
  const createCorrectEdit =
    (said: ReadMessages): CorrectEdit =>
    async (failed, signal) => {
      const { createEditCorrector, readEditContext } = await import("../agent/edit-corrector.ts");
      return createEditCorrector(trackUsage("edit_correction"), () => readEditContext(said()))(
        failed,
        signal,
      );
    };
  const tools = { answerFromPage: createPageAnswerer(trackUsage("page")), said: () => history.messages };
  return {
    tools: home.settings.tools.editCorrection ? { ...tools, correctEditOf: createCorrectEdit } : tools,
    askModel: createSamplingHandler(trackUsage("mcp_sampling", models)),
  };
}

/** An embedder's model cannot report when its request is sent. After this time it most probably is. */
const SENT_MS = 30;

/** Wraps an embedder's model: it gets plain data, and its events are checked. The check loads in parallel. */
function wrapModel(model: ChatModel): ChatModel {
  const { name, contextWindow, price } = model;
  const loading = import("@burin/models/sound-model");
  loading.catch(() => {});
  async function* stream(
    { onSent = () => {}, ...request }: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent> {
    const timer = setTimeout(onSent, SENT_MS).unref();
    try {
      yield* (await loading).enforceReplyContract(model, request, signal);
    } finally {
      clearTimeout(timer);
    }
  }
  return { name, stream, ...(contextWindow && { contextWindow }), ...(price && { price }) };
}

/** Creates the first event of a session. */
export function createSessionEvent(
  sessionId: string,
  { model, home }: { readonly model: string; readonly home: Pick<Home, "root" | "settings"> },
  options: SessionOptions,
): AgentEvent {
  const { resume } = options;
  const place = { model, root: home.root, mode: chooseMode(options, home.settings) };
  const announcement = { type: "session" as const, sessionId, ...place };
  return resume?.forkOf === undefined ? announcement : { ...announcement, forkOf: resume.forkOf };
}
