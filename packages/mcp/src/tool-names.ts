import { createHash } from "node:crypto";

/** What every provider accepts. */
const MOST_NAME = 64;
const MOST_ALIAS = 30;
const SEPARATOR = "__";

/** What the declared names of all tools of a server begin with. */
export function namePrefix(alias: string): string {
  return shortened(clean(alias), alias, MOST_ALIAS) + SEPARATOR;
}

/** The name that a tool of a server is declared by, the same at every start. */
export function declaredName(alias: string, tool: string): string {
  const front = namePrefix(alias);
  const back = clean(tool);
  const isChanged = back !== tool;
  const most = MOST_NAME - front.length;
  // Two names that look alike once they are cleaned must not meet.
  return front + (isChanged ? marked(back, tool, most) : shortened(back, tool, most));
}

function clean(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, "_") || "_";
}

function shortened(cleaned: string, original: string, most: number): string {
  return cleaned.length <= most ? cleaned : marked(cleaned, original, most);
}

function marked(cleaned: string, original: string, most: number): string {
  const mark = `_${createHash("sha256").update(original).digest("hex").slice(0, 7)}`;
  return cleaned.slice(0, most - mark.length) + mark;
}
