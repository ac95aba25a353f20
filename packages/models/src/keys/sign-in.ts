import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { readTextStart, sendHttpRequest } from "@burin/net/http-request";

/** A sign-in that waits for the user, by PKCE: no secret of ours takes part in it. */
export interface SignIn {
  /** The URL of the service for a browser on this machine. */
  readonly shortAddress: string;
  /** The URL of the service for a browser on any machine. */
  readonly address: string;
  /** Resolves to the code when a browser on this machine has returned from the service. */
  readonly code: Promise<string>;
  /**
   * Exchanges a code, or the address that a browser on another machine ended at, for the key. Throws when the service
   * refuses.
   */
  keyFor(pasted: string): Promise<string>;
  close(): void;
}

const OPENROUTER = "https://openrouter.ai";
/** The port of the callback: services that check it allow this one. */
const PORT = 3000;
const METHOD = "S256";
const MAX_WAIT_MS = 30_000;
const MAX_BYTES = 64 * 1024;
const DONE = "Signed in. You can close this page and go back to the terminal.\n";

export async function openLogin(service = OPENROUTER): Promise<SignIn> {
  const verifier = randomBytes(32).toString("base64url");
  const server = createServer();
  const { port } = await listenOnLoopback(server);
  const here = `http://localhost:${port}/`;
  const address = new URL("/auth", service);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const asked = { callback_url: here, code_challenge: challenge, code_challenge_method: METHOD };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  const code = new Promise<string>((resolve) => {
    server.on("request", ({ url = "/" }, response) => {
      const given = new URL(url, here).searchParams.get("code");
      const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
      if (given === null) response.writeHead(302, { ...headers, location: address.href }).end();
      else response.writeHead(200, headers).end(DONE);
      if (given !== null) resolve(given);
    });
  });
  return {
    shortAddress: here,
    address: address.href,
    code,
    keyFor: (pasted) => exchangeCodeForKey(service, { code: readCode(pasted), verifier }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Listens where only programs of this machine can connect. */
async function listenOnLoopback(server: Server): Promise<AddressInfo> {
  try {
    server.listen(PORT, "127.0.0.1");
    await once(server, "listening");
  } catch {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
  return server.address() as AddressInfo;
}

function readCode(pasted: string): string {
  const text = pasted.trim();
  return (URL.canParse(text) ? new URL(text).searchParams.get("code") : null) ?? text;
}

async function exchangeCodeForKey(service: string, { code, verifier }: { code: string; verifier: string }) {
  const url = new URL("/api/v1/auth/keys", service);
  const fields = { code, code_verifier: verifier, code_challenge_method: METHOD };
  const headers = { "content-type": "application/json" };
  const request = { url, method: "POST", headers, body: [Buffer.from(JSON.stringify(fields))] } as const;
  const { status, body } = await sendHttpRequest(request, AbortSignal.timeout(MAX_WAIT_MS));
  const answer = parseJson(await readTextStart(body, MAX_BYTES));
  if (status === 200 && isRecord(answer) && typeof answer.key === "string" && answer.key !== "")
    return answer.key;
  throw new Error(`${url.host} gave no key for this code (HTTP ${status})`);
}
