import { createHash, type Hash, randomBytes } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { ProjectScripts } from "@burin/contract/settings/settings";
import { entriesOf } from "@burin/files/disk/disk-looks";
import { readBytes } from "@burin/files/disk/regular-file";

const MOST_DEPTH = 12;
/** Enough digits of a SHA-256 to make a second text with them infeasible. */
const SHOWN_DIGITS = 32;

/**
 * How much is still looked at of one project: far more than one has, but links can make a small folder endless. What
 * is beyond never counts as unchanged, so the user is asked about it each time.
 */
export function looksLeft() {
  return { files: 10_000, bytes: 64 * 1024 * 1024, places: 20_000 };
}
type LooksLeft = ReturnType<typeof looksLeft>;

/** One sentence without a subject for each, with a fingerprint: about a changed text the user is asked again. */
export function definitionEffects(folder: string, left: LooksLeft): string[] {
  return [
    ...markdownIn(join(folder, "agents")).map((at) => named("use its subagent", at, left)),
    ...namesIn(join(folder, "skills")).map((at) => named("tell the model of its skill", at, left)),
    ...markdownIn(join(folder, "commands")).map((at) => named("offer its command", at, left)),
  ];
}

/** The same for skills shared with other agents, which have a folder of their own below the root. */
export function sharedSkillEffects(root: string, folder: string, left: LooksLeft): string[] {
  return namesIn(join(root, folder)).map(({ name, path }) =>
    named("tell the model of its skill", { name: `${folder}/${name}`, path }, left),
  );
}

/** The project's files that a command mentions: a changed file would do something else. */
export function scriptEffects(root: string, effect: string, left: LooksLeft): string[] {
  return [...filesUsed(root, effect, left).keys()];
}

/** The files by what is said of them. */
function filesUsed(root: string, effect: string, left: LooksLeft): Map<string, string> {
  if (!/^(?:run|start)\b/.test(effect)) return new Map();
  const real = realpathSync(root);
  const uses = new Map<string, string>();
  for (const file of new Set(filesNamed(real, effect, left))) {
    const name = JSON.stringify(file);
    uses.set(`use ${name} for it (${fingerprint(join(real, file), left)})`, name);
  }
  if (left.places <= 0) uses.set(`use files for it that ${uncheckable()}`, "a file that it names");
  return uses;
}

/** Why a file that a project's command or server names is not the one that was trusted, hours ago maybe; or null. */
export function faultSinceTrust(root: string, trusted: ProjectScripts | undefined): string | null {
  if (trusted === undefined) return null;
  const uses = filesUsed(root, trusted.effect, looksLeft());
  const changed = [...uses].find(([use]) => !trusted.uses.includes(use));
  if (changed === undefined && trusted.uses.every((use) => uses.has(use))) return null;
  const [, file] = changed ?? ["", "a file that it names"];
  return `${file} has changed since the folder was trusted: look at it, then run burin trust yes and start again`;
}

/** As counted from the folder of the project. What runs may go into any folder that it names. */
function filesNamed(root: string, effect: string, left: LooksLeft): string[] {
  const quoted = [...effect.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, one, other]) => one ?? other ?? "");
  const words = new Set([...effect.split(/[\s"'`=;|&()<>,:]+/), ...quoted].filter(Boolean));
  const places = (from: string, isFolder: boolean) =>
    [...words].flatMap((word) => {
      left.places -= 1;
      return left.places > 0 ? placeInside(root, { place: resolve(from, word), isFolder }) : [];
    });
  const files = [...new Set([root, ...places(root, true)])].flatMap((from) => places(from, false));
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

function named(what: string, { name, path }: Place, left: LooksLeft): string {
  return `${what} ${JSON.stringify(name)} (${fingerprint(path, left)})`;
}

/** Of a file, or of everything in a folder. */
function fingerprint(path: string, left: LooksLeft): string {
  const hash = createHash("sha256");
  try {
    addTo(hash, { path, depth: 0 }, left);
    return `text ${hash.digest("hex").slice(0, SHOWN_DIGITS)}`;
  } catch {
    return uncheckable();
  }
}

/** A text that is never the same again. */
function uncheckable(): string {
  return `cannot be checked, so this is asked about each time: ${randomBytes(8).toString("hex")}`;
}

/** Names and lengths are included, so that different folders differ. Links count as what they point to. */
function addTo(
  hash: Hash,
  { path, depth }: { readonly path: string; readonly depth: number },
  left: LooksLeft,
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
