/** A plain JSON Schema object, draft-07 or 2020-12. Only the keywords that Burin itself reads have types. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}
