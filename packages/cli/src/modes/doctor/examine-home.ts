import { accessSync, constants, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "@burin/core";
import { type Finding, findings } from "./finding.ts";

const { ok, warn, fail } = findings("home");

/** Whether the user's data can be stored, and whether other users can read it. */
export function examineHome(home: string): Finding {
  try {
    const place = nearest(home);
    if (!statSync(place).isDirectory()) return fail(`${home} cannot be used: ${place} is not a folder.`);
    accessSync(place, constants.W_OK | constants.X_OK);
    if (place !== home) return ok(`${home} does not exist yet; it is created when it is needed.`);
    const open = process.platform === "win32" ? [] : readableByOthers(home);
    if (open.length === 0) return ok(`${home} can be written, and only by you.`);
    return warn(`Other users can read ${open.join(", ")}: chmod -R go-rwx ${home}`);
  } catch (error) {
    return fail(`${home} cannot be written: ${messageOf(error)}`);
  }
}

/** The folder itself, or the nearest existing one above it; a link that leads nowhere is not one. */
function nearest(folder: string): string {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

/** In a folder that only its owner can enter, the files are safe; a file that is shared on purpose is a link. */
function readableByOthers(home: string): string[] {
  const isOpen = (path: string) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
  if (!isOpen(home)) return [];
  const files = readdirSync(home).filter((name) => name.endsWith(".json") && isOpen(join(home, name)));
  return [home, ...files];
}
