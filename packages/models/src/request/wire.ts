/**
 * Serializes a value for a service. Replaces half a surrogate pair (from cutting through an emoji), which is legal JSON
 * but which strict services reject.
 */
export function serializeForWire(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud") || !/(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/.test(json)) return json;
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "string" ? inner.replace(/\p{Surrogate}/gu, "\ufffd") : inner,
  );
}

/** Tool names that every provider accepts; some allow no digit or hyphen at the start. */
const WIRE_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const MAX_CHARACTERS = 64;

/**
 * Returns a tool name that providers accept. It is the same in every process, even if the tool no longer exists.
 * Different tools never share one, because a changed name contains a hash of the original.
 */
export function toWireName(name: string): string {
  return WIRE_NAME.test(name) ? name : makeNameValid(name);
}

export const WIRE_KEY_PATTERN = /^[A-Za-z0-9_.-]{1,64}$/;
/** Shared by sessions: maps changed names to the own names, from which they are computed. */
const OWN_KEYS = new Map<string, string>();

/** Returns a parameter's name in a format that strict providers accept. The same name always gives the same result. */
export function toWireKey(key: string): string {
  if (WIRE_KEY_PATTERN.test(key)) return key;
  const changed = makeNameValid(key);
  OWN_KEYS.set(changed, key);
  return changed;
}

/** Returns a call's arguments under the tool's own names. */
export function fromWireArguments<Args extends object>(args: Args): Args {
  const named = Object.entries(args).map(([key, value]) => [OWN_KEYS.get(key) ?? key, value]);
  return Object.fromEntries(named) as Args;
}

const WIRE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** LiteLLM and agentgateway append Gemini's signature to the id of its call after this mark, and read it from there. */
export const SIGNED_ID_PATTERN = "__thought__";

/** Returns a call's id in a format that strict providers accept, because another provider or model may have made it. */
export function toWireId(given: string, maxCharacters = MAX_CHARACTERS): string {
  // A piece of a signature would be rejected as a broken one.
  const [id = ""] = given.split(SIGNED_ID_PATTERN);
  return WIRE_ID.test(id) && id.length <= maxCharacters ? id : makeNameValid(id, maxCharacters);
}

/** Converts an id to nine letters and digits, for services that accept nothing else. */
export function toNineCharacters(id: string): string {
  const trace =
    Number.parseInt(computeShortHash(id, 0x811c9dc5), 16) * 2 ** 20 +
    (Number.parseInt(computeShortHash(id, 0x01000193), 16) >>> 12);
  return trace.toString(36).padStart(9, "0").slice(-9);
}

function makeNameValid(name: string, maxCharacters = MAX_CHARACTERS): string {
  const trace = computeShortHash(name, 0x811c9dc5) + computeShortHash(name, 0x01000193).slice(0, 4);
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^(?![A-Za-z_])/, "_");
  return `${readable.slice(0, maxCharacters - trace.length - 1)}_${trace}`;
}

/** Computes a short hash. It is not for secrets; names only have to differ. */
function computeShortHash(text: string, seed: number): string {
  let hash = seed;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
