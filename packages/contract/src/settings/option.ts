import type { JsonSchema } from "../messages/json-schema.ts";

declare const VALUE: unique symbol;

/** A JSON Schema with the type of the values that it allows. */
export interface Option<Value> extends JsonSchema {
  readonly [VALUE]: Value;
}

type Options = Readonly<Record<string, Option<unknown>>>;
export type ValueOf<One extends Option<unknown>> = One[typeof VALUE];
/** One plain object type instead of an intersection. */
type Plain<Joined> = { readonly [Key in keyof Joined]: Joined[Key] };
/** What a file may contain; every key may be missing. */
export type Written<All extends Options> = { readonly [Key in keyof All]?: ValueOf<All[Key]> };
/** The result of reading a file: these keys are always there. */
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

export function flag(description: string): Option<boolean> {
  return option({ type: "boolean" }, description);
}

export function number(description: string, limits: JsonSchema): Option<number> {
  return option({ type: "number", ...limits }, description);
}

export function seconds(description: string): Option<number> {
  return number(description, { exclusiveMinimum: 0, maximum: 86_400 });
}

export function choice<const Values extends readonly string[]>(
  values: Values,
  description?: string,
): Option<Values[number]> {
  return option({ enum: values }, description);
}

export function list<Item>(item: Option<Item>, description?: string): Option<readonly Item[]> {
  return option({ type: "array", items: item }, description);
}

export function texts(description?: string): Option<readonly string[]> {
  return list(text(), description);
}

export function rules(effect: string): Option<readonly string[]> {
  return texts(`${effect} Each rule is tool or tool(pattern), e.g. read_file or edit(src/**).`);
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

/** An object that is replaced as a whole and requires these keys. */
export function object<All extends Options, Needed extends keyof All & string = never>(
  properties: All,
  required: readonly Needed[],
  more: JsonSchema = {},
): Option<Settled<All, Needed>> {
  return option({ type: "object", properties, ...(required.length > 0 && { required }), ...more });
}

/** A section of the file: keys may be missing, and those with a default are always there once it is read. */
export function section<All extends Options, Defaults extends Written<All>>(
  description: string,
  given: Defaults,
  options: All,
): Option<Settled<All, keyof Defaults>> {
  return option({ type: "object", properties: withDefaults(options, given) }, description);
}

export function withDefaults(options: Options, given: Readonly<Record<string, unknown>>): Options {
  const entries = Object.entries(options).map(([key, one]) => [
    key,
    key in given ? { ...one, default: given[key] } : one,
  ]);
  return Object.fromEntries(entries);
}
