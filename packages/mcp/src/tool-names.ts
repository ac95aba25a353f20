/** What every provider accepts. */
const MOST_NAME = 64;
const MOST_ALIAS = 30;
const SEPARATOR = "__";

/**
 * What the declared names of the tools of each server begin with, by alias. Where two aliases come to the same
 * once they are cleaned, the one that needed no cleaning keeps it, else the first; the others get a mark.
 */
export function namePrefixes(aliases: readonly string[]): ReadonlyMap<string, string> {
  const prefixes = new Map<string, string>();
  const taken = new Set<string>();
  for (const alias of [...aliases].sort((a, b) => Number(clean(a) !== a) - Number(clean(b) !== b))) {
    const plain = shortened(clean(alias), alias, MOST_ALIAS);
    const front = taken.has(plain) ? marked(plain, alias, MOST_ALIAS) : plain;
    taken.add(front);
    prefixes.set(alias, front + SEPARATOR);
  }
  return prefixes;
}

/** The name that a tool of the server with this prefix is declared by, the same at every start. */
export function declaredName(prefix: string, tool: string): string {
  const cleaned = clean(tool);
  const most = MOST_NAME - prefix.length;
  // Two names that look alike once they are cleaned must not meet.
  return prefix + (cleaned === tool ? shortened(cleaned, tool, most) : marked(cleaned, tool, most));
}

function clean(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, "_") || "_";
}

function shortened(cleaned: string, original: string, most: number): string {
  return cleaned.length <= most ? cleaned : marked(cleaned, original, most);
}

function marked(cleaned: string, original: string, most: number): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const mark = `_${createHash("sha256").update(original).digest("hex").slice(0, 7)}`;
  return cleaned.slice(0, most - mark.length) + mark;
}
