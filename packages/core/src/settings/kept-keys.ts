import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the keys that the user has stored, for variables that the environment does not have; most users have stored
 * none.
 */
export async function readKeptKeys(
  home: string,
  environment: NodeJS.ProcessEnv,
): Promise<Readonly<Record<string, string>>> {
  if (!existsSync(join(home, "credentials", "keys.json"))) return {};
  const { KeyStore } = await import("./key-store.ts");
  return new KeyStore(home, environment).readVariables(environment);
}
