import type { JsonSchema } from "./json-schema.ts";

/** What the model knows about one tool. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** A model's request to run one tool. The arguments are as the model sent them, unchecked. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Set when the arguments could not be read as a JSON object, with the reason; then `args` is empty. */
  readonly argsError?: string;
}

/** The one answer that every FunctionCall gets: `output` on success, `error` on failure. */
export interface FunctionResponse {
  readonly id: string;
  readonly name: string;
  readonly response: { readonly output: string } | { readonly error: string };
}
