import { dirname, join } from "node:path";
import { GitWork } from "@burin/commands/git/git-work";
import { withFallback } from "@burin/contract/with-fallback";
import { randomName } from "@burin/files/disk/own-files";
import { findRepository } from "@burin/files/tree";
import type { Content } from "./content.ts";
import type { FileChange } from "./journal-line.ts";
import { StoredContents } from "./kept-contents.ts";

interface BlobOptions {
  readonly folder: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Copies those contents of the changes that git has to the store. Returns the stored files' names by git's ids. */
export function storeGitBlobs(
  changes: readonly FileChange[],
  { folder, root, environment }: BlobOptions,
): ReadonlyMap<string, string> {
  const kept = new StoredContents(folder);
  const names = new Map<string, string>();
  for (const [top, contents] of groupByRepository(changes, root)) {
    const repository = findRepository(top);
    if (repository === null) continue;
    const git = new GitWork(repository, { roots: [root], environment, passEnvironment: [] });
    const sizes = new Map(contents.map(({ git: id = "", bytes }) => [id, bytes]));
    const blobs = [...sizes].map(([id, bytes]) => ({ id, bytes }));
    const storeBlob = (id: string, bytes: Buffer) => {
      const whole = fitLineEnds(bytes, sizes.get(id) ?? 0);
      if (whole !== null) names.set(id, kept.storeBytes(whole));
    };
    const reserveFile = (id: string) => {
      const name = `kept-${randomName(8)}`;
      names.set(id, name);
      return join(folder, name);
    };
    git.readBlobs(blobs, { take: storeBlob, fileFor: reserveFile });
  }
  return names;
}

function groupByRepository(changes: readonly FileChange[], root: string): Map<string, Content[]> {
  const found = new Map<string, Content[]>();
  const tops = new Map<string, string>();
  for (const { file, before, after } of changes) {
    const folder = dirname(file);
    const top = tops.get(folder) ?? withFallback(null, () => findRepository(folder)?.top) ?? root;
    tops.set(folder, top);
    const contents = [before, after].filter((one): one is Content => one?.git !== undefined);
    const known = found.get(top);
    if (known === undefined) found.set(top, contents);
    else known.push(...contents);
  }
  return found;
}

const [RETURN, NEWLINE] = [0x0d, 0x0a];

/** Returns the bytes at this size, if necessary with CRLF line ends; null if the size still does not match. */
function fitLineEnds(bytes: Buffer, size: number): Buffer | null {
  if (bytes.length === size) return bytes;
  const lines = bytes.filter((byte) => byte === NEWLINE).length;
  if (bytes.length + lines !== size || bytes.includes(RETURN)) return null;
  return Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1");
}
