/** What some models put before and behind the name of a tool: a module, a channel, a number. */
const BEFORE = /^(?:functions?|tools?|default_api|api)[.:/]+/i;
const BEHIND = /(?:<\|.*|:\d+|\(\))$/s;

/** The one offered tool that a name means which is none; undefined when there are several, or none. */
export function meantTool(name: string, offered: Iterable<string>): string | undefined {
  const bare = name.trim().replace(BEHIND, "").replace(BEFORE, "").replace(BEHIND, "");
  const all = [...offered];
  if (all.includes(bare)) return bare;
  const plain = plainOf(bare);
  const found = all.filter((one) => plainOf(one) === plain);
  return plain !== "" && found.length === 1 ? found[0] : undefined;
}

function plainOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
