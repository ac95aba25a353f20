// Many sessions behind one HTTP server, for programs on this computer. Each request needs the token that is printed.
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createSession } from "@burin/core";

/** @type {Map<string, import("@burin/core").Session>} */
const sessions = new Map();
const token = process.env.TOKEN ?? randomBytes(16).toString("hex");

const server = createServer(async (request, response) => {
  const [, first, id = "", action, key = ""] = (request.url ?? "").split("/");
  const session = sessions.get(id);
  const route = `${request.method} /${first}${id && "/:id"}${action ? `/${action}` : ""}`;
  try {
    if (request.headers.authorization !== `Bearer ${token}`) return answer(response, 401, "wrong token");
    if (route === "POST /sessions") return answer(response, 201, { id: openSession() });
    if (session === undefined) return answer(response, 404, "no such session");
    if (route === "POST /sessions/:id/prompts") return await run(session, await text(request), response);
    if (route === "POST /sessions/:id/answers") {
      const fault = session.answer(decodeURIComponent(key), JSON.parse(await text(request)));
      return answer(response, fault === null ? 200 : 409, fault ?? "answered");
    }
    if (route !== "DELETE /sessions/:id") return answer(response, 404, "no such action");
    sessions.delete(id);
    await session.close();
    return answer(response, 200, "closed");
  } catch (error) {
    if (response.headersSent) return response.destroy();
    return answer(response, 400, String(error));
  }
});

function openSession() {
  const id = randomUUID();
  sessions.set(id, createSession({ root: process.cwd(), awaitsAnswers: true }));
  return id;
}

/**
 * One event a line. Who hangs up ends the run.
 * @param {import("@burin/core").Session} session
 * @param {string} prompt
 * @param {import("node:http").ServerResponse} response
 */
async function run(session, prompt, response) {
  const left = new AbortController();
  response.on("close", () => left.abort());
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  for await (const event of session.run(prompt, left.signal)) response.write(`${JSON.stringify(event)}\n`);
  response.end();
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {unknown} value
 */
function answer(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
}

server.listen(Number(process.env.PORT ?? 8123), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  console.log(`http://127.0.0.1:${port} token ${token}`);
});
