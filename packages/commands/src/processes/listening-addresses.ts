import { readdirSync } from "node:fs";
import { orElse } from "@burin/contract/or-else";
import { linkTarget } from "@burin/files/disk/disk-looks";
import { type ProcessEntry, socketTable } from "./process-table.ts";

const LISTENING = "0A";

/** Returns where the processes wait for connections, as the kernel knows it; on Linux only. */
export function listeningAddresses(processes: readonly ProcessEntry[]): readonly string[] {
  const tables = new Map<string, ReadonlyMap<string, string>>();
  const found = processes.flatMap(({ pid }) => {
    const network = linkTarget(`/proc/${pid}/ns/net`);
    if (network === undefined) return [];
    const table = tables.get(network) ?? listeningSockets(pid);
    tables.set(network, table);
    const folder = `/proc/${pid}/fd`;
    const links = orElse([], () => readdirSync(folder)).map((name) => linkTarget(`${folder}/${name}`) ?? "");
    return links.flatMap((link) => table.get(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "") ?? []);
  });
  return [...new Set(found)].sort();
}

/** The addresses by the number of their socket, in the network of that process. */
function listeningSockets(pid: number): ReadonlyMap<string, string> {
  const lines = ["tcp", "tcp6"].flatMap((kind) => socketTable(pid, kind).trim().split("\n").slice(1));
  return new Map(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === LISTENING)
      .map((fields) => [fields[9] ?? "", addressOf(fields[1] ?? "")]),
  );
}

/** The kernel writes each 32 bits of an address in the order of this machine's bytes. */
function addressOf(text: string): string {
  const [address = "", port = ""] = text.split(":");
  return `${hostOf(address)}:${Number.parseInt(port, 16)}`;
}

function hostOf(address: string): string {
  if (/^0+$/.test(address)) return "*";
  const words = (address.match(/.{8}/g) ?? []).map((word) => (word.match(/../g) ?? []).reverse().join(""));
  const bytes = words.join("");
  if (bytes.length === 8)
    return (bytes.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join(".");
  if (/^0{31}1$/.test(bytes)) return "[::1]";
  return `[${(bytes.match(/.{4}/g) ?? []).join(":")}]`;
}
