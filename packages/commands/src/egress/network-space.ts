import { closeSync, openSync } from "node:fs";
import type { Server as NetServer } from "node:net";
import { findHelper } from "../processes/helper-program.ts";
import { receiveListener } from "../processes/run-process.ts";
import type { CommandSpace } from "../sandbox/sandbox.ts";

/** A network namespace without any way out, and the one socket in it that this process listens on. */
export interface NetworkSpace {
  readonly listener: NetServer;
  /** Of the socket, on the loopback of the namespace. */
  readonly port: number;
  /** The words that start a program in the namespace. */
  readonly enter: readonly string[];
  close(): void;
}

/** Runs inside, and only as long as it takes to hand the socket over. */
const LISTEN = `const server = require("node:net").createServer();
server.listen(0, "127.0.0.1", () => process.send({ pid: process.pid, port: server.address().port }, server));
process.on("disconnect", () => process.exit());`;

/** Puts the socket into the network that the commands of a session share. */
export async function openInSharedSpace(space: CommandSpace): Promise<NetworkSpace> {
  const [nsenter, ...words] = space.enter(false, [process.execPath, "-e", LISTEN]);
  const { listener, message, letGo } = await receiveListener(nsenter, words);
  await letGo();
  return { listener, port: (message as { port: number }).port, enter: [], close: () => listener.close() };
}

/**
 * Makes the namespace. Nothing of ours stays in it: the socket is handed to this process, and open descriptors keep
 * the namespace. Rejects when this system does not allow that.
 */
export async function openNetworkSpace(
  path: string | undefined,
  isRoot = process.getuid?.() === 0,
): Promise<NetworkSpace> {
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
    LISTEN,
  ];
  const { listener, message, letGo } = await receiveListener(bubblewrap, words);
  const open: number[] = [];
  const close = () => {
    listener.close();
    for (const descriptor of open.splice(0)) closeSync(descriptor);
  };
  try {
    const { pid, port } = message as { pid: number; port: number };
    const hold = (kind: string) => {
      const descriptor = openSync(`/proc/${pid}/ns/${kind}`, "r");
      open.push(descriptor);
      return `--${kind}=/proc/${process.pid}/fd/${descriptor}`;
    };
    const users = isRoot ? [] : ["--preserve-credentials", hold("user")];
    const enter = [nsenter, ...users, hold("net"), "--"];
    await letGo();
    return { listener, port, enter, close };
  } catch (error) {
    close();
    throw error;
  }
}
