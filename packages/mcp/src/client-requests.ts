import { pathToFileURL } from "node:url";
import { schemaError } from "@burin/contract/messages/check-schema";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import { recordsIn } from "@burin/contract/messages/untrusted-json";
import type { Client, ElicitRequestParams } from "@modelcontextprotocol/client";

/** A question of a server to the user: fields to fill in, or an address to open. */
export type McpQuestion =
  | { readonly server: string; readonly message: string; readonly schema: JsonSchema }
  | { readonly server: string; readonly message: string; readonly url: string };

export type McpAnswer =
  | { readonly action: "accept"; readonly values?: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" | "cancel" };

/** Asks the model on behalf of a server. */
export type AskModel = (
  prompt: {
    readonly system?: string;
    readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  },
  signal: AbortSignal,
) => Promise<{ readonly model: string; readonly text: string }>;

/** What a server may request from Burin while it works. */
export interface ClientSide {
  readonly alias: string;
  readonly roots: readonly string[];
  /** Asks the user what the server wants to know. Absent when none is present; then every question is declined. */
  readonly askUser?: (question: McpQuestion, signal: AbortSignal) => Promise<McpAnswer>;
  /** Absent unless the settings allow it. */
  readonly askModel?: AskModel;
}

/** Answers the requests of a server. The client itself refuses any other. Returns whether the user is being asked. */
export function answerRequests(client: Client, side: ClientSide): () => boolean {
  let questions = 0;
  client.setRequestHandler("roots/list", () => ({
    roots: side.roots.map((root) => ({ uri: pathToFileURL(root).href, name: root })),
  }));
  client.setRequestHandler("elicitation/create", async ({ params }, context) => {
    questions += 1;
    return elicited(params, side, context.mcpReq.signal).finally(() => {
      questions -= 1;
    });
  });
  const isUserAsked = () => questions > 0;
  const { askModel } = side;
  if (askModel === undefined) return isUserAsked;
  client.setRequestHandler("sampling/createMessage", async ({ params }, context) => {
    const messages = params.messages.map(({ role, content }) => ({ role, text: textOf(content) }));
    const prompt =
      params.systemPrompt === undefined ? { messages } : { messages, system: params.systemPrompt };
    const { model, text } = await askModel(prompt, context.mcpReq.signal);
    return { model, role: "assistant" as const, content: { type: "text" as const, text } };
  });
  return isUserAsked;
}

function textOf(content: unknown): string {
  const texts = recordsIn([content].flat()).map(({ text }) => text);
  return texts.filter((text) => typeof text === "string").join("\n");
}

async function elicited(params: ElicitRequestParams, { alias, askUser }: ClientSide, signal: AbortSignal) {
  if (askUser === undefined) return { action: "decline" as const };
  const { message } = params;
  if (params.mode === "url") {
    const { action } = await askUser({ server: alias, message, url: params.url }, signal);
    return { action };
  }
  const schema = params.requestedSchema as unknown as JsonSchema;
  const answer = await askUser({ server: alias, message, schema }, signal);
  if (answer.action !== "accept") return { action: answer.action };
  const content = { ...defaultsOf(schema), ...answer.values } as Record<string, string>;
  const fault = schemaError(schema, content);
  if (fault !== null) throw new Error(`The answer does not fit the question: ${fault}`);
  return { action: "accept" as const, content };
}

function defaultsOf({ properties = {} }: JsonSchema): Record<string, unknown> {
  const all = Object.entries(properties).map(([name, { default: value }]) => [name, value]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
