import { classifySecret, maskPasswords, SECRET_VALUES } from "@burin/commands/processes/child-environment";
import { holdsSecret } from "@burin/commands/shell/command-request";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";
import { withFallback } from "@burin/contract/with-fallback";
import { expandVariables } from "@burin/mcp/definition";

/** The minimum length of a known secret. Shorter values occur in ordinary text by chance. */
const FEWEST_KNOWN = 8;
/** The minimum length of a value whose variable name only suggests a secret. */
const FEWEST_LIKELY = 12;
/** Values that are not secrets: a path, an address without a password, a plain word or a number. */
const NO_SECRET = /^(?:[~./].*|\w+:\/\/[^@]*|[a-z]+(?:[-_.][a-z]+)*|[\d.]+)$/i;

/** A run of random characters, such as services use in keys, or a UUID. */
const LOOKS_RANDOM =
  /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;
/** Headers whose value is secret although their name does not show it. */
const SECRET_HEADERS = ["AUTHORIZATION", "PROXY_AUTHORIZATION", "COOKIE"];

/** What a listing may put between the lines of a private key, and what those lines are. */
const BETWEEN = String.raw`(?:\\[nr]|[^A-Za-z0-9+/=\\-]){0,16}`;
const KEY_LINE = String.raw`(?:(?:Proc-Type|DEK-Info):[^\n]{0,80}|[A-Za-z0-9+/=]{16,})`;
const KEY_END = `${BETWEEN}[A-Za-z0-9+/=]{0,16}${BETWEEN}-----END [A-Z ]*PRIVATE KEY-----`;
/** A private key, from its BEGIN line over all its lines. */
const KEY_BLOCK = new RegExp(
  `-----BEGIN [A-Z ]*PRIVATE KEY-----(?:${BETWEEN}${KEY_LINE})+(?:${KEY_END})?`,
  "g",
);
const TOKENS = new RegExp(
  SECRET_VALUES.filter(({ source }) => !source.includes("BEGIN"))
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** Fields that must stay unchanged: they hold no text for people. */
const OPAQUE = new Set(["signature", "thoughtSignature", "data", "callId", "sessionId"]);

/** Where known secret values come from. Tokens are also recognized by their form. */
export interface Secrets {
  readonly environment: NodeJS.ProcessEnv;
  /** Names of variables that hold secrets although the names do not show it. */
  readonly names?: readonly string[];
  /** The settings of MCP servers, whose variables, headers and addresses may contain secrets. */
  readonly servers?: Readonly<Record<string, McpServerSettings>> | undefined;
}

/** Removes secrets from text before it is written: known values, and tokens recognized by their form. */
export class Redactor {
  readonly #known: readonly { readonly value: string; readonly mark: string }[];

  /** `latin1` is for texts in which each character stands for one byte. */
  constructor({ environment, names = [], servers = {} }: Secrets, encoding: "utf8" | "latin1" = "utf8") {
    const own = Object.entries(environment).filter(([name, value = ""]) =>
      isSecretVariable(name, value, names),
    );
    this.#known = [
      ...own,
      ...Object.values(servers).flatMap((server) => listServerSecrets(server, environment)),
    ]
      .map(([name, value = ""]) => ({
        value: Buffer.from(value).toString(encoding),
        mark: `[redacted: ${name}]`,
      }))
      // Longest first, so that a value that contains another one is replaced first.
      .sort((one, other) => other.value.length - one.value.length);
  }

  /** Whether there is something to remove; much faster, for bytes of which few are secret. */
  containsSecret(bytes: Buffer): boolean {
    return holdsSecret(bytes) || this.#known.some(({ value }) => bytes.includes(value, 0, "latin1"));
  }

  redactText(text: string): string {
    let clean = text;
    for (const { value, mark } of this.#known) {
      if (clean.includes(value)) clean = clean.replaceAll(value, mark);
    }
    clean = clean.replace(KEY_BLOCK, "[redacted: private key]").replace(TOKENS, "[redacted: token]");
    return maskPasswords(clean);
  }

  redactValue(value: unknown): unknown {
    if (typeof value === "string") return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, inner]) => [key, OPAQUE.has(key) ? inner : this.redactValue(inner)]),
    );
  }

  redactJson(value: unknown): string {
    const json = JSON.stringify(value);
    return this.#mayContainSecret(json) ? JSON.stringify(this.redactValue(value)) : json;
  }

  #mayContainSecret(json: string): boolean {
    if (this.#known.some(({ value }) => json.includes(JSON.stringify(value).slice(1, -1)))) return true;
    TOKENS.lastIndex = 0;
    return json.includes("PRIVATE KEY-----") || TOKENS.test(json) || maskPasswords(json) !== json;
  }
}

