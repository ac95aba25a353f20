import type { JsonSchema } from "@burin/contract/messages/message";
import {
  isStandardSchema,
  type ParamsOf,
  type StandardResult,
  type StandardSchema,
} from "@burin/contract/messages/schema-types";
import { describeIssues, jsonSchemaOf } from "@burin/contract/messages/standard-schema";
import {
  BaseTool,
  type Confirmation,
  HARMLESS,
  InvalidParams,
  kindOf,
  type PreparedCall,
  PreparingTool,
  type Tool,
  type ToolFields,
  type ToolResult,
} from "@burin/contract/tools";

type Given<Params extends object> = Parameters<Tool<Params>["execute"]>;

/** A tool as plain values: the members of BaseTool, with defaults where a good one exists. */
export interface ToolDefinition<
  Params extends object = Record<string, unknown>,
  Schema extends object = JsonSchema,
> extends Omit<ToolFields, "parameterSchema">,
    Pick<Tool<Params>, "ruleSubjects"> {
  /** A JSON Schema, or a schema of zod, valibot, arktype: any StandardSchema of an object. */
  readonly parameterSchema: Schema;
  /** Default: the tool's name and its parameters. */
  getDescription?(params: Params): string;
  /** Rules that a schema cannot express. Returns null, or what is wrong. */
  checkParams?(params: Params): string | null;
  /** Default: a tool that may have an effect asks each time, others never ask. */
  shouldConfirmExecute?: Tool<Params>["shouldConfirmExecute"];
  /** A returned string goes to the model and to the user unchanged. */
  execute(...given: Given<Params>): ToolResult | string | Promise<ToolResult | string>;
}

/**
 * Makes a tool without writing a class. The type of `params` comes from the schema. Throws TypeError when what a tool
 * needs is missing.
 *
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

/** What both ways do with the functions of a definition. */
class Functions<Params extends object> {
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
    if (HARMLESS.has(kindOf(this.#definition))) return false;
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
  readonly #functions: Functions<Params>;

  constructor(definition: ToolDefinition<Params>) {
    super(definition);
    const { ruleSubjects } = definition;
    if (ruleSubjects !== undefined) this.ruleSubjects = (params) => ruleSubjects(params);
    this.#functions = new Functions(definition);
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

/** A tool whose schema checks the parameters by itself, and may change them: defaults, conversions. */
class SelfCheckedTool<Params extends object> extends PreparingTool<Params> {
  readonly ruleSubjects?: (params: Params) => readonly string[];
  readonly #schema: StandardSchema<unknown, unknown>;
  readonly #functions: Functions<Params>;

  constructor(definition: ToolDefinition<Params, object>, schema: StandardSchema) {
    super({ ...definition, parameterSchema: jsonSchemaOf(schema) });
    this.#schema = schema;
    const { ruleSubjects } = definition;
    if (ruleSubjects !== undefined) this.ruleSubjects = (params) => ruleSubjects(this.#read(params));
    this.#functions = new Functions(definition);
  }

  getDescription(params: Params): string {
    return this.#functions.describe(this.#read(params));
  }

  /** A schema that answers later is asked in `prepare`. */
  override validateToolParams(params: Params): string | null {
    const result = this.#validate(params);
    return result === null ? null : this.#faultOf(result);
  }

  async prepare(given: Params, signal: AbortSignal): Promise<PreparedCall> {
    const result = await this.#schema["~standard"].validate(given);
    const fault = this.#faultOf(result);
    if (result.issues || fault !== null) throw new InvalidParams(fault ?? "");
    const params = result.value as Params;
    return {
      confirmation: await this.#functions.ask(params, signal),
      takesEdits: false,
      run: (_approval, running, { onUpdate, ...context } = {}) =>
        this.#functions.run(params, running, onUpdate, context),
    };
  }

  /** null when the schema answers later. */
  #validate(params: Params): StandardResult<unknown> | null {
    const result = this.#schema["~standard"].validate(params);
    if (!(result instanceof Promise)) return result;
    result.catch(() => {});
    return null;
  }

  /** The parameters as the schema reads them; unread where it answers later. */
  #read(params: Params): Params {
    const result = this.#validate(params);
    return result === null || result.issues ? params : (result.value as Params);
  }

  #faultOf(result: StandardResult<unknown>): string | null {
    if (!result.issues) return this.#functions.check(result.value as Params);
    const names = Object.keys(this.parameterSchema.properties ?? {}).join(", ");
    const words = describeIssues(result.issues);
    return `Invalid parameters for ${this.name}: ${words}. It takes: ${names || "no parameters"}.`;
  }
}
