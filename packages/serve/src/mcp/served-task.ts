import {
  BaseTool,
  type CallContext,
  createSession,
  type OnUpdate,
  type Session,
  type SessionOptions,
  type Tool,
} from "@burin/core";

type Params = Readonly<Record<string, unknown>>;

/** Subagents belong to a session. No background tasks: the client could not be informed of their end. */
class ServedTask extends BaseTool<Params> {
  readonly name: string;
  readonly displayName: string;
  readonly kind = "delegate";
  readonly #task: Tool;

  constructor(task: Tool) {
    super();
    this.name = task.name;
    this.displayName = task.displayName;
    this.#task = task;
  }

  get description(): string {
    return this.#task.description;
  }

  get parameterSchema() {
    const { is_background: _, ...properties } = this.#task.parameterSchema.properties ?? {};
    return { ...this.#task.parameterSchema, properties };
  }

  getDescription(params: Params): string {
    return this.#task.getDescription(params);
  }

  override checkParams(params: Params): string | null {
    return this.#task.validateToolParams(params);
  }

  execute(params: Params, signal: AbortSignal, ...rest: [onUpdate?: OnUpdate, context?: CallContext]) {
    return this.#task.execute(params, signal, ...rest);
  }
}

/** The tool `task` and the session that its subagents belong to. */
export function openTask(options: SessionOptions): { readonly tool: Tool; readonly session: Session } {
  const session = createSession(options);
  const task = session.registry.getTool("task");
  if (task === undefined) throw new Error("The session has no tool `task`.");
  return { tool: new ServedTask(task) as Tool, session };
}
