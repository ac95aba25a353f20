import type { JsonSchema } from "@burin/contract/messages/message";
import {
  isStandardSchema,
  type ParamsOf,
  type StandardResult,
  type StandardSchema,
} from "@burin/contract/messages/schema-types";
import { describeIssues, toJsonSchema } from "@burin/contract/messages/standard-schema";
import {
  BaseTool,
  type Confirmation,
  HARMLESS_KINDS,
  InvalidParamsError,
  type PreparedCall,
  PreparingTool,
  resolveToolKind,
  type Tool,
  type ToolFields,
  type ToolResult,
} from "@burin/contract/tools";

type Given<Params extends object> = Parameters<Tool<Params>["execute"]>;

/** A tool as a plain object: the members of BaseTool, with defaults where useful. */
export interface ToolDefinition<
  Params extends object = Record<string, unknown>,
  Schema extends object = JsonSchema,
> extends Omit<ToolFields, "parameterSchema">,
    Pick<Tool<Params>, "ruleSubjects"> {
  /** A JSON Schema, or any StandardSchema of an object, such as one from zod, valibot or arktype. */
  readonly parameterSchema: Schema;
  /** Describes a call. Default: the tool's name and the parameters. */
  getDescription?(params: Params): string;
  /** Checks rules that a schema cannot express. Returns null, or what is wrong. */
  checkParams?(params: Params): string | null;
  /** Returns the question to ask. Default: a tool that may have an effect asks each time; others never ask. */
  shouldConfirmExecute?: Tool<Params>["shouldConfirmExecute"];
  /** Runs the tool. If it returns a string, the model and the user both get that string. */
  execute(...given: Given<Params>): ToolResult | string | Promise<ToolResult | string>;
}

/**
 * Creates a tool without a class. The type of `params` is derived from the schema. Throws a TypeError if something that
 * a tool needs is missing.
 * @example
 * const greet = defineTool({
 *   name: "greet",
 *   kind: "read",
 *   description: "Greets somebody by name.",
 *   parameterSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
 *   execute: ({ name }) => `Hello, ${name}.`,
 * });
 */
export function defineTool<const Schema extends object>(
  definition: ToolDefinition<ParamsOf<Schema>, Schema>,
): Tool<ParamsOf<Schema>>;
export function defineTool<Params extends object = Record<string, unknown>>(
  definition: ToolDefinition<Params>,
): Tool<Params>;
export function defineTool<Params extends object>(definition: ToolDefinition<Params, object>): Tool<Params> {
  if (typeof definition?.execute !== "function") {
    throw new TypeError(`The tool "${definition?.name}" needs a function "execute".`);
  }
  const { parameterSchema: schema } = definition;
  return isStandardSchema(schema)
    ? new SelfCheckedTool<Params>(definition, schema)
    : new DefinedTool<Params>(definition as ToolDefinition<Params>);
}

/** The functions of a definition, with defaults. Both kinds of tools below use them. */
class ToolFunctions<Params extends object> {
  readonly #definition: ToolDefinition<Params, object>;

  constructor(definition: ToolDefinition<Params, object>) {
    this.#definition = definition;
  }

  describe(params: Params): string {
    const { name, displayName = name, getDescription } = this.#definition;
    return getDescription?.(params) ?? `${displayName} ${JSON.stringify(params)}`;
  }

  check(params: Params): string | null {
    return this.#definition.checkParams?.(params) ?? null;
  }

  async ask(params: Params, signal: AbortSignal): Promise<Confirmation | false> {
    const { name, shouldConfirmExecute } = this.#definition;
    if (shouldConfirmExecute !== undefined) return shouldConfirmExecute(params, signal);
    if (HARMLESS_KINDS.has(resolveToolKind(this.#definition))) return false;
    const prompt = JSON.stringify(params, null, 2);
    return { kind: "info", title: this.describe(params), prompt, urls: [], grants: [name] };
  }

  async run(...given: Given<Params>): Promise<ToolResult> {
    const answer = await this.#definition.execute(...given);
    return typeof answer === "string" ? { llmContent: answer, returnDisplay: answer } : answer;
  }
}

class DefinedTool<Params extends object> extends BaseTool<Params> {
  readonly ruleSubjects?: (params: Params) => readonly string[];
  readonly #functions: ToolFunctions<Params>;

  constructor(definition: ToolDefinition<Params>) {
    super(definition);
    const { ruleSubjects } = definition;
    if (ruleSubjects !== undefined) this.ruleSubjects = (params) => ruleSubjects(params);
    this.#functions = new ToolFunctions(definition);
  }

  getDescription(params: Params): string {
    return this.#functions.describe(params);
  }

  override shouldConfirmExecute(params: Params, signal: AbortSignal): Promise<Confirmation | false> {
    return this.#functions.ask(params, signal);
  }

  execute(...given: Given<Params>): Promise<ToolResult> {
    return this.#functions.run(...given);
  }

  protected override checkParams(params: Params): string | null {
    return this.#functions.check(params);
  }
}

/** A tool whose schema validates the parameters itself, and may change them by defaults and conversions. */
class SelfCheckedTool<Params extends object> extends PreparingTool<Params> {
  readonly ruleSubjects?: (params: Params) => readonly string[];
  readonly #schema: StandardSchema<unknown, unknown>;
  readonly #functions: ToolFunctions<Params>;

  constructor(definition: ToolDefinition<Params, object>, schema: StandardSchema) {
    super({ ...definition, parameterSchema: toJsonSchema(schema) });
    this.#schema = schema;
    const { ruleSubjects } = definition;
    if (ruleSubjects !== undefined) this.ruleSubjects = (params) => ruleSubjects(this.#read(params));
    this.#functions = new ToolFunctions(definition);
  }

  getDescription(params: Params): string {
    return this.#functions.describe(this.#read(params));
  }

  /** Skips an asynchronous schema, which is validated in `prepare` instead. */
  override validateToolParams(params: Params): string | null {
    const result = this.#validateParams(params);
    return result === null ? null : this.#describeFault(result);
  }

  async prepare(given: Params, signal: AbortSignal): Promise<PreparedCall> {
    const result = await this.#schema["~standard"].validate(given);
    const fault = this.#describeFault(result);
    if (result.issues || fault !== null) throw new InvalidParamsError(fault ?? "");
    const params = result.value as Params;
    return {
      confirmation: await this.#functions.ask(params, signal),
      takesEdits: false,
      run: (_approval, running, { onUpdate, ...context } = {}) =>
        this.#functions.run(params, running, onUpdate, context),
    };
  }

  /** Returns null if the schema is asynchronous. */
  #validateParams(params: Params): StandardResult<unknown> | null {
    const result = this.#schema["~standard"].validate(params);
    if (!(result instanceof Promise)) return result;
    result.catch(() => {});
    return null;
  }

  /** Returns the parameters as parsed by the schema; unparsed if the schema is asynchronous. */
  #read(params: Params): Params {
    const result = this.#validateParams(params);
    return result === null || result.issues ? params : (result.value as Params);
  }

  #describeFault(result: StandardResult<unknown>): string | null {
    if (!result.issues) return this.#functions.check(result.value as Params);
    const names = Object.keys(this.parameterSchema.properties ?? {}).join(", ");
    const words = describeIssues(result.issues);
    return `Invalid parameters for ${this.name}: ${words}. It takes: ${names || "no parameters"}.`;
  }
}
