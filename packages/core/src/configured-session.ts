import { mergeSettings } from "@burin/contract/settings/settings";
import { openConfiguredModel } from "@burin/models/choice/configured-model";
import { assertOptions, openSession, type Session, type SessionOptions } from "./create-session.ts";

/** Creates a session with the models that settings and environment name, unless the options provide their own. */
export function createSession(options: SessionOptions): Session {
  assertOptions("createSession", options);
  const settings = mergeSettings([options.settings ?? {}]);
  const environment = options.environment ?? process.env;
  const openModel = (name?: string) => openConfiguredModel(settings, environment, name);
  return openSession({ openModel, ...options });
}
