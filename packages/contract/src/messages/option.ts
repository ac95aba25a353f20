import type { JsonSchema } from "./message.ts";

declare const VALUE: unique symbol;

/** A JSON Schema with the type of the values that it allows. */
export interface Option<Value> extends JsonSchema {
  readonly [VALUE]: Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type OptionValue<One extends Option<unknown>> = One[typeof VALUE];
/** Flattens an intersection into one object type. */
type Plain<Joined> = { readonly [Key in keyof Joined]: Joined[Key] };
/** The options as a user or program writes them: every key may be missing. */
export type WrittenOptions<All extends Options> = { readonly [Key in keyof All]?: OptionValue<All[Key]> };
/** The options after defaults are applied: the keys in `Always` are present. */
export type ResolvedOptions<All extends Options, Always> = Plain<
  { readonly [Key in keyof All as Key extends Always ? Key : never]: OptionValue<All[Key]> } & {
    readonly [Key in keyof All as Key extends Always ? never : Key]?: OptionValue<All[Key]>;
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

export function textList(description?: string): Option<readonly string[]> {
  return list(text(), description);
}

/** The schema of an object whose keys are names that the user chooses. */
export function mapOption<Item>(
  item: Option<Item>,
  description?: string,
): Option<Readonly<Record<string, Item>>> {
  return option({ type: "object", additionalProperties: item }, description);
}

export function either<A, B>(a: Option<A>, b: Option<B>, description?: string): Option<A | B> {
  return option({ anyOf: [a, b] }, description);
}

export const NON_EMPTY: JsonSchema = { minLength: 1 };
/** The type of a choice, added for models. Validation needs only the allowed words. */
export const STRING: JsonSchema = { type: "string" };

export function object<All extends Options, Needed extends keyof All & string = never>(
  required: readonly Needed[],
  properties: All,
  more: JsonSchema = {},
): Option<ResolvedOptions<All, Needed>> {
  return option({ type: "object", properties, ...(required.length > 0 && { required }), ...more });
}

/** Like `object`, but rejects keys that have no schema. */
export function closedObject<All extends Options, Needed extends keyof All & string>(
  required: readonly Needed[],
  properties: All,
): Option<ResolvedOptions<All, Needed>> {
  return object(required, properties, { additionalProperties: false });
}
