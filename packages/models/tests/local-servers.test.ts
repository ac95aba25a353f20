import { createServer, type RequestListener, type Server } from "node:http";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { afterEach, describe, expect, it } from "vitest";
import { findLocalServers, reachModel } from "../src/choice/reach-model.ts";

const NEVER = new AbortController().signal;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  servers.push(server);
  return listenOnFreePort(server);
}

function saying(body: string, status = 200): RequestListener {
  return (request, response) => {
    response.writeHead(request.url === "/v1/models" ? status : 404);
    response.end(body);
  };
}

async function found(answer: RequestListener) {
  return findLocalServers(NEVER, [{ name: "x", port: await listen(answer) }]);
}

describe("the local model servers", () => {
  it("are found in the order of the list with their first models", async () => {
    const models = ["a", "b", "c", "d", "e", "f"].map((id) => ({ id }));
    const one = await listen(saying(JSON.stringify({ object: "list", data: models })));
    const two = await listen(saying('{"data":[]}'));
    const ports = [
      { name: "One", port: one },
      { name: "Two", port: two },
    ];
    expect(await findLocalServers(NEVER, ports)).toEqual([
      { name: "One", baseUrl: `http://127.0.0.1:${one}/v1`, models: ["a", "b", "c", "d", "e"] },
      { name: "Two", baseUrl: `http://127.0.0.1:${two}/v1`, models: [] },
    ]);
  });

  it("count also without a single model, and names that would disturb a terminal are left out", async () => {
    expect(await found(saying('{"object":"list","data":null}'))).toMatchObject([{ models: [] }]);
    expect(await found(saying('{"data":[{"id":"\\u001b[2J"},{"id":7},null,{"id":"ok"}]}'))).toMatchObject([
      { models: ["ok"] },
    ]);
  });

  it.each<[string, RequestListener]>([
    ["a web page", saying("<html></html>")],
    ["other JSON", saying('{"hello":"world"}')],
    ["a list", saying("[]")],
    ["an error", saying('{"data":[]}', 401)],
    ["a redirect", (_request, response) => response.writeHead(302, { location: "/v1/models" }).end()],
    ["silence", () => undefined],
    ["a broken connection", (request) => request.socket.destroy()],
    ["an answer without end", (_request, response) => response.write('{"data":[')],
    ["far too much", saying(`{"data":[],"x":"${"x".repeat(2_000_000)}"}`)],
  ])("are not seen in %s", async (_title, answer) => {
    expect(await found(answer)).toEqual([]);
  });

  it("are none where nothing listens or the search was called off", async () => {
    const port = await listen(saying('{"data":[]}'));
    expect(await findLocalServers(AbortSignal.abort(), [{ name: "x", port }])).toEqual([]);
    for (const server of servers) server.close();
    expect(await findLocalServers(NEVER, [{ name: "x", port }])).toEqual([]);
  });
});

describe("P36 a service that is asked for its models and cannot be", () => {
  it("gets the words that a prompt would get, with what to do", async () => {
    const port = await listen(saying("{}"));
    for (const [baseUrl, apiKey, words] of [
      [`https://127.0.0.1:${port}/v1`, "k", /does not speak TLS.*http:\/\//],
      ["http://127.0.0.1:9/v1", "k", /Nothing answers at 127\.0\.0\.1:9: is the model server started/],
      [`http://127.0.0.1:${port}/v1`, '"sk-quoted"', /The API key holds .*a quote/],
      [`http://127.0.0.1:${port}/v1`, "Bearer sk", /The API key holds a space/],
      ["no address", "k", /Invalid URL/],
    ] as const) {
      const reached = await reachModel({ provider: "openai", name: "m", baseUrl, apiKey }, NEVER);
      expect("fault" in reached && reached.fault).toMatch(words);
    }
  });
});
