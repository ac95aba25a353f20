// The built site on this computer, as any server of static files gives it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** @param {string} folder @returns {Promise<{ url: string, close: () => void }>} */
export async function serveFiles(folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    const file = join(folder, extname(name) === "" ? `${name}.html` : name);
    const type = TYPES[/** @type {keyof typeof TYPES} */ (extname(file))] ?? "application/octet-stream";
    try {
      const content = await readFile(file);
      response.writeHead(200, { "content-type": type }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
