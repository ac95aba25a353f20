import { closedObject, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import {
  type PlanExecutionMode,
  type PreparedCall,
  PreparingTool,
  type ToolResult,
} from "@burin/contract/tools";

const PARAMETERS = closedObject(["plan"], { plan: text("The whole plan, in Markdown.", NON_EMPTY) });
export type ExitPlanModeParams = OptionValue<typeof PARAMETERS>;

/** The part of the session's state that planning needs. */
export interface Planning {
  readonly isActive: boolean;
  /** How many prompts the user has given in this session. */
  readonly inputs: number;
  /** Ends plan mode. Without a mode, the previous one applies again. Returns the mode that now applies. */
  leave(mode: PlanExecutionMode | undefined): string;
}

/** The tool `exit_plan_mode`: shows the user a plan, and ends plan mode if the user accepts it. */
export class ExitPlanMode extends PreparingTool<ExitPlanModeParams> {
  readonly name = "exit_plan_mode";
  readonly displayName = "ExitPlanMode";
  readonly kind = "plan";
  readonly description =
    "In plan mode: shows the user your plan and, when they approve it, ends plan mode. Call it once the plan is complete.";
  readonly parameterSchema = PARAMETERS;
  readonly #planning: Planning;
  #lastShown: { readonly plan: string; readonly inputs: number } | null = null;

  constructor(planning: Planning) {
    super();
    this.#planning = planning;
  }

  getDescription(): string {
    return "Show the plan and ask to carry it out";
  }

  /** A declined plan is not shown again before the user's next prompt, to avoid an endless loop. */
  async prepare(params: ExitPlanModeParams): Promise<PreparedCall> {
    const { isActive, inputs } = this.#planning;
    const plan = params.plan.trim();
    const isRepeated = this.#lastShown?.plan === plan && this.#lastShown.inputs === inputs;
    if (!isActive || isRepeated) {
      return { confirmation: false, run: async () => (isActive ? DECLINED_BEFORE : NOTHING_TO_LEAVE) };
    }
    this.#lastShown = { plan, inputs };
    return {
      confirmation: { kind: "plan", title: "Carry out this plan?", plan: params.plan, grants: [] },
      run: async (approval) => {
        this.#lastShown = null;
        const mode = this.#planning.leave(approval?.outcome === "approved_plan" ? approval.mode : undefined);
        return {
          llmContent: `The plan is approved and plan mode is over; the approval mode is ${mode}. Carry the plan out now.`,
          returnDisplay: params.plan,
        };
      },
    };
  }

  protected override checkParams({ plan }: ExitPlanModeParams): string | null {
    return plan.trim() === "" ? '"plan" is empty: write down what you would do, in Markdown.' : null;
  }
}

const NOTHING_TO_LEAVE: ToolResult = {
  llmContent: "Plan mode is not on, so there is nothing to leave. Go on with the work.",
  returnDisplay: "Plan mode is not on.",
};

const DECLINED_MESSAGE =
  "The user has already declined this exact plan. Plan mode stays on; change the plan as they said, or end your turn and wait for them.";
const DECLINED_BEFORE: ToolResult = {
  llmContent: DECLINED_MESSAGE,
  returnDisplay: "The same plan was declined before; it is not shown again.",
  error: { type: "plan_declined", message: DECLINED_MESSAGE },
};
