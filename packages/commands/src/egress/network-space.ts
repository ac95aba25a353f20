import { closeSync, openSync } from "node:fs";
import type { Server as NetServer } from "node:net";
import { findHelper } from "../processes/helper-program.ts";
import { receiveListener } from "../processes/run-process.ts";
import type { CommandSpace } from "../sandbox/sandbox.ts";

/** A network namespace with no way out, and the one socket in it on which this process listens. */
export interface NetworkNamespace {
  readonly listener: NetServer;
  /** The port of the socket, on the loopback of the namespace. */
  readonly port: number;
  /** The words that start a program in the namespace. */
  readonly enter: readonly string[];
  close(): void;
}

/** The program that runs inside the namespace until it has passed the socket on. */
const LISTEN_SCRIPT = `const server = require("node:net").createServer();
server.listen(0, "127.0.0.1", () => process.send({ pid: process.pid, port: server.address().port }, server));
process.on("disconnect", () => process.exit());`;

/** Puts the socket into the network that the commands of a session share. */
export async function openInSharedNamespace(space: CommandSpace): Promise<NetworkNamespace> {
  const [nsenter, ...words] = space.enter(false, [process.execPath, "-e", LISTEN_SCRIPT]);
  const { listener, message, letGo } = await receiveListener(nsenter, words);
  await letGo();
  return { listener, port: (message as { port: number }).port, enter: [], close: () => listener.close() };
}

/**
 * Creates the namespace. No process of ours stays in it: it hands its socket to this process, and open descriptors keep
 * the namespace alive. Rejects when this system does not allow that.
 */
export async function openNetworkNamespace(
  path: string | undefined,
  isRoot = process.getuid?.() === 0,
): Promise<NetworkNamespace> {
  const [bubblewrap, nsenter] = ["bwrap", "nsenter"].map((name) => findHelper(name, path));
  if (!bubblewrap || !nsenter) throw new Error("bwrap and nsenter are needed for a network of its own");
  const spaces = [...(isRoot ? [] : ["--unshare-user"]), "--unshare-net", "--cap-drop", "ALL"];
  const words = [
    ...spaces,
    "--dev-bind",
    "/",
    "/",
    "--die-with-parent",
    "--",
    process.execPath,
    "-e",
    LISTEN_SCRIPT,
  ];
  const { listener, message, letGo } = await receiveListener(bubblewrap, words);
  const open: number[] = [];
  const close = () => {
    listener.close();
    for (const descriptor of open.splice(0)) closeSync(descriptor);
  };
  try {
    const { pid, port } = message as { pid: number; port: number };
    const openNamespace = (kind: string) => {
      const descriptor = openSync(`/proc/${pid}/ns/${kind}`, "r");
      open.push(descriptor);
      return `--${kind}=/proc/${process.pid}/fd/${descriptor}`;
    };
    const users = isRoot ? [] : ["--preserve-credentials", openNamespace("user")];
    const enter = [nsenter, ...users, openNamespace("net"), "--"];
    await letGo();
    return { listener, port, enter, close };
  } catch (error) {
    close();
    throw error;
  }
}
