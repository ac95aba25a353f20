import { createSign } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { readUserText } from "@burin/files/disk/regular-file";
import { type ClientCertificate, readTextStart, sendHttpRequest } from "@burin/net/http-request";

export type KeySource = { readonly command: string } | { readonly file: string };

const MAX_BYTES = 64 * 1024;
const MAX_COMMAND_MS = 30_000;
/** A token is no longer used in its last minute. */
const SPARE_MS = 60_000;

/** Shared by sessions: keys are stored by their command and the whole environment, tokens by their credentials file. */
const known = new Map<string, { readonly key: string; readonly until: number }>();

/** Returns the key from a command or a file. The command runs again only after its key was rejected. */
export async function readKey(
  place: KeySource,
  environment: NodeJS.ProcessEnv,
  isRefused: boolean,
): Promise<string> {
  if ("file" in place) return readSecretFile(expandHome(place.file));
  // Another session may have another environment, and thus another key.
  const source = [place.command, ...Object.entries(environment).sort()].join("\0");
  const kept = known.get(source);
  if (kept && !isRefused) return kept.key;
  const key = await runKeyCommand(place.command, environment);
  known.set(source, { key, until: Number.POSITIVE_INFINITY });
  return key;
}

export interface CertificateSource {
  readonly cert: string;
  readonly key: string;
  readonly passphraseEnv?: string | undefined;
}

/** Reads a client certificate. Throws a message for the user if a file is missing. */
export function readCertificate(place: CertificateSource, environment: NodeJS.ProcessEnv): ClientCertificate {
  const passphrase = environment[place.passphraseEnv ?? ""];
  const certificate = {
    cert: readSecretFile(expandHome(place.cert)),
    key: readSecretFile(expandHome(place.key)),
  };
  return passphrase === undefined ? certificate : { ...certificate, passphrase };
}

function expandHome(file: string): string {
  return file.replace(/^~(?=[/\\])/, homedir());
}

function readSecretFile(file: string): string {
  const text = readUserText(file, MAX_BYTES)?.trim();
  if (text) return text;
  throw new Error(`the file ${file} ${text === undefined ? "does not exist" : "is empty"}`);
}

async function runKeyCommand(command: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { runProgram } = await import("@burin/commands/processes/supervisor");
  const { buildHelperPath } = await import("@burin/commands/processes/helper-program");
  const isWindows = process.platform === "win32";
  const { exitCode, output, errors } = await runProgram({
    command: isWindows ? "cmd.exe" : "sh",
    args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
    cwd: homedir(),
    env: { ...environment, PATH: buildHelperPath(environment.PATH) },
    maxBytes: MAX_BYTES,
    signal: AbortSignal.timeout(MAX_COMMAND_MS),
  });
  const key = output.toString("utf8").trim();
  if (exitCode === 0 && key !== "") return key;
  const why =
    exitCode === 0 ? "it printed nothing" : errors.trim().split("\n").at(-1) || `exit code ${exitCode}`;
  throw new Error(`the command "${command}" failed: ${why}`);
}

/** Returns a Google Cloud token, from the credentials of Google's own tools or those that the environment names. */
export async function fetchGoogleToken(environment: NodeJS.ProcessEnv, isRefused: boolean): Promise<string> {
  const folder = environment.CLOUDSDK_CONFIG ?? join(homedir(), ".config/gcloud");
  const file =
    environment.GOOGLE_APPLICATION_CREDENTIALS ?? join(folder, "application_default_credentials.json");
  const kept = known.get(file);
  if (kept && !isRefused && kept.until > Date.now()) return kept.key;
  const credentials = parseJson(readUserText(file, MAX_BYTES) ?? "");
  if (!isRecord(credentials)) {
    throw new Error(
      `${file} contains no credentials: run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS.`,
    );
  }
  const { key, seconds } = await exchangeCredentials(credentials);
  known.set(file, { key, until: Date.now() + seconds * 1000 - SPARE_MS });
  return key;
}

async function exchangeCredentials(credentials: JsonRecord): Promise<{ key: string; seconds: number }> {
  const { client_email: email, private_key: secret, token_uri, type } = credentials;
  const address = typeof token_uri === "string" ? token_uri : "https://oauth2.googleapis.com/token";
  const { client_id, client_secret, refresh_token } = credentials;
  if ((secret ?? refresh_token) === undefined) {
    throw new Error(
      `credentials of the type ${type} cannot be used: set GOOGLE_VERTEX_TOKEN to what "gcloud auth print-access-token" prints.`,
    );
  }
  const jwt = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  const form =
    typeof secret === "string"
      ? { grant_type: jwt, assertion: signAssertion(String(email), secret, address) }
      : { grant_type: "refresh_token", client_id, client_secret, refresh_token };
  const fields = Object.fromEntries(Object.entries(form).map(([name, value]) => [name, String(value)]));
  const body = [Buffer.from(String(new URLSearchParams(fields)))];
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const request = { url: new URL(address), method: "POST", headers, body } as const;
  const answer = await sendHttpRequest(request, AbortSignal.timeout(MAX_COMMAND_MS));
  const given = parseJson(await readTextStart(answer.body, MAX_BYTES));
  if (!isRecord(given) || typeof given.access_token !== "string") {
    const why = isRecord(given) ? (given.error_description ?? given.error) : "";
    throw new Error(`Google gave no token (HTTP ${answer.status}) ${why ?? ""}`.trim());
  }
  return { key: given.access_token, seconds: Number(given.expires_in ?? 3600) };
}

function signAssertion(email: string, secret: string, address: string): string {
  const now = Math.floor(Date.now() / 1000);
  const scope = "https://www.googleapis.com/auth/cloud-platform";
  const claims = { iss: email, scope, aud: address, iat: now, exp: now + 3600 };
  const encoded = [{ alg: "RS256", typ: "JWT" }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const signature = createSign("RSA-SHA256").update(encoded.join(".")).sign(secret, "base64url");
  return [...encoded, signature].join(".");
}
