import { createHash, randomBytes } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { entriesOf } from "@burin/machine/disk/disk-looks";
import { readBytes } from "@burin/machine/disk/regular-file";

/** Far more than skills have; larger ones never count as unchanged, so the user is asked each time. */
const MOST_FILES = 2000;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_DEPTH = 12;
/** Enough digits of a SHA-256 to make a second text with them infeasible. */
const SHOWN_DIGITS = 32;

/** One sentence without a subject for each, with a fingerprint: about a changed text the user is asked again. */
export function definitionEffects(folder: string): string[] {
  return [
    ...markdownIn(join(folder, "agents")).map((at) => named("use its subagent", at)),
    ...namesIn(join(folder, "skills")).map((at) => named("tell the model of its skill", at)),
    ...markdownIn(join(folder, "commands")).map((at) => named("offer its command", at)),
  ];
}

/** The same for skills shared with other agents, which have folders of their own below the root. */
export function sharedSkillEffects(root: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    namesIn(join(root, folder)).map(({ name, path }) =>
      named("tell the model of its skill", { name: `${folder}/${name}`, path }),
    ),
  );
}

/** The project's files that these commands mention: a changed file would do something else. */
export function scriptEffects(root: string, effects: readonly string[]): string[] {
  const real = realpathSync(root);
  const running = effects.filter((effect) => /^(?:run|start)\b/.test(effect));
  const files = new Set(running.flatMap((effect) => filesNamed(real, effect)));
  return [...files].map((file) => `use ${JSON.stringify(file)} for it (${fingerprint(join(real, file))})`);
}

/** As counted from the folder of the project. What runs may go into any folder that it names. */
function filesNamed(root: string, effect: string): string[] {
  const quoted = [...effect.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, one, other]) => one ?? other ?? "");
  const words = [...effect.split(/[\s"'`=;|&()<>,:]+/), ...quoted].filter(Boolean);
  const places = (from: string, isFolder: boolean) =>
    words.flatMap((word) => placeInside(root, { place: resolve(from, word), isFolder }));
  const files = [root, ...places(root, true)].flatMap((from) => places(from, false));
  return files.map((file) => relative(root, file));
}

/** Where a file or folder of the project really is; nothing where there is none. */
function placeInside(root: string, { place, isFolder }: { place: string; isFolder: boolean }): string[] {
  try {
    const real = realpathSync(place);
    return statSync(real).isDirectory() === isFolder && real.startsWith(root + sep) ? [real] : [];
  } catch {
    return [];
  }
}

interface Place {
  readonly name: string;
  readonly path: string;
}

function markdownIn(folder: string): Place[] {
  const files = namesIn(folder).filter(({ name }) => name.endsWith(".md"));
  return files.map(({ name, path }) => ({ name: name.slice(0, -3), path }));
}

function namesIn(folder: string): Place[] {
  const names = entriesOf(folder).map(({ name }) => name);
  return names.sort().map((name) => ({ name, path: join(folder, name) }));
}

function named(what: string, { name, path }: Place): string {
  return `${what} ${JSON.stringify(name)} (${fingerprint(path)})`;
}

/** Of a file, or of everything in a folder. */
function fingerprint(path: string): string {
  const hash = createHash("sha256");
  try {
    addTo(hash, { path, depth: 0 }, { files: MOST_FILES, bytes: MOST_BYTES });
    return `text ${hash.digest("hex").slice(0, SHOWN_DIGITS)}`;
  } catch {
    return `cannot be checked, so this is asked about each time: ${randomBytes(8).toString("hex")}`;
  }
}

type Hash = ReturnType<typeof createHash>;

/** Names and lengths are included, so that different folders differ. Links count as what they point to. */
function addTo(
  hash: Hash,
  { path, depth }: { readonly path: string; readonly depth: number },
  left: { files: number; bytes: number },
): void {
  left.files -= 1;
  if (left.files < 0 || depth > MOST_DEPTH) throw new Error("more than can be checked");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    for (const { name, path: inner } of namesIn(path)) {
      hash.update(`${JSON.stringify(name)}\n`);
      addTo(hash, { path: inner, depth: depth + 1 }, left);
    }
    hash.update("end\n");
    return;
  }
  const bytes = stats?.isFile() ? readBytes(path, left.bytes) : null;
  left.bytes -= bytes?.length ?? 0;
  hash.update(bytes === null ? "nothing\n" : `${bytes.length} ${stats ? stats.mode & 0o111 : 0}\n`);
  if (bytes !== null) hash.update(bytes);
}
