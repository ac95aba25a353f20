/** What every provider accepts. */
const MOST_NAME = 64;
const MOST_ALIAS = 30;
const SEPARATOR = "__";

/**
 * The start of the declared names of each server's tools, by alias. If two aliases become the same after cleaning,
 * the one that needed no cleaning keeps it, otherwise the first; the others get a hash.
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

/** The declared name for a tool of the server with this prefix, the same at every start. */
export function declaredName(prefix: string, tool: string): string {
  const cleaned = clean(tool);
  const most = MOST_NAME - prefix.length;
  // Two names that are the same after cleaning must stay different.
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
