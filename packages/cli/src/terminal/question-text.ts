import { type Confirmation, questionView } from "@burin/core";

/** A question as lines that are safe to show. */
export function questionText(confirmation: Confirmation): string {
  const { title, target, lines, parts } = questionView(confirmation);
  const where = target.every((one) => title.includes(one)) ? [] : [`On: ${target.join(", ")}`];
  const runs = parts.length === 0 ? [] : ["Its parts:", ...parts.map((part) => `  ${part}`)];
  return [title, ...where, ...lines, ...runs].join("\n");
}
