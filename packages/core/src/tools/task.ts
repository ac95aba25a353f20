import { closed, flag, NOT_EMPTY, text, type ValueOf } from "@burin/contract/messages/option";
import {
  BaseTool,
  type CallContext,
  failedResult,
  type OnUpdate,
  type ToolResult,
} from "@burin/contract/tools";

const PARAMETERS = closed(["description", "prompt", "subagent_type"], {
  description: text("The task in a few words.", NOT_EMPTY),
  prompt: text("The whole task.", NOT_EMPTY),
  subagent_type: text("The name of the subagent.", NOT_EMPTY),
  is_background: flag("Answer at once; you are told when it is done."),
});
export type TaskParams = ValueOf<typeof PARAMETERS>;

/** A task that a call has started. */
export interface TaskOrder extends TaskParams {
  /** The call that started it; the subagent's own calls refer to it. */
  readonly callId: string;
}

export interface SubagentAnswer {
  readonly status: "success" | "cancelled" | "failed";
  /** Its last text; may be empty. */
  readonly text: string;
  /** Why it did not succeed. */
  readonly reason: string;
  /** What it did, one line per step, oldest first. */
  readonly steps: readonly string[];
}

export interface Subagents {
  /** Their names, each with when to use it. The list grows while definitions are read. */
  readonly known: readonly { readonly name: string; readonly description: string }[];
  run(
    order: TaskOrder,
    signal: AbortSignal,
    onStep: (steps: readonly string[]) => void,
  ): Promise<SubagentAnswer>;
  /** Starts a task in the background; the model is informed when it ends. Returns an id. */
  start(order: TaskOrder): string;
}

const SHOWN_STEPS = 8;
const TOLD_STEPS = 20;

export class Task extends BaseTool<TaskParams> {
  readonly name = "task";
  readonly displayName = "Task";
  readonly kind = "delegate";
  readonly parameterSchema = PARAMETERS;
  readonly #subagents: Subagents | undefined;

  /** Without subagents, which need a model, every call fails. */
  constructor(subagents?: Subagents) {
    super();
    this.#subagents = subagents;
  }

  get description(): string {
    const known = (this.#subagents?.known ?? []).map(({ name, description }) => `${name}: ${description}.`);
    return [
      "Hands a task to a subagent with a history of its own; only its answer comes back. It knows nothing of this conversation, so the prompt must say all. Several tasks in one reply run side by side.",
      ...known,
    ].join(" ");
  }

  getDescription({ description, subagent_type }: TaskParams): string {
    return `Task for ${subagent_type}: ${description}`;
  }

  async execute(
    params: TaskParams,
    signal: AbortSignal,
    ...[onUpdate, { callId = "" } = {}]: [onUpdate?: OnUpdate, context?: CallContext]
  ): Promise<ToolResult> {
    if (this.#subagents === undefined)
      return failedResult({ type: "no_model", message: "There is no model here to run a subagent with." });
    const order = { ...params, callId };
    if (params.is_background) return begun(params, this.#subagents.start(order));
    const title = this.getDescription(params);
    const answer = await this.#subagents.run(order, signal, (lines) =>
      onUpdate?.({ kind: "progress", title, lines: lines.slice(-SHOWN_STEPS) }),
    );
    return toldAnswer(params, answer);
  }

  protected override checkParams({ subagent_type: name }: TaskParams): string | null {
    const names = (this.#subagents?.known ?? []).map((subagent) => subagent.name);
    if (this.#subagents === undefined || names.includes(name)) return null;
    return `There is no subagent "${name}". They are: ${names.join(", ")}.`;
  }
}

function begun({ subagent_type }: TaskParams, id: string): ToolResult {
  const message = `The subagent ${subagent_type} works in the background as ${id}.`;
  const next =
    "You will get its answer when it is done: go on with what does not need it, or end your turn to wait for it.";
  return { llmContent: `${message} ${next}`, returnDisplay: message };
}

/** What the model is told about the end of a task; an end without text is a failure that lists the steps. */
export function toldAnswer({ subagent_type }: TaskParams, answer: SubagentAnswer): ToolResult {
  const { status, text, reason, steps } = answer;
  if (status === "success" && text.trim() !== "") return { llmContent: text, returnDisplay: text };
  const why = status === "success" ? "it ended without an answer" : reason;
  const head = `The subagent ${subagent_type} did not complete the task: ${why}.`;
  const said = text.trim() === "" ? [] : [`Its last words:\n${text}`];
  const did =
    steps.length === 0
      ? "It had done nothing yet."
      : `What it did last:\n${steps.slice(-TOLD_STEPS).join("\n")}`;
  const message = [head, ...said, did].join("\n\n");
  return failedResult({ type: status === "cancelled" ? "cancelled" : "subagent_failed", message });
}
