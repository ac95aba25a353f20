import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { PartListUnion, Session } from "@burin/core";

/** `@path`, `@"a path"` or `@a\ path` at the start of a word. */
const MENTION = /(?<=^|[\s([{])@(?:"([^"\n]+)"|((?:\\.|[^\s"\\])+))/g;
const MOST_MENTIONS = 50;

interface Mentioned {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** The prompt with the content of the files, and the lists of the folders, that it mentions by `@path`. */
export async function withMentions(
  prompt: string,
  { session, root }: { readonly session: Pick<Session, "call">; readonly root: string },
  signal: AbortSignal,
): Promise<string> {
  const { files, folders } = mentioned(prompt, root);
  const parts: string[] = [];
  if (files.length > 0)
    parts.push(textOf((await session.call("read_many_files", { paths: files }, signal)).llmContent));
  for (const path of folders) {
    parts.push(textOf((await session.call("list_directory", { path }, signal)).llmContent));
  }
  return parts.length === 0 ? prompt : [prompt, "What the @ mentions hold:", ...parts].join("\n\n");
}

/** What is no file, folder or glob is no mention: it stays the text that it is. */
function mentioned(prompt: string, root: string): Mentioned {
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const [, quoted, plain] of prompt.matchAll(MENTION)) {
    const path = quoted ?? existingPath((plain ?? "").replace(/\\(.)/g, "$1"), root);
    if (path === null || files.size + folders.size === MOST_MENTIONS) continue;
    if (isFolder(resolve(root, path))) folders.add(path);
    else if (existsSync(resolve(root, path)) || isGlob(path)) files.add(path);
  }
  return { files: [...files], folders: [...folders] };
}

/** A sentence may end right behind a path. */
function existingPath(word: string, root: string): string | null {
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

/** A prompt is text; what else was read can be had with read_file. */
function textOf(content: PartListUnion): string {
  const parts = Array.isArray(content) ? content : [content];
  return parts
    .map((part) => (typeof part === "string" ? part : (part.text ?? "[not text: read_file shows it]")))
    .join("");
}
