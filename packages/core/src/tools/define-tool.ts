import {
  BaseTool,
  type Confirmation,
  HARMLESS,
  type Tool,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";

type Given<Params extends object> = Parameters<Tool<Params>["execute"]>;

/** A tool as plain values: the members of BaseTool, with defaults where a good one exists. */
export interface ToolDefinition<Params extends object = Record<string, unknown>>
  extends Pick<Tool<Params>, "name" | "description" | "parameterSchema" | "kind" | "ruleSubjects"> {
  /** Default: the name. */
  readonly displayName?: string;
  getDescription?(params: Params): string;
  /** Rules that a schema cannot express. Returns null, or what is wrong. */
  checkParams?(params: Params): string | null;
  /** Default: a tool that may have an effect asks each time, others never ask. */
  shouldConfirmExecute?: Tool<Params>["shouldConfirmExecute"];
  /** A returned string goes to the model and to the user unchanged. */
  execute(...given: Given<Params>): ToolResult | string | Promise<ToolResult | string>;
}

/** Makes a tool without writing a class. */
export function defineTool<Params extends object = Record<string, unknown>>(
  definition: ToolDefinition<Params>,
): Tool<Params> {
  return new DefinedTool(definition);
}

class DefinedTool<Params extends object> extends BaseTool<Params> {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly parameterSchema: Tool["parameterSchema"];
  readonly kind: ToolKind;
  readonly ruleSubjects?: (params: Params) => readonly string[];
  readonly #definition: ToolDefinition<Params>;

  constructor(definition: ToolDefinition<Params>) {
    super();
    this.name = definition.name;
    this.displayName = definition.displayName ?? definition.name;
    this.description = definition.description;
    this.parameterSchema = definition.parameterSchema;
    this.kind = definition.kind;
    if (definition.ruleSubjects !== undefined) {
      this.ruleSubjects = (params) => definition.ruleSubjects?.(params) ?? [];
    }
    this.#definition = definition;
  }

  getDescription(params: Params): string {
    return this.#definition.getDescription?.(params) ?? `${this.displayName} ${JSON.stringify(params)}`;
  }

  override async shouldConfirmExecute(params: Params, signal: AbortSignal): Promise<Confirmation | false> {
    const { shouldConfirmExecute } = this.#definition;
    if (shouldConfirmExecute !== undefined) return shouldConfirmExecute(params, signal);
    if (HARMLESS.has(this.kind)) return false;
    const prompt = JSON.stringify(params, null, 2);
    return { kind: "info", title: this.getDescription(params), prompt, urls: [], grants: [this.name] };
  }

  async execute(...given: Given<Params>): Promise<ToolResult> {
    const answer = await this.#definition.execute(...given);
    return typeof answer === "string" ? { llmContent: answer, returnDisplay: answer } : answer;
  }

  protected override checkParams(params: Params): string | null {
    return this.#definition.checkParams?.(params) ?? null;
  }
}
