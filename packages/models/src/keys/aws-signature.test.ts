import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { closeServers, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { chooseModel } from "../choice/choose-model.ts";
import { openModel } from "../choice/open-model.ts";
import { signHeaders } from "./aws-signature.ts";

afterEach(closeServers);

/** From Amazon's own examples for version 4 (aws-sig-v4-test-suite). */
const KEYS = { id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const PLACE = { service: "service", region: "us-east-1", at: new Date("2015-08-30T12:36:00Z") };

describe("P36 a request to Amazon's cloud is signed", () => {
  it.each([
    ["get-vanilla", "GET", "/", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["post-vanilla", "POST", "/", {}, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    [
      "get-vanilla-query-order-key-case",
      "GET",
      "/?Param2=value2&Param1=value1",
      {},
      "",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "post-x-www-form-urlencoded",
      "POST",
      "/",
      { "Content-Type": "application/x-www-form-urlencoded" },
      "Param1=value1",
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ],
  ])("as in the example %s", (...[, method, path, headers, text, signature]) => {
    const url = new URL(path, "https://example.amazonaws.com");
    const body = text === "" ? [] : [Buffer.from(text.slice(0, 4)), Buffer.from(text.slice(4))];
    const { authorization } = signHeaders({ url, method, headers, body }, KEYS, PLACE);
    expect(authorization).toContain("Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ");
    expect(authorization?.split("Signature=")[1]).toBe(signature);
  });
});

describe("P54 Bedrock without a bearer token", () => {
  async function ask(environment: NodeJS.ProcessEnv) {
    const server = await serve({ text: "ok" });
    const model = { provider: "bedrock", name: "m", baseUrl: server.baseUrl } as const;
    const choice = chooseModel({ model }, { AWS_REGION: "eu-west-1", ...environment });
    if (choice === null) throw new Error("no choice");
    const events = await readAll(openModel({ ...choice, environment }));
    return { headers: server.requests[0]?.headers, last: events.at(-1) };
  }

  it("signs with the keys of the environment, a session's token too", async () => {
    const { headers, last } = await ask({
      AWS_ACCESS_KEY_ID: "AKID",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_SESSION_TOKEN: "token",
    });
    expect(last).toMatchObject({ reason: "stop" });
    expect(headers?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(headers?.["x-amz-security-token"]).toBe("token");
  });

  it("signs with the keys of the named profile, before those of the environment", async () => {
    const HOME = createTemporaryFolder();
    await mkdir(join(HOME, ".aws"));
    const profiles = ["default", "work"].map(
      (name) => `[${name}]\naws_access_key_id = AKID-${name}\naws_secret_access_key=s\n`,
    );
    await writeFile(join(HOME, ".aws/credentials"), profiles.join("\n"));
    const keys = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret" };
    expect((await ask({ HOME })).headers?.authorization).toContain("Credential=AKID-default/");
    expect((await ask({ HOME, ...keys, AWS_PROFILE: "work" })).headers?.authorization).toContain(
      "Credential=AKID-work/",
    );
  });

  it("says what to set where there are no keys, and sends nothing", async () => {
    const { headers, last } = await ask({ HOME: createTemporaryFolder() });
    expect(headers).toBeUndefined();
    expect(last).toMatchObject({ error: { type: "unauthorized" } });
    expect(JSON.stringify(last)).toContain("AWS_ACCESS_KEY_ID");
  });
});
