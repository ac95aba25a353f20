// A model service in a process of its own: it asks for the same file again and again, then ends the turn.
import { createServer } from "node:http";

const [turns = "0", file = ""] = process.argv.slice(2);

/** @param {object} delta @param {string | null} reason */
function chunk(delta, reason = null) {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices })}\n\n`;
}

/** @param {object} usage */
function counted(usage) {
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

let asked = 0;
let firstBytes = 0;
const server = createServer((request, response) => {
  let bytes = 0;
  let start = "";
  request.on("data", (piece) => {
    bytes += piece.length;
    if (start.length < 400) start += piece.toString("latin1");
  });
  request.on("end", () => {
    if (request.url === "/first") {
      response.end(String(firstBytes));
      return;
    }
    firstBytes ||= bytes;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = counted({ prompt_tokens: Math.ceil(bytes / 4), completion_tokens: 30 });
    // A request without tools asks for a summary.
    const wantsSummary = !start.includes('"tools"');
    if (wantsSummary || asked === Number(turns)) {
      if (!wantsSummary) asked = 0;
      response.end(chunk({ role: "assistant", content: "All is well." }) + chunk({}, "stop") + usage);
      return;
    }
    asked += 1;
    // Every other line, so that no two neighbouring calls are the same.
    const args = JSON.stringify({ absolute_path: file, offset: asked % 2, limit: 2000 });
    const call = {
      index: 0,
      id: `call_${asked}`,
      type: "function",
      function: { name: "read_file", arguments: args },
    };
    response.end(
      chunk({ role: "assistant", content: "Reading.", tool_calls: [call] }) + chunk({}, "tool_calls") + usage,
    );
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.on("disconnect", () => process.exit());
