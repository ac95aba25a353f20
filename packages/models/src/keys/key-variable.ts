import type { NamedModel } from "@burin/contract/settings/settings";

export function findVariable({ key, apiKeyEnv }: NamedModel): string | undefined {
  if (typeof key === "string") return key;
  return key && "variable" in key ? key.variable : apiKeyEnv;
}