function isSecretVariable(name: string, value: string, names: readonly string[]): boolean {
  const secrecy = classifySecret(name, value, names);
  if (secrecy !== "likely") return secrecy === "known" && value.length >= FEWEST_KNOWN;
  return value.length >= FEWEST_LIKELY && !NO_SECRET.test(value) && !/\s/.test(value);
}

type NamedSecret = readonly [name: string, value: string];

/** Returns the words in a server's settings that are secret by their name or look secret. */
function listServerSecrets(server: McpServerSettings, environment: NodeJS.ProcessEnv): NamedSecret[] {
  const { env, headers, url = "", oauth, args } = server;
  const given = [
    ...Object.entries({ ...oauth, ...env, ...headers }),
    ...findSecretsInAddress(url),
    ...findSecretsInArguments(args),
  ];
  return given
    .flatMap(([name, value]) =>
      typeof value === "string" ? listSecretValues([name, value], environment) : [],
    )
    .filter(([name, value]) => {
      const variable = name
        .replaceAll("-", "_")
        .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
        .toUpperCase();
      if (isSecretVariable(variable, value, SECRET_HEADERS)) return true;
      const isLikely = LOOKS_RANDOM.test(value) || classifySecret(variable, value, []) !== null;
      return isLikely && value.length >= FEWEST_KNOWN && !NO_SECRET.test(value);
    });
}

function findSecretsInAddress(url: string): NamedSecret[] {
  const behindHost = url.replace(/^\w+:\/\/[^/?#]*/, "").split(/[/?&#]/);
  return behindHost.map((piece) => {
    const [, name = "url", value = piece] = /^([^=]*)=(.*)$/s.exec(piece) ?? [];
    return [name, value];
  });
}

/** Reads named values from `--token=x`, `--token x`, `--header "Name: x"`, `{"token":"x"}` and addresses. */
function findSecretsInArguments(args: readonly string[]): NamedSecret[] {
  return args.flatMap((arg, at) => {
    const [, before] = /^--?([\w-]+)$/.exec(args[at - 1] ?? "") ?? [];
    const [, name = before ?? "argument", value = arg] = /^-*([\w-]+)(?:=|: )(.*)$/s.exec(arg) ?? [];
    const inJson = arg.matchAll(/"([\w-]+)"\s*:\s*"([^"]*)"/g);
    const more = [...inJson].map(([, key = "", inner = ""]): NamedSecret => [key, inner]);
    return [[name, value], ...more, ...(arg.includes("://") ? findSecretsInAddress(arg) : [])];
  });
}

/** Returns the words of a value as the server gets them, and the value of each variable in it on its own. */
function listSecretValues([name, text]: NamedSecret, environment: NodeJS.ProcessEnv): NamedSecret[] {
  const values = [...text.matchAll(/\$\{?(\w+)/g)].map(([, variable = ""]) => environment[variable] ?? "");
  const whole = withFallback(text, () => expandVariables(text, environment, name));
  return [...values, ...whole.split(/\s+/)].map((value) => [name, value]);
}
