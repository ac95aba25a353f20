import type { ChatModel } from "@burin/contract/chat-model";
import type { SessionOptions, ToolboxOptions } from "./assembly/options.ts";
import type { CallAllOptions, CallOptions, CallRequest } from "./assembly/run-calls.ts";
import { Session } from "./assembly/session.ts";
import { Toolbox } from "./assembly/toolbox.ts";

export type { CallAllOptions, CallOptions, CallRequest, Session, SessionOptions, Toolbox, ToolboxOptions };

/**
 * Creates a toolbox for a folder, with the fourteen built-in tools and your own. A call that changes something is
 * refused unless a rule, a mode or `confirm` allows it. Throws a TypeError for invalid options.
 * @example
 * const toolbox = createToolbox({ root: process.cwd(), settings: { permissions: { allow: ["edit(src/**)"] } } });
 */
export function createToolbox(options: ToolboxOptions): Toolbox {
  assertOptions("createToolbox", options);
  return new Toolbox(options);
}

/** Like `createSession`, but without models from settings and environment: `openModel` opens them instead. */
export function openSession(options: SessionOptions): Session {
  assertOptions("openSession", options);
  return Session.open(options);
}

/** Checks the options of callers without type checking. Throws a TypeError that says what to write instead. */
export function assertOptions(name: string, options: SessionOptions): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`${name} takes an object that names the folder to work in: ${name}({ root: "." }).`);
  const { model, openModel, confirm, tools }: Readonly<Record<string, unknown>> = { ...options };
  if (typeof model === "string") {
    const settings = `settings: { model: { name: ${JSON.stringify(model)} } }`;
    throw new TypeError(
      `"model" must be an object with a method \`stream\`, not a name. A service's model is named in the settings: createSession({ root: ".", ${settings} }).`,
    );
  }
  if (model !== undefined && typeof (model as Partial<ChatModel> | null)?.stream !== "function")
    throw new TypeError('"model" must be an object with a method `stream`.');
  for (const [key, value] of Object.entries({ openModel, confirm }))
    if (value !== undefined && typeof value !== "function")
      throw new TypeError(`"${key}" must be a function.`);
  if (tools !== undefined && !Array.isArray(tools)) throw new TypeError('"tools" must be a list of tools.');
}
