// An MCP server without any library: one JSON message a line, in on stdin and out on stdout.
import { createInterface } from "node:readline";

const TOOLS = [
  {
    name: "count_words",
    description: "Counts the words of a text.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
];

/** @type {Record<string, (params: any) => object>} */
const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "words", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ arguments: { text } }) => ({
    content: [{ type: "text", text: `${text.split(/\s+/).filter(Boolean).length} words` }],
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  // A message without an id is a notification and gets no answer.
  if (id === undefined) return;
  const answer = METHODS[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: `no ${method}` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
});
