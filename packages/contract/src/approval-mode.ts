/** How many calls run without a question, from none that has an effect to all. */
export const APPROVAL_MODES = ["plan", "default", "auto-edit", "auto", "yolo"] as const;
/** How much runs without asking: `plan` nothing with an effect, `yolo` everything. */
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export function pickStricterMode(one: ApprovalMode, other: ApprovalMode): ApprovalMode {
  return APPROVAL_MODES.indexOf(one) < APPROVAL_MODES.indexOf(other) ? one : other;
}

/** Returns the modes that a user can choose; an administrator may allow only some. */
export function listModes(managed?: { readonly approvalModes?: readonly ApprovalMode[] }): ApprovalMode[] {
  return APPROVAL_MODES.filter((mode) => managed?.approvalModes?.includes(mode) ?? true);
}

/** Returns the mode of a session that is started without one. */
export function chooseStartMode(allowed: readonly ApprovalMode[] = APPROVAL_MODES): ApprovalMode {
  const [first = "plan"] = allowed;
  return allowed.includes("default") ? "default" : first;
}

/** The current approval mode of a session. The user can change it at any time. */
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
    this.#mode = this.#assertAllowed(mode);
    this.#beforePlan = chooseStartMode(allowed);
    this.#onChange = onChange;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  enter(mode: ApprovalMode): void {
    const next = this.#assertAllowed(mode);
    if (next === "plan" && this.#mode !== "plan") this.#beforePlan = this.#mode;
    this.#change(next);
  }

  /** Leaves plan mode and enters the given mode, by default the previous one. Returns the mode that now applies. */
  leavePlan(next: ApprovalMode = this.#beforePlan): ApprovalMode {
    if (this.#mode === "plan") this.#change(this.#allowed.includes(next) ? next : this.#beforePlan);
    return this.#mode;
  }

  /** Throws for an unknown or forbidden mode: a misspelled "plan" must not allow effects. */
  #assertAllowed(mode: ApprovalMode): ApprovalMode {
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
