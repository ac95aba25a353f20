import { basename } from "node:path";

/** The name of a project's folder under `sessions/` and `undo/`: readable, and different for each path. */
export function buildProjectFolderName(root: string): string {
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const readable =
    basename(root)
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .slice(0, 40) || "root";
  return `${readable}-${crc32(root).toString(16).padStart(8, "0")}`;
}
