/** How much runs without asking, from nothing that has an effect to everything. */
export const APPROVAL_MODES = ["plan", "default", "auto-edit", "auto", "yolo"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export function stricterMode(one: ApprovalMode, other: ApprovalMode): ApprovalMode {
  return APPROVAL_MODES.indexOf(one) < APPROVAL_MODES.indexOf(other) ? one : other;
}

/** The mode of a start that names none. */
export function startMode(allowed: readonly ApprovalMode[] = APPROVAL_MODES): ApprovalMode {
  const [first = "plan"] = allowed;
  return allowed.includes("default") ? "default" : first;
}

/** The approval mode of one session, which the user can change at any time. */
export class CurrentMode {
  readonly #allowed: readonly ApprovalMode[];
  #mode: ApprovalMode;
  #beforePlan: ApprovalMode;
  readonly #onChange: (mode: ApprovalMode) => void;

  constructor(
    mode: ApprovalMode,
    onChange: (mode: ApprovalMode) => void = () => {},
    allowed: readonly ApprovalMode[] = APPROVAL_MODES,
  ) {
    this.#allowed = allowed;
    this.#mode = this.#known(mode);
    this.#beforePlan = startMode(allowed);
    this.#onChange = onChange;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  enter(mode: ApprovalMode): void {
    const next = this.#known(mode);
    if (next === "plan" && this.#mode !== "plan") this.#beforePlan = this.#mode;
    this.#change(next);
  }

  /** Leaves plan mode for the given mode, or else for the previous one. Returns the mode that now applies. */
  leavePlan(next: ApprovalMode = this.#beforePlan): ApprovalMode {
    if (this.#mode === "plan") this.#change(this.#allowed.includes(next) ? next : this.#beforePlan);
    return this.#mode;
  }

  /** A misspelled "plan" must not allow effects. */
  #known(mode: ApprovalMode): ApprovalMode {
    if (this.#allowed.includes(mode)) return mode;
    const who = APPROVAL_MODES.includes(mode)
      ? "This machine allows the approval modes"
      : "The approval mode must be one of";
    throw new TypeError(`${who} ${this.#allowed.join(", ")}; it is ${mode}.`);
  }

  #change(next: ApprovalMode): void {
    if (next === this.#mode) return;
    this.#mode = next;
    this.#onChange(next);
  }
}
