/** How much runs unasked, from nothing that has an effect to everything. */
export const APPROVAL_MODES = ["plan", "default", "auto-edit", "yolo"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** The one of two modes in which less runs unasked. */
export function stricterMode(one: ApprovalMode, other: ApprovalMode): ApprovalMode {
  return APPROVAL_MODES.indexOf(one) < APPROVAL_MODES.indexOf(other) ? one : other;
}

/** The approval mode of one session, which its person can change while it lives. */
export class CurrentMode {
  #mode: ApprovalMode;
  #beforePlan: ApprovalMode = "default";

  constructor(mode: ApprovalMode) {
    this.#mode = mode;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  enter(mode: ApprovalMode): void {
    if (mode === "plan" && this.#mode !== "plan") this.#beforePlan = this.#mode;
    this.#mode = mode;
  }

  /** Out of plan mode, into the given mode or the one that held before; gives the mode that holds now. */
  leavePlan(next: ApprovalMode = this.#beforePlan): ApprovalMode {
    if (this.#mode === "plan") this.#mode = next;
    return this.#mode;
  }
}
