// The least that a server of the protocol's own library can do to read a file safely: where the path really leads is
// inside the folder, and what was opened is a file. bench/serve.mjs shows how far above the echo that alone is.
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, sep } from "node:path";

/** Only compared with: what Burin itself uses of it stands in one place. */
const SDK = "@modelcontextprotocol/server";
const { Server } = await import(SDK);
const { StdioServerTransport } = await import(`${SDK}/stdio`);
const root = realpathSync(dirname(process.argv[2] ?? ""));
const server = new Server({ name: "least", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(
  "tools/call",
  (/** @type {{ params: { arguments: { file_path: string } } }} */ { params }) => {
    const real = realpathSync.native(params.arguments.file_path);
    if (!real.startsWith(root + sep)) throw new Error(`${real} is outside ${root}.`);
    const descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) throw new Error(`${real} is not a file.`);
      const bytes = Buffer.alloc(stats.size);
      readSync(descriptor, bytes, 0, stats.size, 0);
      return { content: [{ type: "text", text: bytes.toString("utf8") }] };
    } finally {
      closeSync(descriptor);
    }
  },
);
await server.connect(new StdioServerTransport());
