import { createHash, createHmac } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { readUserText } from "@burin/files/disk/regular-file";

export interface AwsKeys {
  readonly id: string;
  readonly secret: string;
  readonly token?: string | undefined;
}

export interface UnsignedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
}

export type Signer = (request: UnsignedRequest) => Record<string, string>;

const MAX_BYTES = 256 * 1024;
/** The headers that are signed because they describe the content. Others may change on the way. */
const SIGNED = /^(?:content-type|host|x-amz-.*)$/;

/** Returns a function that signs requests with the current keys. Throws a message for the user if there are no keys. */
export function createAwsSigner(environment: NodeJS.ProcessEnv, place: Omit<SigningScope, "at">): Signer {
  const keys = readAwsKeys(environment);
  return (request) => signHeaders(request, keys, { ...place, at: new Date() });
}

/** Reads the keys from the variables, otherwise from the profile in the credentials file of Amazon's own tools. */
function readAwsKeys(environment: NodeJS.ProcessEnv): AwsKeys {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
  if (id && secret && !environment.AWS_PROFILE) return { id, secret, token };
  const profile = environment.AWS_PROFILE || "default";
  const folder = join(environment.HOME || homedir(), ".aws");
  const file = environment.AWS_SHARED_CREDENTIALS_FILE || join(folder, "credentials");
  const named = parseProfile(readUserText(file, MAX_BYTES) ?? "", profile);
  const { aws_access_key_id: key, aws_secret_access_key: hidden, aws_session_token } = named;
  if (key && hidden) return { id: key, secret: hidden, token: aws_session_token };
  throw new Error(
    [
      `the profile ${profile} has no keys in ${file}.`,
      "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY;",
      'for a login (SSO) run: eval "$(aws configure export-credentials --format env)"',
    ].join(" "),
  );
}

function parseProfile(text: string, profile: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  let isNamed = false;
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\s*\[\s*(?:profile\s+)?(.*?)\s*\]/.exec(line)?.[1];
    if (heading !== undefined) isNamed = heading === profile;
    const [, name = "", value = ""] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (isNamed && name !== "") found[name.toLowerCase()] = value;
  }
  return found;
}

interface SigningScope {
  readonly service: string;
  readonly region: string;
  readonly at: Date;
}

/** Returns the headers to add, according to Signature Version 4. */
export function signHeaders(
  { url, method, headers, body = [] }: UnsignedRequest,
  { id, secret, token }: AwsKeys,
  { service, region, at }: SigningScope,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, "");
  const added: Record<string, string> = {
    "x-amz-date": time,
    ...(token ? { "x-amz-security-token": token } : {}),
  };
  const all = Object.entries({ ...headers, ...added, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, " ")] as const)
    .filter(([name]) => SIGNED.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const names = all.map(([name]) => name).join(";");
  const query = [...url.searchParams].map((pair) => pair.map(encodeForAws).join("="));
  const canonical = [
    method,
    url.pathname.split("/").map(encodeForAws).join("/"),
    query.sort().join("&"),
    ...all.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    hashJoined(body),
  ];
  const scope = [time.slice(0, 8), region, service, "aws4_request"];
  const toSign = ["AWS4-HMAC-SHA256", time, scope.join("/"), hashJoined([canonical.join("\n")])].join("\n");
  const key = scope.reduce<string | Buffer>(
    (before, part) => computeHmac(before, part).digest(),
    `AWS4${secret}`,
  );
  const signature = computeHmac(key, toSign).digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${id}/${scope.join("/")}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...added, authorization };
}

/** Escapes a text for a URL. Amazon escapes more characters than the standard does. */
function encodeForAws(text: string): string {
  const percentEncode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, percentEncode);
}

function hashJoined(pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function computeHmac(key: string | Buffer, text: string) {
  return createHmac("sha256", key).update(text);
}
