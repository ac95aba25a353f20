import { SECRET_VALUES, secrecyOf, withoutPasswords } from "@burin/commands/processes/child-environment";
import { orElse } from "@burin/contract/or-else";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";
import { expandVariables } from "@burin/mcp/definition";

/** Shorter values occur in ordinary text by chance. */
const FEWEST_KNOWN = 8;
/** For a variable whose name only suggests a secret. */
const FEWEST_LIKELY = 12;
/** A path, an address without a password, a plain word or a number. */
const NO_SECRET = /^(?:[~./].*|\w+:\/\/[^@]*|[a-z]+(?:[-_.][a-z]+)*|[\d.]+)$/i;

/** Random characters, as services make keys of them, or a UUID. */
const LOOKS_RANDOM =
  /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;
/** Headers whose value is a secret although their names do not show it. */
const SECRET_HEADERS = ["AUTHORIZATION", "PROXY_AUTHORIZATION", "COOKIE"];

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

/** What is known to be secret, besides tokens that are recognized by their form. */
export interface Secrets {
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that hold secrets although their names do not show it. */
  readonly names?: readonly string[];
  /** What the settings give to MCP servers: variables, headers, addresses. */
  readonly servers?: Readonly<Record<string, McpServerSettings>> | undefined;
}

/** Removes secrets from what is written: known values, and tokens recognized by their form. */
export class Redactor {
  readonly #known: readonly { readonly value: string; readonly mark: string }[];

  /** `latin1`: for texts in which each character is one byte. */
  constructor({ environment, names = [], servers = {} }: Secrets, encoding: "utf8" | "latin1" = "utf8") {
    const own = Object.entries(environment).filter(([name, value = ""]) => isWorthHiding(name, value, names));
    this.#known = [...own, ...Object.values(servers).flatMap((server) => givenSecrets(server, environment))]
      .map(([name, value = ""]) => ({
        value: Buffer.from(value).toString(encoding),
        mark: `[redacted: ${name}]`,
      }))
      // A value that contains another one is replaced first.
      .sort((one, other) => other.value.length - one.value.length);
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

type Named = readonly [name: string, value: string];

/** The words of what a server gets that are secrets by their names or look like some. */
function givenSecrets(server: McpServerSettings, environment: NodeJS.ProcessEnv): Named[] {
  const { env, headers, url = "", oauth, args } = server;
  const given = [
    ...Object.entries({ ...oauth, ...env, ...headers }),
    ...inAddress(url),
    ...inArguments(args),
  ];
  return given
    .flatMap(([name, value]) => (typeof value === "string" ? wordsOf([name, value], environment) : []))
    .filter(([name, value]) => {
      const variable = name
        .replaceAll("-", "_")
        .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
        .toUpperCase();
      if (isWorthHiding(variable, value, SECRET_HEADERS)) return true;
      const isLikely = LOOKS_RANDOM.test(value) || secrecyOf(variable, value, []) !== null;
      return isLikely && value.length >= FEWEST_KNOWN && !NO_SECRET.test(value);
    });
}

function inAddress(url: string): Named[] {
  const behindHost = url.replace(/^\w+:\/\/[^/?#]*/, "").split(/[/?&#]/);
  return behindHost.map((piece) => {
    const [, name = "url", value = piece] = /^([^=]*)=(.*)$/s.exec(piece) ?? [];
    return [name, value];
  });
}

/** `--token=x`, `--token x`, `--header "Name: x"`, `{"token":"x"}`, and what is in addresses. */
function inArguments(args: readonly string[]): Named[] {
  return args.flatMap((arg, at) => {
    const [, before] = /^--?([\w-]+)$/.exec(args[at - 1] ?? "") ?? [];
    const [, name = before ?? "argument", value = arg] = /^-*([\w-]+)(?:=|: )(.*)$/s.exec(arg) ?? [];
    const inJson = arg.matchAll(/"([\w-]+)"\s*:\s*"([^"]*)"/g);
    const more = [...inJson].map(([, key = "", inner = ""]): Named => [key, inner]);
    return [[name, value], ...more, ...(arg.includes("://") ? inAddress(arg) : [])];
  });
}

/** As the server gets them; a variable's value also by itself. */
function wordsOf([name, text]: Named, environment: NodeJS.ProcessEnv): Named[] {
  const values = [...text.matchAll(/\$\{?(\w+)/g)].map(([, variable = ""]) => environment[variable] ?? "");
  const whole = orElse(text, () => expandVariables(text, environment, name));
  return [...values, ...whole.split(/\s+/)].map((value) => [name, value]);
}
