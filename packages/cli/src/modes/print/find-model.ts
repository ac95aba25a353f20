import { type ChatModel, chooseModel, configuredModel, type Settings } from "@burin/core";
import { UsageError } from "../../terminal/exit-code.ts";

interface FoundModels {
  readonly openModel: (name?: string) => ChatModel | null;
  /** What the person should know of the choice. */
  readonly notice: string | null;
}

export function namesModel(settings: Settings): boolean {
  return chooseModel(settings, process.env) !== null;
}

/** How models are opened; throws UsageError, with what to set, where none is named. */
export async function findModels(settings: Settings): Promise<FoundModels> {
  const choice = chooseModel(settings, process.env);
  if (choice === null) {
    const { howToConnect } = await import("./how-to-connect.ts");
    throw new UsageError(await howToConnect(settings));
  }
  const { isGeneral, name, service = "" } = choice;
  const openModel = (other?: string) => configuredModel(settings, process.env, other);
  if (!isGeneral) return { openModel, notice: null };
  return {
    openModel,
    notice: `No model is named, so ${name} of ${service} is asked. Set model.name, or -m, for another.`,
  };
}
