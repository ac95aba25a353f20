import { createSign } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { readNamedText } from "@burin/files/disk/regular-file";
import { type ClientCertificate, httpRequest, startOfText } from "@burin/net/http-request";

export type KeyPlace = { readonly command: string } | { readonly file: string };

const MOST_BYTES = 64 * 1024;
const MOST_COMMAND_MS = 30_000;
/** A token is not used in its last minute. */
const SPARE_MS = 60_000;

/** Shared by sessions: a key by its command with the whole environment, a token by the file of its credentials. */
const known = new Map<string, { readonly key: string; readonly until: number }>();

/** Returns the key from a command or a file; the command runs again only when its key was refused. */
export async function keyFrom(
  place: KeyPlace,
  environment: NodeJS.ProcessEnv,
  isRefused: boolean,
): Promise<string> {
  if ("file" in place) return textOf(atHome(place.file));
  // Another session may have another environment, and so another key.
  const source = [place.command, ...Object.entries(environment).sort()].join("\0");
  const kept = known.get(source);
  if (kept && !isRefused) return kept.key;
  const key = await said(place.command, environment);
  known.set(source, { key, until: Number.POSITIVE_INFINITY });
  return key;
}

export interface CertificatePlace {
  readonly cert: string;
  readonly key: string;
  readonly passphraseEnv?: string | undefined;
}

/** Throws a message for the user when a file is missing. */
export function certificateFrom(place: CertificatePlace, environment: NodeJS.ProcessEnv): ClientCertificate {
  const passphrase = environment[place.passphraseEnv ?? ""];
  const certificate = { cert: textOf(atHome(place.cert)), key: textOf(atHome(place.key)) };
  return passphrase === undefined ? certificate : { ...certificate, passphrase };
}

function atHome(file: string): string {
  return file.replace(/^~(?=[/\\])/, homedir());
}

function textOf(file: string): string {
  const text = readNamedText(file, MOST_BYTES)?.trim();
  if (text) return text;
  throw new Error(`the file ${file} ${text === undefined ? "does not exist" : "is empty"}`);
}

async function said(command: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const { runProgram } = await import("@burin/commands/processes/supervisor");
  const { helperPath } = await import("@burin/commands/processes/helper-program");
  const isWindows = process.platform === "win32";
  const { exitCode, output, errors } = await runProgram({
    command: isWindows ? "cmd.exe" : "sh",
    args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
    cwd: homedir(),
    env: { ...environment, PATH: helperPath(environment.PATH) },
    mostBytes: MOST_BYTES,
    signal: AbortSignal.timeout(MOST_COMMAND_MS),
  });
  const key = output.toString("utf8").trim();
  if (exitCode === 0 && key !== "") return key;
  const why =
    exitCode === 0 ? "it printed nothing" : errors.trim().split("\n").at(-1) || `exit code ${exitCode}`;
  throw new Error(`the command "${command}" failed: ${why}`);
}

/** A token for Google Cloud, from the credentials of Google's own tools or those that the environment names. */
export async function googleToken(environment: NodeJS.ProcessEnv, isRefused: boolean): Promise<string> {
  const folder = environment.CLOUDSDK_CONFIG ?? join(homedir(), ".config/gcloud");
  const file =
    environment.GOOGLE_APPLICATION_CREDENTIALS ?? join(folder, "application_default_credentials.json");
  const kept = known.get(file);
  if (kept && !isRefused && kept.until > Date.now()) return kept.key;
  const credentials = parseJson(readNamedText(file, MOST_BYTES) ?? "");
  if (!isRecord(credentials)) {
    throw new Error(
      `${file} holds no credentials: run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS.`,
    );
  }
  const { key, seconds } = await exchanged(credentials);
  known.set(file, { key, until: Date.now() + seconds * 1000 - SPARE_MS });
  return key;
}

async function exchanged(credentials: JsonRecord): Promise<{ key: string; seconds: number }> {
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
      ? { grant_type: jwt, assertion: assertion(String(email), secret, address) }
      : { grant_type: "refresh_token", client_id, client_secret, refresh_token };
  const fields = Object.fromEntries(Object.entries(form).map(([name, value]) => [name, String(value)]));
  const body = [Buffer.from(String(new URLSearchParams(fields)))];
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const request = { url: new URL(address), method: "POST", headers, body } as const;
  const answer = await httpRequest(request, AbortSignal.timeout(MOST_COMMAND_MS));
  const given = parseJson(await startOfText(answer.body, MOST_BYTES));
  if (!isRecord(given) || typeof given.access_token !== "string") {
    const why = isRecord(given) ? (given.error_description ?? given.error) : "";
    throw new Error(`Google gave no token (HTTP ${answer.status}) ${why ?? ""}`.trim());
  }
  return { key: given.access_token, seconds: Number(given.expires_in ?? 3600) };
}

function assertion(email: string, secret: string, address: string): string {
  const now = Math.floor(Date.now() / 1000);
  const scope = "https://www.googleapis.com/auth/cloud-platform";
  const claims = { iss: email, scope, aud: address, iat: now, exp: now + 3600 };
  const encoded = [{ alg: "RS256", typ: "JWT" }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const signature = createSign("RSA-SHA256").update(encoded.join(".")).sign(secret, "base64url");
  return [...encoded, signature].join(".");
}
