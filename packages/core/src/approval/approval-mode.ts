/** How much runs unasked, from nothing that has an effect to everything. */
export const APPROVAL_MODES = ["plan", "default", "auto-edit", "yolo"] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];
