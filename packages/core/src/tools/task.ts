import { closedObject, flag, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import {
  BaseTool,
  type CallContext,
  createFailedResult,
  type OnUpdate,
  type ToolResult,
} from "@burin/contract/tools";

const PARAMETERS = closedObject(["description", "prompt", "subagent_type"], {
  description: text("The task in a few words.", NON_EMPTY),
  prompt: text("The whole task.", NON_EMPTY),
  subagent_type: text("The name of the subagent.", NON_EMPTY),
  is_background: flag("Answer at once; you are told when it is done."),
});
export type TaskParams = OptionValue<typeof PARAMETERS>;

/** A task that a call has started. */
export interface StartedTask extends TaskParams {
  /** The id of the call that started it. The subagent's own calls refer to it. */
  readonly callId: string;
}

export interface SubagentAnswer {
  readonly status: "success" | "cancelled" | "failed";
  /** The subagent's last text; may be empty. */
  readonly text: string;
  /** Why it did not succeed. */
  readonly reason: string;
  /** What it did, one line per step, oldest first. */
  readonly steps: readonly string[];
}

export interface Subagents {
  /** The subagents by name, each with a description of when to use it. The list grows as definitions are read. */
  readonly known: readonly { readonly name: string; readonly description: string }[];
  run(
    order: StartedTask,
    signal: AbortSignal,
    onStep: (steps: readonly string[]) => void,
  ): Promise<SubagentAnswer>;
  /** Starts a task in the background and returns its id. The model is informed when it ends. */
  start(order: StartedTask): string;
}

const SHOWN_STEPS = 8;
const TOLD_STEPS = 20;

/** The tool `task`: lets a subagent work on a task of its own. Works only in a session. */
export class Task extends BaseTool<TaskParams> {
  readonly name = "task";
  readonly displayName = "Task";
  readonly kind = "delegate";
  readonly parameterSchema = PARAMETERS;
  readonly #subagents: Subagents | undefined;

  /** Creates the tool. Without subagents, which need a model, every call fails. */
  constructor(subagents?: Subagents) {
    super();
    this.#subagents = subagents;
  }

  get description(): string {
    const known = (this.#subagents?.known ?? []).map(({ name, description }) => `${name}: ${description}.`);
    return [
      [
        "Hands a task to a subagent with a history of its own; only its answer comes back.",
        "It knows nothing of this conversation, so the prompt must say all.",
        "Several tasks in one reply run side by side.",
      ].join(" "),
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
      return createFailedResult({
        type: "no_model",
        message: "There is no model here to run a subagent with.",
      });
    const order = { ...params, callId };
    if (params.is_background) return formatTaskStart(params, this.#subagents.start(order));
    const title = this.getDescription(params);
    const answer = await this.#subagents.run(order, signal, (lines) =>
      onUpdate?.({ kind: "progress", title, lines: lines.slice(-SHOWN_STEPS) }),
    );
    return formatTaskAnswer(params, answer);
  }

  protected override checkParams({ subagent_type: name }: TaskParams): string | null {
    const names = (this.#subagents?.known ?? []).map((subagent) => subagent.name);
    if (this.#subagents === undefined || names.includes(name)) return null;
    return `There is no subagent "${name}". They are: ${names.join(", ")}.`;
  }
}

function formatTaskStart({ subagent_type }: TaskParams, id: string): ToolResult {
  const message = `The subagent ${subagent_type} works in the background as ${id}.`;
  const next =
    "You will get its answer when it is done: go on with what does not need it, or end your turn to wait for it.";
  return { llmContent: `${message} ${next}`, returnDisplay: message };
}

/** Returns what the model gets at the end of a task. An end without text is a failure, which lists the steps. */
export function formatTaskAnswer({ subagent_type }: TaskParams, answer: SubagentAnswer): ToolResult {
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
  return createFailedResult({ type: status === "cancelled" ? "cancelled" : "subagent_failed", message });
}
