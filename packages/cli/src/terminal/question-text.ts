import { buildQuestionView, type Confirmation, describeEffects } from "@burin/core";

/** Formats a question as lines that are safe to show. */
export function formatQuestion(confirmation: Confirmation): string {
  const { title, target, lines } = buildQuestionView(confirmation);
  const where = target.every((one) => title.includes(one)) ? [] : [`On: ${target.join(", ")}`];
  return [title, ...where, ...lines, ...describeEffects(confirmation)].join("\n");
}
