import { createHash, type Hash, randomBytes } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { ProjectScripts } from "@burin/contract/settings/settings";
import { tryReadEntries } from "@burin/files/disk/disk-looks";
import { readBytes } from "@burin/files/disk/regular-file";

const MAX_DEPTH = 12;
/** Enough digits of a SHA-256 that nobody can find a second text with the same digits. */
const SHOWN_DIGITS = 32;

/**
 * Returns how much of one project may still be examined. This is far more than a project has, but links can make a
 * small folder endless. Files beyond it never count as unchanged, so the user is asked about them each time.
 */
export function createLookBudget() {
  return { files: 10_000, bytes: 64 * 1024 * 1024, places: 20_000 };
}
type LookBudget = ReturnType<typeof createLookBudget>;

/** Returns a sentence without a subject for each definition. Its fingerprint makes a changed text a new question. */
export function listDefinitionEffects(folder: string, left: LookBudget): string[] {
  return [
    ...listMarkdownFiles(join(folder, "agents")).map((at) =>
      describeWithFingerprint("use its subagent", at, left),
    ),
    ...listEntries(join(folder, "skills")).map((at) =>
      describeWithFingerprint("tell the model of its skill", at, left),
    ),
    ...listMarkdownFiles(join(folder, "commands")).map((at) =>
      describeWithFingerprint("offer its command", at, left),
    ),
  ];
}

/** Like `listDefinitionEffects`, for skills shared with other agents, which are in a folder of their own below the root. */
export function listSharedSkillEffects(root: string, folder: string, left: LookBudget): string[] {
  return listEntries(join(root, folder)).map(({ name, path }) =>
    describeWithFingerprint("tell the model of its skill", { name: `${folder}/${name}`, path }, left),
  );
}

/** Returns sentences about the project's files that a command mentions: if one changes, so does the command. */
export function listScriptEffects(root: string, effect: string, left: LookBudget): string[] {
  return [...findUsedFiles(root, effect, left).keys()];
}

/** Returns the files that a command mentions, by the sentence about each. */
function findUsedFiles(root: string, effect: string, left: LookBudget): Map<string, string> {
  if (!/^(?:run|start)\b/.test(effect)) return new Map();
  const real = realpathSync(root);
  const uses = new Map<string, string>();
  for (const file of new Set(findNamedFiles(real, effect, left))) {
    const name = JSON.stringify(file);
    uses.set(`use ${name} for it (${computeFingerprint(join(real, file), left)})`, name);
  }
  if (left.places <= 0)
    uses.set(`use files for it that ${createUniqueFingerprint()}`, "a file that it names");
  return uses;
}

/** Returns a message if a file that a trusted command or server names has changed; null otherwise. */
export function findChangeSinceTrust(root: string, trusted: ProjectScripts | undefined): string | null {
  if (trusted === undefined) return null;
  const uses = findUsedFiles(root, trusted.effect, createLookBudget());
  const changed = [...uses].find(([use]) => !trusted.uses.includes(use));
  if (changed === undefined && trusted.uses.every((use) => uses.has(use))) return null;
  const [, file] = changed ?? ["", "a file that it names"];
  return `${file} has changed since the folder was trusted: look at it, then run burin trust yes and start again`;
}

/** Returns the files that a command may name, from the project's folder or any folder that it names. */
function findNamedFiles(root: string, effect: string, left: LookBudget): string[] {
  const quoted = [...effect.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, one, other]) => one ?? other ?? "");
  const words = new Set([...effect.split(/[\s"'`=;|&()<>,:]+/), ...quoted].filter(Boolean));
  const listPlaces = (from: string, isFolder: boolean) =>
    [...words].flatMap((word) => {
      left.places -= 1;
      return left.places > 0 ? resolveInside(root, { place: resolve(from, word), isFolder }) : [];
    });
  const files = [...new Set([root, ...listPlaces(root, true)])].flatMap((from) => listPlaces(from, false));
  return files.map((file) => relative(root, file));
}

/** Returns the real path of a file or folder inside the project, in a list; an empty list if there is none. */
function resolveInside(root: string, { place, isFolder }: { place: string; isFolder: boolean }): string[] {
  try {
    const real = realpathSync(place);
    return statSync(real).isDirectory() === isFolder && real.startsWith(root + sep) ? [real] : [];
  } catch {
    return [];
  }
}

interface NamedPath {
  readonly name: string;
  readonly path: string;
}

function listMarkdownFiles(folder: string): NamedPath[] {
  const files = listEntries(folder).filter(({ name }) => name.endsWith(".md"));
  return files.map(({ name, path }) => ({ name: name.slice(0, -3), path }));
}

function listEntries(folder: string): NamedPath[] {
  const names = tryReadEntries(folder).map(({ name }) => name);
  return names.sort().map((name) => ({ name, path: join(folder, name) }));
}

function describeWithFingerprint(what: string, { name, path }: NamedPath, left: LookBudget): string {
  return `${what} ${JSON.stringify(name)} (${computeFingerprint(path, left)})`;
}

/** Hashes a file, or everything in a folder. */
function computeFingerprint(path: string, left: LookBudget): string {
  const hash = createHash("sha256");
  try {
    addToHash(hash, { path, depth: 0 }, left);
    return `text ${hash.digest("hex").slice(0, SHOWN_DIGITS)}`;
  } catch {
    return createUniqueFingerprint();
  }
}

/** Returns a text that is never the same again, so that the user is asked each time. */
function createUniqueFingerprint(): string {
  return `cannot be checked, so this is asked about each time: ${randomBytes(8).toString("hex")}`;
}

/** Adds names and lengths too, so that different folders get different hashes. Links count as what they point to. */
function addToHash(
  hash: Hash,
  { path, depth }: { readonly path: string; readonly depth: number },
  left: LookBudget,
): void {
  left.files -= 1;
  if (left.files < 0 || depth > MAX_DEPTH) throw new Error("more than can be checked");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    for (const { name, path: inner } of listEntries(path)) {
      hash.update(`${JSON.stringify(name)}\n`);
      addToHash(hash, { path: inner, depth: depth + 1 }, left);
    }
    hash.update("end\n");
    return;
  }
  const bytes = stats?.isFile() ? readBytes(path, left.bytes) : null;
  left.bytes -= bytes?.length ?? 0;
  hash.update(bytes === null ? "nothing\n" : `${bytes.length} ${stats ? stats.mode & 0o111 : 0}\n`);
  if (bytes !== null) hash.update(bytes);
}
