// A small MCP server on stdio with two tools: `note` says its text again, or shows the PNG that it is, `ask` asks the user for what its form holds.
import { createInterface } from "node:readline";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "As it stands on the ticket.", minLength: 2 },
    seats: { type: "integer", title: "Seats", default: 1, minimum: 1, maximum: 9 },
    class: { type: "string", title: "Class", enum: ["first", "second"], enumNames: ["First", "Second"] },
    meals: {
      type: "array",
      title: "Meals",
      items: {
        anyOf: [
          { const: "b", title: "Breakfast" },
          { const: "d", title: "Dinner" },
        ],
      },
    },
    window: { type: "boolean", title: "At the window", default: true },
    mail: { type: "string", title: "Mail", format: "email" },
  },
  required: ["name", "class"],
};
const tools = [
  {
    name: "note",
    description: "Says it again.",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
  { name: "ask", description: "Books a seat.", inputSchema: { type: "object", properties: {} } },
];

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
/** @param {unknown} id @param {unknown} said */
const answer = (id, said) =>
  send({
    id,
    result: { content: [{ type: "text", text: typeof said === "string" ? said : JSON.stringify(said) }] },
  });

/** @type {unknown} The call that waits for the user. */
let waiting = null;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    const serverInfo = { name: "asking", version: "1" };
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call" && params.arguments.text?.startsWith("data:")) {
    const [, data] = params.arguments.text.split(",");
    send({ id, result: { content: [{ type: "image", data, mimeType: "image/png" }] } });
  } else if (method === "tools/call" && params.name === "note") answer(id, params.arguments.text);
  else if (method === "tools/call") {
    waiting = id;
    send({
      id: "asked",
      method: "elicitation/create",
      params: { mode: "form", message: "Whose seat is it, and where?", requestedSchema: SCHEMA },
    });
  } else if (id === "asked") answer(waiting, result);
  else if (id !== undefined && method !== undefined) send({ id, result: {} });
});
