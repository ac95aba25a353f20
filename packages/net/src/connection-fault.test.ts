import { once } from "node:events";
import { createServer, get } from "node:https";
import { createServer as createPlainServer } from "node:net";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { CERTIFICATE, KEY } from "@burin/testing/tls-pair";
import { describe, expect, it } from "vitest";
import { describeTlsFault, findInnermostError } from "./connection-fault.ts";

const CA = { ca: CERTIFICATE };

/** What is said of a failed request to a real server. */
async function faultOf(server: ReturnType<typeof createServer>, options: object) {
  const port = await listenOnFreePort(server);
  const request = get({ host: "127.0.0.1", port, agent: false, ...options });
  const [error] = await once(request, "error");
  server.close();
  return describeTlsFault(findInnermostError(error), "PEER");
}

describe("P35 P50 a secure connection that fails says why, and what to do:", () => {
  const paired = { cert: CERTIFICATE, key: KEY };
  it.each<[string, () => ReturnType<typeof createServer>, object, RegExp]>([
    ["a certificate that nobody signed", () => createServer(paired), {}, /not trusted.*NODE_EXTRA_CA_CERTS/],
    [
      "another host",
      () => createServer(paired),
      { ...CA, servername: "other.test" },
      /PEER is for another host/,
    ],
    [
      "versions that do not meet",
      () => createServer({ ...paired, maxVersion: "TLSv1.2" }),
      { ...CA, minVersion: "TLSv1.3" },
      /PEER and this computer have no version of TLS in common/,
    ],
    [
      "a plain server",
      () => createPlainServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")) as never,
      {},
      /PEER does not speak TLS.*http:\/\//,
    ],
  ])("%s", async (...[, serve, options, words]) => {
    expect(await faultOf(serve(), options)).toMatch(words);
  });

  it.each([
    ["CERT_HAS_EXPIRED", /PEER has expired: check the date/],
    ["CERT_NOT_YET_VALID", /PEER is not valid yet: check the date/],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", /each other's certificates/],
  ])("%s", (code, words) => {
    expect(describeTlsFault({ code, message: "x" }, "PEER")).toMatch(words);
  });

  it("nothing, where TLS is not the reason", () => {
    expect(
      describeTlsFault({ code: "ECONNREFUSED", message: "connect ECONNREFUSED" }, "PEER"),
    ).toBeUndefined();
  });
});
