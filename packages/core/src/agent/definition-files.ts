import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@burin/contract/text/error-message";
import { readText } from "@burin/machine/disk/regular-file";
import type { FrontMatter } from "./front-matter.ts";

/** What a person wrote into a Markdown file for the agent to use: a subagent, a skill, a command. */
export interface DefinitionFile extends FrontMatter {
  /** The file's name without its ending. */
  readonly name: string;
  readonly path: string;
}

/** What files define, and what is wrong with those that define nothing. */
export interface Defined<Thing> {
  readonly found: readonly Thing[];
  readonly problems: readonly string[];
}

interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  /** Files that cannot be used, and why, in words. */
  readonly problems: readonly string[];
}

const MOST_FILES = 200;
const MOST_BYTES = 256 * 1024;

/**
 * What the files in these folders define; a later one of the same name wins. `make` throws what is wrong with a
 * file, as the end of a sentence that begins with its path; it harms no other.
 */
export async function definedIn<Thing extends { readonly name: string }>(
  folders: readonly string[],
  read: (folder: string) => Promise<DefinitionFiles>,
  make: (file: DefinitionFile) => Thing,
): Promise<Defined<Thing>> {
  const found = new Map<string, Thing>();
  const problems: string[] = [];
  for (const folder of folders) {
    const { files, problems: unread } = await read(folder);
    problems.push(...unread);
    for (const file of files) {
      try {
        const thing = make(file);
        found.set(thing.name, thing);
      } catch (error) {
        problems.push(`${file.path} ${messageOf(error)}.`);
      }
    }
  }
  return { found: [...found.values()], problems };
}

/** The Markdown files right in a folder, by name. A folder that is not there holds none. */
export async function definitionFiles(folder: string): Promise<DefinitionFiles> {
  const names = await namesIn(folder);
  const paths = names
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({ name: name.slice(0, -3), path: join(folder, name) }));
  return readAll(paths);
}

/** The files of one name in the folders right below a folder, each called after its folder. */
export async function definitionFolders(folder: string, fileName: string): Promise<DefinitionFiles> {
  const names = await namesIn(folder);
  return readAll(names.map((name) => ({ name, path: join(folder, name, fileName) })));
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.sort().slice(0, MOST_FILES);
}

async function readAll(
  places: readonly { readonly name: string; readonly path: string }[],
): Promise<DefinitionFiles> {
  const files: DefinitionFile[] = [];
  const problems: string[] = [];
  if (places.length === 0) return { files, problems };
  const { frontMatter } = await import("./front-matter.ts");
  for (const { name, path } of places) {
    try {
      const text = readText(path, MOST_BYTES);
      if (text !== null) files.push({ name, path, ...frontMatter(text) });
    } catch (error) {
      problems.push(`${path} cannot be used: ${messageOf(error)}`);
    }
  }
  return { files, problems };
}
