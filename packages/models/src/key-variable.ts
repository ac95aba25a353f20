import type { NamedModel } from "@burin/contract/settings/settings";

/** The variable that settings name for the key of a model. */
export function variableOf({ key, apiKeyEnv }: NamedModel): string | undefined {
  if (typeof key === "string") return key;
  return key && "variable" in key ? key.variable : apiKeyEnv;
}
