import { dirname, join } from "node:path";
import { GitWork } from "@burin/commands/git/git-work";
import { orElse } from "@burin/contract/or-else";
import { randomName } from "@burin/files/disk/random-name";
import { findRepository } from "@burin/files/tree";
import type { Content } from "./content.ts";
import type { FileChange } from "./journal-line.ts";
import { KeptContents } from "./kept-contents.ts";

interface BlobPlace {
  readonly folder: string;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Writes what git has of these changes to the store. Returns the names of the kept files by git's ids. */
export function readBlobs(
  changes: readonly FileChange[],
  { folder, root, environment }: BlobPlace,
): ReadonlyMap<string, string> {
  const kept = new KeptContents(folder);
  const names = new Map<string, string>();
  for (const [top, contents] of byRepository(changes, root)) {
    const repository = findRepository(top);
    if (repository === null) continue;
    const git = new GitWork(repository, { roots: [root], environment, passEnvironment: [] });
    const sizes = new Map(contents.map(({ git: id = "", bytes }) => [id, bytes]));
    const blobs = [...sizes].map(([id, bytes]) => ({ id, bytes }));
    const take = (id: string, bytes: Buffer) => {
      const whole = withSize(bytes, sizes.get(id) ?? 0);
      if (whole !== null) names.set(id, kept.put(whole));
    };
    const large = (id: string) => {
      const name = `kept-${randomName(8)}`;
      names.set(id, name);
      return join(folder, name);
    };
    git.readBlobs(blobs, { take, fileFor: large });
  }
  return names;
}

function byRepository(changes: readonly FileChange[], root: string): Map<string, Content[]> {
  const found = new Map<string, Content[]>();
  const tops = new Map<string, string>();
  for (const { file, before, after } of changes) {
    const folder = dirname(file);
    const top = tops.get(folder) ?? orElse(null, () => findRepository(folder)?.top) ?? root;
    tops.set(folder, top);
    const contents = [before, after].filter((one): one is Content => one?.git !== undefined);
    const known = found.get(top);
    if (known === undefined) found.set(top, contents);
    else known.push(...contents);
  }
  return found;
}

const [RETURN, NEWLINE] = [0x0d, 0x0a];

/** Git may store a file with other line ends: then all of them are. null when that does not give the size. */
function withSize(bytes: Buffer, size: number): Buffer | null {
  if (bytes.length === size) return bytes;
  const lines = bytes.filter((byte) => byte === NEWLINE).length;
  if (bytes.length + lines !== size || bytes.includes(RETURN)) return null;
  return Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1");
}
