/** What a value must be by one keyword, as the end of a sentence; null when it fits or the keyword is no concern of it. */
type ScalarCheck = (value: unknown, given: unknown) => string | null;

/** The keywords of JSON Schema that look at a value alone, not at what is in it. */
export const SCALAR_CHECKS: ReadonlyMap<string, ScalarCheck> = new Map<string, ScalarCheck>([
  ["type", type],
  ["enum", (value, given) => (Array.isArray(given) && !holds(given, value) ? oneOfInWords(given) : null)],
  ["const", (value, given) => (canonical(value) === canonical(given) ? null : `must be ${shown(given)}`)],
  ["minimum", onNumber((value, given) => value < given && `must be at least ${given}`)],
  ["maximum", onNumber((value, given) => value > given && `must be at most ${given}`)],
  ["exclusiveMinimum", onNumber((value, given) => value <= given && `must be more than ${given}`)],
  ["exclusiveMaximum", onNumber((value, given) => value >= given && `must be less than ${given}`)],
  ["multipleOf", onNumber((value, given) => !isMultiple(value, given) && `must be a multiple of ${given}`)],
  ["minLength", onSize(lengthOf, (size, given) => size < given && leastLength(given))],
  ["maxLength", onSize(lengthOf, (size, given) => size > given && `must have at most ${given} characters`)],
  ["minItems", onSize(countOf, (size, given) => size < given && `must have at least ${given} items`)],
  ["maxItems", onSize(countOf, (size, given) => size > given && `must have at most ${given} items`)],
  ["minProperties", onSize(keyCountOf, (size, given) => size < given && `must have at least ${given} keys`)],
  ["maxProperties", onSize(keyCountOf, (size, given) => size > given && `must have at most ${given} keys`)],
  ["pattern", pattern],
  ["uniqueItems", uniqueItems],
]);

const IS_TYPE: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number" && Number.isFinite(value)],
  ["integer", (value) => Number.isInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["array", (value) => Array.isArray(value)],
  ["object", (value) => typeof value === "object" && value !== null && !Array.isArray(value)],
]);

function type(value: unknown, given: unknown): string | null {
  const types = [given].flat();
  if (types.length === 0 || types.some((name) => IS_TYPE.get(name)?.(value) ?? true)) return null;
  const names = types.join(" or ");
  return /^[aeio]/.test(names) ? `must be an ${names}` : `must be a ${names}`;
}

function holds(allowed: readonly unknown[], value: unknown): boolean {
  const wanted = canonical(value);
  return allowed.some((one) => canonical(one) === wanted);
}

function oneOfInWords(allowed: readonly unknown[]): string {
  return `must be one of ${allowed.map(shown).join(", ")}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}

/** JSON with its keys in order: equal texts are equal values. */
function canonical(value: unknown): string {
  return shown(withKeysInOrder(value));
}

function withKeysInOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withKeysInOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, withKeysInOrder(one)]));
}

function onNumber(fault: (value: number, given: number) => string | false): ScalarCheck {
  return (value, given) =>
    typeof value === "number" && typeof given === "number" ? fault(value, given) || null : null;
}

function onSize(
  measure: (value: unknown) => number | null,
  fault: (size: number, given: number) => string | false,
): ScalarCheck {
  return (value, given) => {
    const size = measure(value);
    return size === null || typeof given !== "number" ? null : fault(size, given) || null;
  };
}

/** Counted as a reader does, in code points. */
function lengthOf(value: unknown): number | null {
  return typeof value === "string" ? [...value].length : null;
}

function countOf(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null;
}

function keyCountOf(value: unknown): number | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return Object.values(value).filter((one) => one !== undefined).length;
}

function leastLength(given: number): string {
  return given === 1 ? "must not be empty" : `must have at least ${given} characters`;
}

/** 0.3 is three times 0.1, whatever the bits say. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return step <= 0 || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function pattern(value: unknown, given: unknown): string | null {
  if (typeof value !== "string" || typeof given !== "string") return null;
  const expression = compiled(given);
  return expression === null || expression.test(value) ? null : `must match ${given}`;
}

/** As ECMAScript with Unicode, which JSON Schema asks for; older patterns are often none, so without as well. */
function compiled(source: string): RegExp | null {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Tried otherwise, or not at all.
    }
  }
  return null;
}

function uniqueItems(value: unknown, given: unknown): string | null {
  if (given !== true || !Array.isArray(value)) return null;
  return new Set(value.map(canonical)).size === value.length ? null : "must not hold the same item twice";
}
