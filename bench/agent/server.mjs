// A model service in a process of its own: it asks for the same file again and again, then ends the turn; where a
// subagent is named by words of its system prompt, it has that one do so.
import { createServer } from "node:http";

const [turns = "0", file = "", subagent = ""] = process.argv.slice(2);

/** @param {object} delta @param {string | null} reason */
function formatChunk(delta, reason = null) {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices })}\n\n`;
}

/** @param {object} usage */
function countUsage(usage) {
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

/** @param {string} name @param {object} args */
function createToolCall(name, args) {
  calls += 1;
  const call = {
    index: 0,
    id: `call_${calls}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
  return (
    formatChunk({ role: "assistant", content: "Reading.", tool_calls: [call] }) +
    formatChunk({}, "tool_calls")
  );
}

let calls = 0;
let asked = 0;
let firstBytes = 0;
const server = createServer((request, response) => {
  let bytes = 0;
  let start = "";
  let isForSubagent = subagent === "";
  let isFollowing = false;
  request.on("data", (piece) => {
    bytes += piece.length;
    const text = piece.toString("latin1");
    if (start.length < 400) start += text;
    isForSubagent ||= text.includes(subagent);
    isFollowing ||= text.includes('"role":"tool"');
  });
  request.on("end", () => {
    if (request.url === "/first") {
      response.end(String(firstBytes));
      return;
    }
    firstBytes ||= bytes;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = countUsage({ prompt_tokens: Math.ceil(bytes / 4), completion_tokens: 30 });
    // A request without tools asks for a summary.
    const wantsSummary = !start.includes('"tools"');
    if (wantsSummary || (isForSubagent ? asked === Number(turns) : isFollowing)) {
      if (!wantsSummary) asked = 0;
      response.end(
        formatChunk({ role: "assistant", content: "All is well." }) + formatChunk({}, "stop") + usage,
      );
      return;
    }
    if (!isForSubagent) {
      const task = { description: "read", prompt: "Read.", subagent_type: "explore" };
      response.end(createToolCall("task", task) + usage);
      return;
    }
    asked += 1;
    // Every other line, so that no two neighbouring calls are the same.
    response.end(
      createToolCall("read_file", { absolute_path: file, offset: asked % 2, limit: 2000 }) + usage,
    );
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.on("disconnect", () => process.exit());
