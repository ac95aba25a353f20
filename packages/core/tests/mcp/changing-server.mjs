// A small MCP server whose tools change. `versions.json` in its folder has the lists that it may offer, `version` the
// number of the one that counts, and `called` gets that number with each call.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , mode = "plain"] = process.argv;
/** @type {Record<string, unknown>[][]} */
const versions = JSON.parse(readFileSync("versions.json", "utf8"));
const version = () => (existsSync("version") ? Number(readFileSync("version", "utf8")) : 0);

/** @param {string} path @returns {number} */
function count(path) {
  appendFileSync(path, ".");
  return readFileSync(path, "utf8").length;
}

count("starts");

/** @param {Record<string, unknown>} message */
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** @param {{ cursor?: string }} params */
function list({ cursor }) {
  const lists = count("lists");
  const tools = versions[mode === "alternates" ? (lists - 1) % versions.length : version()] ?? [];
  if (mode !== "pages") return { tools };
  const at = Number(cursor ?? 0);
  return { tools: tools.slice(at, at + 1), ...(at + 1 < tools.length ? { nextCursor: `${at + 1}` } : {}) };
}

/** @param {{ name: string, arguments?: { become?: number, silently?: boolean, text?: string } }} params */
function call({ arguments: { become, silently, text } = {} }) {
  appendFileSync("called", `${version()}\n`);
  if (text === "die" && !existsSync("died")) {
    writeFileSync("died", "");
    process.exit(7);
  }
  if (become !== undefined) writeFileSync("version", String(become));
  if (become !== undefined && !silently) say({ method: "notifications/tools/list_changed" });
  return { content: [{ type: "text", text: `answered as version ${version()}` }] };
}

/** @type {Record<string, (params: any) => object>} */
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "changing", version: "1" },
  }),
  "tools/list": list,
  "tools/call": call,
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id !== undefined) say({ id, result: answers[method]?.(params) ?? {} });
});
