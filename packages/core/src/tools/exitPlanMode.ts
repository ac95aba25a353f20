import type { JsonSchema } from "@burin/contract/messages/json-schema";
import {
  type Approval,
  BaseTool,
  type Confirmation,
  type PlanFollower,
  type ToolResult,
} from "@burin/contract/tools";

export interface ExitPlanModeParams {
  readonly plan: string;
}

/** Where the session stands, as far as planning goes. */
export interface Planning {
  readonly isActive: boolean;
  /** How often the person has said something in this session. */
  readonly inputs: number;
  /** Ends plan mode; without a mode the one before it comes back. Gives the mode that holds now. */
  leave(mode: PlanFollower | undefined): string;
}

export class ExitPlanMode extends BaseTool<ExitPlanModeParams> {
  readonly name = "exit_plan_mode";
  readonly displayName = "ExitPlanMode";
  readonly kind = "plan";
  readonly description =
    "In plan mode: shows the person your plan and, when they approve it, ends plan mode so that you can carry it out. Call it once the plan is complete.";
  readonly parameterSchema: JsonSchema = {
    type: "object",
    properties: {
      plan: { type: "string", minLength: 1, description: "The whole plan, in Markdown." },
    },
    required: ["plan"],
    additionalProperties: false,
  };
  readonly #planning: Planning;
  #lastShown: { readonly plan: string; readonly inputs: number } | null = null;
  readonly #repeated = new WeakSet<ExitPlanModeParams>();
  readonly #followers = new WeakMap<ExitPlanModeParams, PlanFollower>();

  constructor(planning: Planning) {
    super();
    this.#planning = planning;
  }

  getDescription(): string {
    return "Show the plan and ask to carry it out";
  }

  /** A plan that was declined is not shown again before the person has said something: that would be a trap. */
  override shouldConfirmExecute(params: ExitPlanModeParams): Promise<Confirmation | false> {
    const { isActive, inputs } = this.#planning;
    if (!isActive) return Promise.resolve(false);
    const plan = params.plan.trim();
    if (this.#lastShown?.plan === plan && this.#lastShown.inputs === inputs) {
      this.#repeated.add(params);
      return Promise.resolve(false);
    }
    this.#lastShown = { plan, inputs };
    return Promise.resolve({ kind: "plan", title: "Carry out this plan?", plan: params.plan, grants: [] });
  }

  approvedByPerson(params: ExitPlanModeParams, _question: Confirmation, answer: Approval): void {
    if (answer.outcome === "approved_plan") this.#followers.set(params, answer.mode);
  }

  execute(params: ExitPlanModeParams): Promise<ToolResult> {
    if (!this.#planning.isActive) return Promise.resolve(NOTHING_TO_LEAVE);
    if (this.#repeated.has(params)) return Promise.resolve(DECLINED_BEFORE);
    const mode = this.#planning.leave(this.#followers.get(params));
    return Promise.resolve({
      llmContent: `The plan is approved and plan mode is over; the approval mode is ${mode}. Carry the plan out now.`,
      returnDisplay: params.plan,
    });
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
  "The person has declined this very plan already. Plan mode stays on; change the plan as they said, or end your turn and wait for them.";
const DECLINED_BEFORE: ToolResult = {
  llmContent: DECLINED_MESSAGE,
  returnDisplay: "The same plan was declined before; it is not shown again.",
  error: { type: "plan_declined", message: DECLINED_MESSAGE },
};
