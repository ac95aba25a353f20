/** What every provider accepts. */
const MOST_NAME = 64;
const MOST_ALIAS = 30;
const SEPARATOR = "__";

/**
 * The start of the declared names of each server's tools, by alias. If two aliases become the same after cleaning,
 * the one that needed no cleaning keeps it, otherwise the first; the others get a hash. The first separator in a name
 * ends its prefix: no two servers declare one name, and a rule for one server covers no other.
 */
export function namePrefixes(aliases: readonly string[]): ReadonlyMap<string, string> {
  const prefixes = new Map<string, string>();
  const taken = new Set<string>();
  const isChanged = (alias: string) => Number(cleanAlias(alias) !== alias);
  for (const alias of [...aliases].sort((a, b) => isChanged(a) - isChanged(b))) {
    const plain = cleanAlias(alias);
    const isKept = plain.length <= MOST_ALIAS && !taken.has(plain);
    const front = isKept ? plain : marked(plain, alias, MOST_ALIAS);
    taken.add(front);
    prefixes.set(alias, front + SEPARATOR);
  }
  return prefixes;
}

/** The declared name for a tool of the server with this prefix, the same at every start. */
export function declaredName(prefix: string, tool: string): string {
  const cleaned = tool.replace(/[^A-Za-z0-9_-]+/g, "_");
  const most = MOST_NAME - prefix.length;
  // Two names that are the same after cleaning must stay different.
  const isKept = cleaned === tool && cleaned.length <= most;
  return prefix + (isKept ? cleaned : marked(cleaned, tool, most));
}

/** Neither holds a separator nor ends like the beginning of one. */
function cleanAlias(alias: string): string {
  return alias.replace(/[^A-Za-z0-9-]+/g, "_").replace(/(?<=.)_$/, "") || "_";
}

function marked(cleaned: string, original: string, most: number): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const mark = `_${createHash("sha256").update(original).digest("hex").slice(0, 7)}`;
  return cleaned.slice(0, most - mark.length).replace(/_$/, "") + mark;
}
