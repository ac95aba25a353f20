import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Ground } from "../ground.ts";
import { Place } from "./place.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { tellOfChanges, toolServer } from "./tool-server.ts";

export type { Ground, OpenedFolder } from "../ground.ts";

/** Serves the client at the other end of stdin and stdout until it disconnects or the user interrupts. */
export async function serveMcp(ground: Ground): Promise<void> {
  const place = new Place(ground);
  const { version, signal, isRootFixed } = ground;
  await new Promise<void>((resolve) => {
    const transport = new StdioTransport(process.stdin, process.stdout, resolve);
    const heedsRoots = !isRootFixed;
    const serverFor = () => {
      const server = toolServer({ version, place, heedsRoots });
      tellOfChanges(server, place);
      return server;
    };
    serveStdio(serverFor, {
      transport,
      onerror: (error) => ground.note(error.message),
    });
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await place.close();
}
