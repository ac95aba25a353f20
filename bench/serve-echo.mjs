// The least that a server of the protocol's own library can do: what bench/serve.mjs compares with.
import { readFileSync } from "node:fs";

/** Only compared with: what Burin itself uses of it stands in one place. */
const SDK = "@modelcontextprotocol/server";
const { Server } = await import(SDK);
const { StdioServerTransport } = await import(`${SDK}/stdio`);
const text = readFileSync(process.argv[2] ?? "", "utf8");
const server = new Server({ name: "echo", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text }] }));
await server.connect(new StdioServerTransport());
