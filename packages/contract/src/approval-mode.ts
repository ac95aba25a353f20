/** How much runs unasked, from nothing that has an effect to everything. */
export const APPROVAL_MODES = ["plan", "default", "auto-edit", "yolo"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** The one of two modes in which less runs unasked. */
export function stricterMode(one: ApprovalMode, other: ApprovalMode): ApprovalMode {
  return APPROVAL_MODES.indexOf(one) < APPROVAL_MODES.indexOf(other) ? one : other;
}

/** The approval mode of one session, which its user can change while it lives. */
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

  /** Out of plan mode, into the given mode or the one that held before; gives the mode that holds now. */
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

/** A misspelt "plan" must not mean that effects are possible. */
function known(mode: ApprovalMode): ApprovalMode {
  if (APPROVAL_MODES.includes(mode)) return mode;
  throw new TypeError(
    `The approval mode must be one of ${APPROVAL_MODES.join(", ")}; it is ${String(mode)}.`,
  );
}
