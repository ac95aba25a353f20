import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { readText } from "../disk/regular-file.ts";
import { isWithin, isWithinAny } from "../files/paths.ts";
import { lstatOf } from "./sandbox-place.ts";
import type { Survey } from "./sandbox-survey.ts";

/** Of the sockets of the whole machine. */
const MOST_TABLE_BYTES = 64 * 1024 * 1024;

/** How what is protected is mounted. */
export interface ProtectedLayout {
  /** Git folders. They are mounted onto themselves, so that they cannot be renamed out of the way. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
}

export function protectedLayout({ places }: Survey, roots: readonly string[]): ProtectedLayout {
  const all = [...places.values()];
  // What a link points to could be protected, but the link itself could be replaced: then nothing is written.
  const frozen = new Set(
    all.flatMap((one) => (one.part === "git file" && one.kind === "link" ? [dirname(one.path)] : [])),
  );
  const pinned: string[] = [];
  const readOnly: string[] = [];
  for (const { path, part, kind } of all) {
    if (part === "git folder") {
      if (frozen.has(path)) readOnly.push(path);
      else if (basename(path).toLowerCase() === ".git") pinned.push(path);
    } else if (kind !== "link") {
      readOnly.push(path);
    } else {
      const target = targetOf(path);
      if (target !== null && isWithinAny(target, roots) && !roots.includes(target)) readOnly.push(target);
    }
  }
  return { pinned, readOnly: [...new Set(readOnly)].sort() };
}

/**
 * Sockets that programs outside listen on. A read-only mount does not keep a command from talking to them,
 * and some of those programs do whatever they are told.
 */
export function listeningSockets(isCovered: (path: string) => boolean): string[] {
  let table: string;
  try {
    table = readText("/proc/net/unix", MOST_TABLE_BYTES) ?? "";
  } catch {
    return [];
  }
  const paths = new Set(table.split("\n").map((line) => line.slice(line.indexOf(" /") + 1)));
  return [...paths].filter(
    (path) => path.startsWith("/") && !isCovered(path) && lstatOf(path)?.isSocket() === true,
  );
}

/** The real file that names the name servers, where that lies in a hidden folder. */
export function nameServers(hidden: readonly string[]): string | null {
  const real = targetOf("/etc/resolv.conf");
  return real !== null && hidden.some((folder) => isWithin(real, folder)) ? real : null;
}

function targetOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
