import { type Confirmation, describeEffects, questionView } from "@burin/core";

/** A question as lines that are safe to show. */
export function questionText(confirmation: Confirmation): string {
  const { title, target, lines } = questionView(confirmation);
  const where = target.every((one) => title.includes(one)) ? [] : [`On: ${target.join(", ")}`];
  return [title, ...where, ...lines, ...describeEffects(confirmation)].join("\n");
}
