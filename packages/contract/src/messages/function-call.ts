import type { JsonSchema } from "./json-schema.ts";

/** What the model is told of one tool. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** A model's request to run one tool. The arguments are what the model said: nobody has checked them. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Set when the arguments could not be read as a JSON object, with the reason; then `args` is empty. */
  readonly argsError?: string;
}

/** The one answer that every FunctionCall gets: `output` when it worked, `error` when it did not. */
export interface FunctionResponse {
  readonly id: string;
  readonly name: string;
  readonly response: { readonly output: string } | { readonly error: string };
}
