import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { PartListUnion, Session } from "@burin/core";
import { findNearNames, withFallback } from "@burin/core/internal";
import { FILES_MARK } from "../state/transcript.ts";

/** Matches `@path`, `@"a path"` or `@a\ path` at the start of a word. */
const MENTION = /(?<=^|[\s([{])@(?:"([^"\n]+)"|((?:\\.|[^\s"\\])+))/g;
const MAX_MENTIONS = 50;

interface MentionFolder {
  readonly session: Pick<Session, "call" | "folders">;
  readonly tell: (fault: string) => void;
  /** Text from a pipe. It is sent along, and nothing in it counts as a mention. */
  readonly piped?: string;
}

/** Adds the contents of the files and the listings of the folders that the prompt mentions. Media come last. */
export async function expandMentions(
  prompt: string,
  { session, tell, piped = "" }: MentionFolder,
  signal: AbortSignal,
): Promise<PartListUnion> {
  const { files, folders, faults } = findMentions(prompt, session.folders);
  for (const fault of faults) tell(fault);
  const read: PartListUnion[] = [];
  if (files.length > 0)
    read.push((await session.call("read_many_files", { paths: files }, signal)).llmContent);
  for (const path of folders) read.push((await session.call("list_directory", { path }, signal)).llmContent);
  if (read.length === 0) return prompt + piped;
  const media = read.flat().filter((part) => typeof part !== "string" && part.inlineData !== undefined);
  return [prompt + piped + FILES_MARK + read.map(readContentText).join("\n\n"), ...media];
}

/** Finds mentioned files and folders. Other words stay text; `faults` reports mistyped and forbidden paths. */
function findMentions(prompt: string, places: Session["folders"]) {
  const [root] = places;
  const files = new Set<string>();
  const folders = new Set<string>();
  const faults = new Set<string>();
  for (const [, quoted, plain = ""] of prompt.matchAll(MENTION)) {
    const path = quoted ?? findExistingPath(plain.replace(/\\(.)/g, "$1"), root);
    if (files.size + folders.size === MAX_MENTIONS) continue;
    if (path === null || !(existsSync(resolve(root, path)) || isGlob(path))) {
      const fault = explainUnmatchedMention(path ?? plain, root);
      if (fault !== null) faults.add(fault);
    } else if (!isGlob(path) && isOutside(resolve(root, path), places)) {
      faults.add(
        `@${path} is outside the project folder; /add-dir or --include-directories makes it readable.`,
      );
    } else if (isFolder(resolve(root, path))) folders.add(path);
    else files.add(path);
  }
  return { files: [...files], folders: [...folders], faults: [...faults] };
}

/** Returns why a word names no file; null if it was hardly meant as one, such as `@server:uri` or pasted `@param`. */
function explainUnmatchedMention(word: string, root: string): string | null {
  const path = word.replace(/[.,;:!?)\]}'"]+$/, "");
  const folder = resolve(root, dirname(path));
  const names = withFallback([], () => readdirSync(folder));
  const [near] = findNearNames(basename(path), names);
  if (near === undefined && !/^(?![\w-]+:\w[\w+.-]*:).*([\w-][./]|\/\w)/.test(path)) return null;
  const hint = near === undefined ? "" : `; did you mean @${join(dirname(path), near)}?`;
  return `@${path} names no file or folder and goes to the model as text${hint}`;
}

function isOutside(path: string, places: Session["folders"]): boolean {
  const real = realpathSync(path);
  return !places.some((place) => {
    const way = relative(realpathSync(place), real);
    return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
  });
}

/** Finds the longest existing path, because punctuation may directly follow it. */
function findExistingPath(word: string, root: string): string | null {
  for (let path = word; path !== ""; path = path.slice(0, -1)) {
    if (existsSync(resolve(root, path)) || isGlob(path)) return path;
    if (!/[.,;:!?)\]}'"]$/.test(path)) return null;
  }
  return null;
}

function isGlob(path: string): boolean {
  return /[*?{[]/.test(path) && /[/.]/.test(path);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Returns the prompt as one text. Media are replaced by a note, because they follow the text. */
function readContentText(content: PartListUnion): string {
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "string" ? part : (part.text ?? "\n[shown below]\n"))).join("");
}
