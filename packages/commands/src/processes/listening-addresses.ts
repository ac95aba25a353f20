import { readdirSync } from "node:fs";
import { withFallback } from "@burin/contract/with-fallback";
import { tryReadLink } from "@burin/files/disk/disk-looks";
import { type ProcessEntry, readSocketTable } from "./process-table.ts";

const LISTENING = "0A";

/** Returns the addresses at which the processes wait for connections, as the kernel reports them; on Linux only. */
export function listListeningAddresses(processes: readonly ProcessEntry[]): readonly string[] {
  const tables = new Map<string, ReadonlyMap<string, string>>();
  const found = processes.flatMap(({ pid }) => {
    const network = tryReadLink(`/proc/${pid}/ns/net`);
    if (network === undefined) return [];
    const table = tables.get(network) ?? listListeningSockets(pid);
    tables.set(network, table);
    const folder = `/proc/${pid}/fd`;
    const links = withFallback([], () => readdirSync(folder)).map(
      (name) => tryReadLink(`${folder}/${name}`) ?? "",
    );
    return links.flatMap((link) => table.get(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "") ?? []);
  });
  return [...new Set(found)].sort();
}

/** Returns the addresses by the number of their socket, in the network of that process. */
function listListeningSockets(pid: number): ReadonlyMap<string, string> {
  const lines = ["tcp", "tcp6"].flatMap((kind) => readSocketTable(pid, kind).trim().split("\n").slice(1));
  return new Map(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === LISTENING)
      .map((fields) => [fields[9] ?? "", parseAddress(fields[1] ?? "")]),
  );
}

/** The kernel writes each 32 bits of an address in the order of this machine's bytes. */
function parseAddress(text: string): string {
  const [address = "", port = ""] = text.split(":");
  return `${parseHost(address)}:${Number.parseInt(port, 16)}`;
}

function parseHost(address: string): string {
  if (/^0+$/.test(address)) return "*";
  const words = (address.match(/.{8}/g) ?? []).map((word) => (word.match(/../g) ?? []).reverse().join(""));
  const bytes = words.join("");
  if (bytes.length === 8)
    return (bytes.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join(".");
  if (/^0{31}1$/.test(bytes)) return "[::1]";
  return `[${(bytes.match(/.{4}/g) ?? []).join(":")}]`;
}
