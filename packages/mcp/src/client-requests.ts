import { pathToFileURL } from "node:url";
import { findSchemaError } from "@burin/contract/messages/check-schema";
import type { JsonSchema } from "@burin/contract/messages/message";
import { filterRecords } from "@burin/contract/messages/untrusted-json";
import type { Client, ElicitRequestParams } from "@modelcontextprotocol/client";

/** A question from a server to the user: a form to fill in, or an address to open. */
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

/** What a server may request from Burin while it works, and how Burin handles it. */
export interface ClientSide {
  readonly alias: string;
  readonly roots: readonly string[];
  /** Asks the user a server's question. Absent if no user is present; then every question is declined. */
  readonly askUser?: (question: McpQuestion, signal: AbortSignal) => Promise<McpAnswer>;
  /** Sends a server's request to the model. Absent unless the settings allow it. */
  readonly askModel?: AskModel;
  /** Tells the user what was not done for the server. */
  readonly report: (message: string) => void;
}

/** The maximum number of questions that are open or unanswered. Another call, or an answer, resets the count. */
const MAX_UNANSWERED = 5;
const MAX_QUESTION_CHARACTERS = 50_000;
/** The maximum number of requests to the model at the same time. */
const MAX_PROMPTS = 5;

/** Installs the handlers for a server's requests. After each call, the server may ask the user again. */
export function installRequestHandlers(client: Client, side: ClientSide) {
  let questions = 0;
  let unanswered = 0;
  let prompts = 0;
  client.setRequestHandler("roots/list", () => ({
    roots: side.roots.map((root) => ({ uri: pathToFileURL(root).href, name: root })),
  }));
  client.setRequestHandler("elicitation/create", async ({ params }, context) => {
    const isTooLong = JSON.stringify(params).length > MAX_QUESTION_CHARACTERS;
    if (side.askUser && (isTooLong || unanswered >= MAX_UNANSWERED)) {
      const fault = isTooLong ? "it is too long" : `${unanswered} others wait for an answer or got none`;
      side.report(`questions of it to you are declined: ${fault}`);
      return { action: "decline" as const };
    }
    questions += 1;
    unanswered += 1;
    const answer = await answerElicitation(params, side, context.mcpReq.signal).finally(
      () => void questions--,
    );
    if (answer.action === "accept") unanswered = questions;
    return answer;
  });
  const requests = {
    isUserAsked: () => questions > 0,
    onCall: () => {
      unanswered = questions;
    },
  };
  const { askModel } = side;
  if (askModel === undefined) return requests;
  client.setRequestHandler("sampling/createMessage", async ({ params }, context) => {
    const messages = params.messages.map(({ role, content }) => ({ role, text: joinTextContent(content) }));
    const prompt =
      params.systemPrompt === undefined ? { messages } : { messages, system: params.systemPrompt };
    if (prompts >= MAX_PROMPTS) throw new Error(`${prompts} requests to the model are open already`);
    prompts += 1;
    const asked = askModel(prompt, context.mcpReq.signal);
    const { model, text } = await asked.finally(() => void prompts--);
    return { model, role: "assistant" as const, content: { type: "text" as const, text } };
  });
  return requests;
}

function joinTextContent(content: unknown): string {
  const texts = filterRecords([content].flat()).map(({ text }) => text);
  return texts.filter((text) => typeof text === "string").join("\n");
}

async function answerElicitation(
  params: ElicitRequestParams,
  { alias, askUser }: ClientSide,
  signal: AbortSignal,
) {
  if (askUser === undefined) return { action: "decline" as const };
  const { message } = params;
  if (params.mode === "url") {
    const { action } = await askUser({ server: alias, message, url: params.url }, signal);
    return { action };
  }
  const schema = params.requestedSchema as unknown as JsonSchema;
  const answer = await askUser({ server: alias, message, schema }, signal);
  if (answer.action !== "accept") return { action: answer.action };
  const content = { ...readDefaults(schema), ...answer.values } as Record<string, string>;
  const fault = findSchemaError(schema, content);
  if (fault !== null) throw new Error(`The answer does not fit the question: ${fault}`);
  return { action: "accept" as const, content };
}

function readDefaults({ properties = {} }: JsonSchema): Record<string, unknown> {
  const all = Object.entries(properties).map(([name, property]) => [
    name,
    typeof property === "boolean" ? undefined : property.default,
  ]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
