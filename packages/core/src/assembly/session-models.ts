import type { UsagePurpose } from "@burin/contract/agent-event";
import type { ChatModel, ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import { type ModelPrice, type Settings, SettingsError } from "@burin/contract/settings/settings";
import { pageAnswerer, samplingOf, spendingModel } from "../agent/ask-once.ts";
import type { Budget } from "../agent/budget.ts";
import type { Conversation } from "../agent/conversation.ts";
import type { CorrectEdit } from "../text/correct-edit.ts";
import type { Home } from "./home.ts";
import { contextWindowOf, priceOf } from "./join-agent.ts";
import type { SessionOptions } from "./options.ts";
import type { Said } from "./tool-set.ts";

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

  /** In dollars for a million tokens; undefined when neither settings nor service name it. */
  get price(): ModelPrice | undefined {
    return priceOf(this.model.name, this.#settings) ?? this.model.price;
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
