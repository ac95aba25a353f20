import type { JsonSchema } from "./message.ts";

declare const VALUE: unique symbol;

/** A JSON Schema with the type of the values that it allows. */
export interface Option<Value> extends JsonSchema {
  readonly [VALUE]: Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type ValueOf<One extends Option<unknown>> = One[typeof VALUE];
/** One plain object type instead of an intersection. */
type Plain<Joined> = { readonly [Key in keyof Joined]: Joined[Key] };
/** As an outsider writes it; every key may be missing. */
export type Written<All extends Options> = { readonly [Key in keyof All]?: ValueOf<All[Key]> };
/** These keys are always there. */
export type Settled<All extends Options, Always> = Plain<
  { readonly [Key in keyof All as Key extends Always ? Key : never]: ValueOf<All[Key]> } & {
    readonly [Key in keyof All as Key extends Always ? never : Key]?: ValueOf<All[Key]>;
  }
>;

export function option<Value>(schema: JsonSchema, description?: string): Option<Value> {
  return (description === undefined ? schema : { ...schema, description }) as Option<Value>;
}

export function text(description?: string, limits: JsonSchema = {}): Option<string> {
  return option({ type: "string", ...limits }, description);
}

export function flag(description?: string): Option<boolean> {
  return option({ type: "boolean" }, description);
}

export function number(description: string, limits: JsonSchema = {}): Option<number> {
  return option({ type: "number", ...limits }, description);
}

export function integer(description?: string, limits: JsonSchema = {}): Option<number> {
  return option({ type: "integer", ...limits }, description);
}

export function choice<const Values extends readonly string[]>(
  values: Values,
  description?: string,
  more: JsonSchema = {},
): Option<Values[number]> {
  return option({ ...more, enum: values }, description);
}

export function list<Item>(item: Option<Item>, description?: string): Option<readonly Item[]> {
  return option({ type: "array", items: item }, description);
}

export function texts(description?: string): Option<readonly string[]> {
  return list(text(), description);
}

/** An object whose keys are names that the user chooses. */
export function named<Item>(
  item: Option<Item>,
  description?: string,
): Option<Readonly<Record<string, Item>>> {
  return option({ type: "object", additionalProperties: item }, description);
}

export function either<A, B>(a: Option<A>, b: Option<B>, description?: string): Option<A | B> {
  return option({ anyOf: [a, b] }, description);
}

export const NOT_EMPTY: JsonSchema = { minLength: 1 };
/** The type of a choice, for models: to check it, its words are enough. */
export const STRING: JsonSchema = { type: "string" };

export function object<All extends Options, Needed extends keyof All & string = never>(
  required: readonly Needed[],
  properties: All,
  more: JsonSchema = {},
): Option<Settled<All, Needed>> {
  return option({ type: "object", properties, ...(required.length > 0 && { required }), ...more });
}

/** The same without keys that have no schema. */
export function closed<All extends Options, Needed extends keyof All & string>(
  required: readonly Needed[],
  properties: All,
): Option<Settled<All, Needed>> {
  return object(required, properties, { additionalProperties: false });
}
