import { chooseModel, openConfiguredModel, type Settings } from "@burin/core/internal";
import type { ChatModel } from "@burin/core/sessions";
import { UsageError } from "../../terminal/exit-code.ts";

export function hasModelSettings(settings: Settings): boolean {
  return chooseModel(settings, process.env) !== null;
}

/** Returns only the host, because the rest of a URL may be secret. */
function formatHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/**
 * Returns how to open models, how each request is handled, and notices about the choice of the model. If no model is
 * configured, throws a UsageError that says what to set.
 */
export async function createModelOpener(settings: Settings, around?: (model: ChatModel) => ChatModel) {
  const choice = chooseModel(settings, process.env);
  if (choice === null) {
    const { explainConnection } = await import("./how-to-connect.ts");
    throw new UsageError(await explainConnection(settings));
  }
  const { isGeneral, name, service = "", passedOver } = choice;
  const openModel = (other?: string) => {
    const names = around === undefined ? settings : { ...settings, around };
    return openConfiguredModel(names, process.env, other);
  };
  if (passedOver !== undefined) {
    const notice = [
      `${name} is asked at ${formatHost(choice.baseUrl)}, because OPENAI_BASE_URL is set.`,
      `Set model.provider to ${passedOver} to ask ${passedOver}, whose key is set too.`,
    ].join(" ");
    return { openModel, notice };
  }
  if (!isGeneral) return { openModel, notice: null };
  return {
    openModel,
    notice: `No model is named, so ${name} of ${service} is used. Set model.name, or -m, for another.`,
  };
}
