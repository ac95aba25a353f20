import type { AgentEvent, ContextFill, UsagePurpose } from "@burin/contract/agent-event";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import { type ModelPrice, type Settings, SettingsError } from "@burin/contract/settings/settings";
import { defaultContextWindow } from "@burin/models/choice/context-window";
import { costOf } from "@burin/models/replies/price";
import { Budget, parseBudget } from "../agent/budget.ts";
import type { Conversation } from "../agent/conversation.ts";
import { pageAnswerer, samplingOf, spendingModel } from "../agent/reply.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { chooseMode, type Home } from "./home.ts";
import type { SessionOptions } from "./options.ts";
import type { Said } from "./tool-set.ts";

/** Fewer tokens are not worth a notice. */
const LEAST_TOLD_TOKENS = 10_000;

/** In tokens: from the settings for this model or the main one, otherwise what is known for its name. */
export function contextWindowOf(
  { contextWindow }: { readonly contextWindow?: number },
  model: ChatModel,
): number {
  return model.contextWindow ?? contextWindow ?? defaultContextWindow(model.name);
}

/** The model that answers, and the other models that can be named. */
export class Models {
  model: ChatModel;
  /** For summaries, corrections and pages, if settings name one. */
  readonly small: ChatModel | undefined;
  /** The same, or the model that answers. */
  readonly forSmallWork: { readonly model: ChatModel };
  readonly #first: string;
  readonly #settings: Settings;
  readonly #openModel: SessionOptions["openModel"];

  constructor({ model, openModel }: SessionOptions, settings: Settings) {
    this.#settings = settings;
    this.#openModel = openModel;
    const main = model ? soundModel(model) : openModel?.();
    if (!main)
      throw new Error(
        "No model is configured: name one in settings.model, in OPENAI_MODEL, or pass `model`.",
      );
    this.model = main;
    this.#first = main.name;
    const { small } = settings.model;
    this.small = small === undefined ? undefined : this.#named(small);
    this.forSmallWork = this.small === undefined ? this : { model: this.small };
  }

  /** In tokens. The window in the settings applies to the model in the settings. */
  get window(): number {
    return contextWindowOf(this.model.name === this.#first ? this.#settings.model : {}, this.model);
  }

  /** For a million tokens; undefined when neither settings nor service name it. */
  get #price(): ModelPrice | undefined {
    return this.#priceOf(this.model.name) ?? this.model.price;
  }

  /** In the settings, for a model name with or without the name of its service in front. */
  #priceOf(name: string): ModelPrice | undefined {
    const known = new Map(Object.entries(this.#settings.model.prices ?? {}));
    return known.get(name) ?? known.get(name.slice(name.lastIndexOf("/") + 1));
  }

  /** The budget of a session, shared with everything that spends on its behalf. */
  budgetOf(given: string | Budget | undefined): Budget | undefined {
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
    // A subagent's model without a price is assumed to cost the same.
    return new Budget(limits, (name) => this.#priceOf(name) ?? own);
  }

  /** What the next request costs when none of it is cached; empty when that is little. */
  costNotice(what: string, { tokens: inputTokens }: ContextFill): string[] {
    if (inputTokens < LEAST_TOLD_TOKENS) return [];
    const cost = costOf({ inputTokens, outputTokens: 0, cachedTokens: 0 }, this.#price);
    const money = cost === undefined ? "" : `, about $${cost.toFixed(2)}`;
    const tokens = `about ${Math.round(inputTokens / 1000)}k tokens`;
    return [`${what} sends ${tokens} to ${this.model.name} that it may not have cached${money}.`];
  }

  /** The model of that name; without a name the one that answers. */
  or(name: string | undefined): ChatModel {
    return name === undefined ? this.model : this.#named(name);
  }

  use(given: string | ChatModel): void {
    this.model = typeof given === "string" ? this.#named(given) : soundModel(given);
  }

  #named(name: string): ChatModel {
    const found = this.#openModel?.(name);
    if (found) return found;
    throw new SettingsError(`No service is configured for the model "${name}": set its key or its baseUrl.`);
  }
}

interface HelpGround {
  readonly home: Home;
  readonly budget: Budget | undefined;
  readonly conversation: Conversation;
}

/** What tools can use the model for; their usage counts for the session. */
export function helpOf(models: Models, { home, budget, conversation }: HelpGround) {
  const { tell, history } = conversation;
  const paid = (purpose: UsagePurpose, asked: { readonly model: ChatModel } = models.forSmallWork) =>
    spendingModel(asked, { purpose, budget, tell });
  // Few runs correct an edit, so this code is loaded when one does.
  const correctEditOf =
    (said: Said): CorrectEdit =>
    async (failed, signal) => {
      const { editCorrector, wordsIn } = await import("../agent/edit-corrector.ts");
      return editCorrector(paid("edit_correction"), () => wordsIn(said()))(failed, signal);
    };
  const tools = { answerFromPage: pageAnswerer(paid("page")), said: () => history.messages };
  return {
    tools: home.settings.tools.editCorrection ? { ...tools, correctEditOf } : tools,
    askModel: samplingOf(paid("mcp_sampling", models)),
  };
}

/** A model that is handed in cannot say when its request is sent; after this time it most probably is. */
const SENT_MS = 30;

/** Wraps a model of an embedder: it gets plain data, and its events are checked. The check is loaded in parallel. */
function soundModel(model: ChatModel): ChatModel {
  const { name, contextWindow, price } = model;
  const loading = import("@burin/models/sound-model");
  loading.catch(() => {});
  async function* stream(
    { onSent = () => {}, ...request }: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent> {
    const timer = setTimeout(onSent, SENT_MS).unref();
    try {
      yield* (await loading).soundEvents(model, request, signal);
    } finally {
      clearTimeout(timer);
    }
  }
  return { name, stream, ...(contextWindow && { contextWindow }), ...(price && { price }) };
}

/** The first event of a session. */
export function announcementOf(
  sessionId: string,
  { model, home }: { readonly model: string; readonly home: Pick<Home, "root" | "settings"> },
  options: SessionOptions,
): AgentEvent {
  const { resume } = options;
  const place = { model, root: home.root, mode: chooseMode(options, home.settings) };
  const announcement = { type: "session" as const, sessionId, ...place };
  return resume?.forkOf === undefined ? announcement : { ...announcement, forkOf: resume.forkOf };
}
