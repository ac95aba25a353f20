/** How much runs without asking, from nothing that has an effect to everything. */
export const APPROVAL_MODES = ["plan", "default", "auto-edit", "auto", "yolo"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export function stricterMode(one: ApprovalMode, other: ApprovalMode): ApprovalMode {
  return APPROVAL_MODES.indexOf(one) < APPROVAL_MODES.indexOf(other) ? one : other;
}

/** The approval mode of one session, which the user can change at any time. */
export class CurrentMode {
  #mode: ApprovalMode;
  #beforePlan: ApprovalMode = "default";
  readonly #onChange: (mode: ApprovalMode) => void;

  constructor(mode: ApprovalMode, onChange: (mode: ApprovalMode) => void = () => {}) {
    this.#mode = known(mode);
    this.#onChange = onChange;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  enter(mode: ApprovalMode): void {
    const next = known(mode);
    if (next === "plan" && this.#mode !== "plan") this.#beforePlan = this.#mode;
    this.#change(next);
  }

  /** Leaves plan mode for the given mode, or else for the previous one. Returns the mode that now applies. */
  leavePlan(next: ApprovalMode = this.#beforePlan): ApprovalMode {
    if (this.#mode === "plan") this.#change(next);
    return this.#mode;
  }

  #change(next: ApprovalMode): void {
    if (next === this.#mode) return;
    this.#mode = next;
    this.#onChange(next);
  }
}

/** A misspelled "plan" must not allow effects. */
function known(mode: ApprovalMode): ApprovalMode {
  if (APPROVAL_MODES.includes(mode)) return mode;
  throw new TypeError(`The approval mode must be one of ${APPROVAL_MODES.join(", ")}; it is ${mode}.`);
}
