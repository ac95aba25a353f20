import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, describe, expect, it } from "vitest";
import { openLogin, type SignIn } from "./sign-in.ts";

const open: (Server | SignIn)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** A service that gives a key for the one code that it gave out, and only to who began the sign-in. */
async function service(): Promise<string> {
  let challenge = "";
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://here");
    if (url.pathname === "/auth") {
      challenge = url.searchParams.get("code_challenge") ?? "";
      const back = new URL(url.searchParams.get("callback_url") ?? "");
      back.searchParams.set("code", "the-code");
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    let text = "";
    for await (const piece of request) text += piece;
    const { code, code_verifier: verifier } = JSON.parse(text);
    const isOurs = createHash("sha256").update(verifier).digest("base64url") === challenge;
    response.writeHead(code === "the-code" && isOurs ? 200 : 403, { "content-type": "application/json" });
    response.end(JSON.stringify(code === "the-code" && isOurs ? { key: "sk-or-v1-got" } : { error: {} }));
  });
  open.push(server);
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

async function begin(): Promise<SignIn> {
  const signIn = await openLogin(await service());
  open.push(signIn);
  return signIn;
}

describe("signing in with a browser", () => {
  it("P19 leads a browser here to the service and back, and gets a key for the code that it brings", async () => {
    const signIn = await begin();
    expect(await (await fetch(signIn.shortAddress)).text()).toContain("You can close this page");
    expect(await signIn.keyFor(await signIn.code)).toBe("sk-or-v1-got");
  });

  it("P19 takes the address that a browser on another machine ended at, or its code alone", async () => {
    const signIn = await begin();
    const { headers } = await fetch(signIn.address, { redirect: "manual" });
    expect(await signIn.keyFor(` ${headers.get("location")}\n`)).toBe("sk-or-v1-got");
    expect(await signIn.keyFor("the-code")).toBe("sk-or-v1-got");
  });

  it("P19 gives no key for another code, nor to somebody who did not begin it", async () => {
    const signIn = await begin();
    await fetch(signIn.address, { redirect: "manual" });
    await expect(signIn.keyFor("another-code")).rejects.toThrow("gave no key for this code (HTTP 403)");
    const other = await begin();
    await expect(other.keyFor("the-code")).rejects.toThrow("HTTP 403");
  });
});
