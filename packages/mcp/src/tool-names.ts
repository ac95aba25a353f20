/** The longest tool name that every provider accepts. */
const MAX_NAME = 64;
const MAX_ALIAS = 30;
const SEPARATOR = "__";

/**
 * Returns the prefix of each server's tool names, by alias. If two aliases become equal after cleaning, the one that
 * needed no cleaning keeps the name, otherwise the first; the others get a hash. The first separator in a name ends its
 * prefix, so no two servers declare the same name, and a rule for one server covers no other.
 */
export function assignPrefixes(aliases: readonly string[]): ReadonlyMap<string, string> {
  const prefixes = new Map<string, string>();
  const taken = new Set<string>();
  const isChanged = (alias: string) => Number(cleanAlias(alias) !== alias);
  for (const alias of [...aliases].sort((a, b) => isChanged(a) - isChanged(b))) {
    const plain = cleanAlias(alias);
    const isKept = plain.length <= MAX_ALIAS && !taken.has(plain);
    const front = isKept ? plain : appendMark(plain, alias, MAX_ALIAS);
    taken.add(front);
    prefixes.set(alias, front + SEPARATOR);
  }
  return prefixes;
}

/** Returns the declared name of a tool of the server with this prefix. It is the same at every start. */
export function formatDeclaredName(prefix: string, tool: string): string {
  const cleaned = tool.replace(/[^A-Za-z0-9_-]+/g, "_");
  const max = MAX_NAME - prefix.length;
  // Two names that become equal after cleaning must stay different, so any change adds a hash.
  const isKept = cleaned === tool && cleaned.length <= max;
  return prefix + (isKept ? cleaned : appendMark(cleaned, tool, max));
}

/** Cleans an alias. The result contains no separator and does not end with the beginning of one. */
function cleanAlias(alias: string): string {
  return alias.replace(/[^A-Za-z0-9-]+/g, "_").replace(/(?<=.)_$/, "") || "_";
}

function appendMark(cleaned: string, original: string, maxCharacters: number): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  const mark = `_${createHash("sha256").update(original).digest("hex").slice(0, 7)}`;
  return cleaned.slice(0, maxCharacters - mark.length).replace(/_$/, "") + mark;
}
