import { isRecord } from "./untrusted-json.ts";

/** A schema object that validates values itself, such as one from zod or valibot: https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: "draft-07" }) => object }
      | undefined;
  };
}

/** The result of a StandardSchema's validation: the parsed value, or the issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * The type of the parameters that a schema describes: derived from a JSON Schema literal, or the output type of a
 * StandardSchema. If the schema's literal type is unknown, `Record<string, unknown>`.
 */
export type ParamsOf<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output extends object }
    ? Output
    : Record<string, unknown>
  : ValueOf<Schema> extends infer Value extends object
    ? Value
    : Record<string, unknown>;

/** The type of the value that a JSON Schema literal describes; `unknown` where the schema does not say. */
type ValueOf<Schema> = Schema extends { readonly const: infer Only }
  ? Writable<Only>
  : Schema extends { readonly enum: readonly (infer One)[] }
    ? Writable<One>
    : Schema extends { readonly anyOf: readonly (infer One)[] }
      ? ValueOf<One>
      : Schema extends { readonly oneOf: readonly (infer One)[] }
        ? ValueOf<One>
        : Schema extends { readonly type: infer Type }
          ? OfTypes<Schema, Type extends readonly (infer One)[] ? One : Type>
          : Schema extends { readonly properties: object }
            ? ObjectOf<Schema>
            : unknown;

/** Distributes over a union of type names. */
type OfTypes<Schema, Type> = Type extends "object"
  ? ObjectOf<Schema>
  : Type extends "array"
    ? Schema extends { readonly items: infer Item }
      ? ValueOf<Item>[]
      : unknown[]
    : Type extends keyof Plain
      ? Plain[Type]
      : unknown;

interface Plain {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type ObjectOf<Schema> = Schema extends { readonly properties: infer Properties extends object }
  ? string extends keyof Properties
    ? Record<string, unknown>
    : Flat<
        {
          [Key in keyof Properties as Key extends Required<Schema> ? Key : never]: ValueOf<Properties[Key]>;
        } & {
          [Key in keyof Properties as Key extends Required<Schema> ? never : Key]?: ValueOf<Properties[Key]>;
        } & Others<Schema>
      >
  : Schema extends { readonly additionalProperties: infer Other }
    ? Other extends false
      ? Record<string, never>
      : Record<string, Other extends object ? ValueOf<Other> : unknown>
    : Record<string, unknown>;

type Required<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

/** Additional keys, if the schema explicitly allows them. */
type Others<Schema> = Schema extends { readonly additionalProperties: true }
  ? { [key: string]: unknown }
  : unknown;

type Flat<Type> = { -readonly [Key in keyof Type]: Type[Key] };

type Writable<Type> = Type extends readonly unknown[] | object
  ? { -readonly [Key in keyof Type]: Writable<Type[Key]> }
  : Type;

/** Also accepts functions, because some libraries make their schemas functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const own = isRecord(schema) || typeof schema === "function" ? Reflect.get(schema, "~standard") : undefined;
  return isRecord(own) && typeof own.validate === "function";
}
