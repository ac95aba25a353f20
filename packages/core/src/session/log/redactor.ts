import { SECRET_VALUES, secrecyOf, withoutPasswords } from "@burin/machine/processes/child-environment";

/** Shorter values occur in ordinary text by chance. */
const FEWEST_KNOWN = 8;
/** For a variable whose name only suggests a secret. */
const FEWEST_LIKELY = 12;
/** A path, an address without a password, a plain word or a number. */
const NO_SECRET = /^(?:[~./].*|\w+:\/\/[^@]*|[a-z]+(?:[-_.][a-z]+)*|[\d.]+)$/i;

/** From the BEGIN line over all lines of such a key, including what a listing puts between them. */
const KEY_BLOCK =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?:\\[nr]|[^A-Za-z0-9+/=\\-]){0,16}(?:(?:Proc-Type|DEK-Info):[^\n]{0,80}|[A-Za-z0-9+/=]{16,}))+(?:(?:\\[nr]|[^A-Za-z0-9+/=\\-]){0,16}[A-Za-z0-9+/=]{0,16}(?:\\[nr]|[^A-Za-z0-9+/=\\-]){0,16}-----END [A-Z ]*PRIVATE KEY-----)?/g;
const TOKENS = new RegExp(
  SECRET_VALUES.filter(({ source }) => !source.includes("BEGIN"))
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** Fields without text for a reader, which must stay unchanged. */
const OPAQUE = new Set(["signature", "thoughtSignature", "data", "callId", "sessionId"]);

interface KnownSecret {
  readonly value: string;
  readonly mark: string;
}

/** Removes secrets from what is written: known values of the environment, and tokens recognized by their form. */
export class Redactor {
  readonly #known: readonly KnownSecret[];

  /** `names` are variables that hold secrets although their names do not show it. */
  constructor(environment: NodeJS.ProcessEnv, names: readonly string[] = []) {
    this.#known = Object.entries(environment)
      .flatMap(([name, value]) => {
        if (value === undefined || !isWorthHiding(name, value, names)) return [];
        return [{ value, mark: `[redacted: ${name}]` }];
      })
      // A value that contains another one is replaced first.
      .sort((one, other) => other.value.length - one.value.length);
  }

  /** For texts in which each character is one byte. */
  static ofBytes(environment: NodeJS.ProcessEnv, names: readonly string[]): Redactor {
    const entries = Object.entries(environment);
    const bytes = entries.map(([name, value]) => [name, value && Buffer.from(value).toString("latin1")]);
    return new Redactor(Object.fromEntries(bytes), names);
  }

  text(text: string): string {
    let clean = text;
    for (const { value, mark } of this.#known) {
      if (clean.includes(value)) clean = clean.replaceAll(value, mark);
    }
    clean = clean.replace(KEY_BLOCK, "[redacted: private key]").replace(TOKENS, "[redacted: token]");
    return withoutPasswords(clean);
  }

  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, inner]) => [key, OPAQUE.has(key) ? inner : this.value(inner)]),
    );
  }

  json(value: unknown): string {
    const json = JSON.stringify(value);
    return this.#mayHold(json) ? JSON.stringify(this.value(value)) : json;
  }

  #mayHold(json: string): boolean {
    if (this.#known.some(({ value }) => json.includes(JSON.stringify(value).slice(1, -1)))) return true;
    TOKENS.lastIndex = 0;
    return json.includes("PRIVATE KEY-----") || TOKENS.test(json) || withoutPasswords(json) !== json;
  }
}

function isWorthHiding(name: string, value: string, names: readonly string[]): boolean {
  const secrecy = secrecyOf(name, value, names);
  if (secrecy !== "likely") return secrecy === "known" && value.length >= FEWEST_KNOWN;
  return value.length >= FEWEST_LIKELY && !NO_SECRET.test(value) && !/\s/.test(value);
}
