import { closeSync, existsSync, fstatSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { formatPath } from "@burin/contract/text/shown-path";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { tryLstat, tryRealPath } from "@burin/files/disk/disk-looks";
import { readBeginningAndClose } from "@burin/files/disk/regular-file";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { Conversation } from "./conversation.ts";

interface ContextLocations {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real paths of the root and of the other folders that tools may use. */
  readonly roots: readonly string[];
  /** The names of context files. If none is named, the first existing one of NAMES is used in each folder. */
  readonly fileNames: readonly string[];
  /** The maximum number of characters per file. Longer files are cut, with a note about it. */
  readonly maxCharacters: number;
  /** Returns the text of a file inside the roots as a tool would get it, or null if tools may not read it. */
  readonly readInside: (path: string) => Promise<string | null>;
}

/** Without settings, the first of these that a folder has is used. Those after AGENTS.md are other agents'. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md"] as const;
/** The maximum number of bytes of a UTF-8 character. Text that would be cut anyway is not read. */
const MAX_BYTES_PER_CHARACTER = 4;

/** Returns the names of context files for a folder. Remembered facts are added to the file with the first name. */
export function resolveContextFileNames(
  named: readonly string[],
  folder: string,
): readonly [string, ...string[]] {
  const [first, ...others] = named.filter((name) => name !== "" && name === basename(name));
  return [first ?? NAMES.find((name) => existsSync(join(folder, name))) ?? NAMES[0], ...others];
}

/**
 * Finds the files that say how to work: the user's own, those of the root and of the folders above it (up to the top of
 * its repository), and those of folders that tools work in. They are only text for the model: nothing in them is run,
 * included or followed. Each folder is searched once.
 */
export class ContextFiles {
  readonly #places: ContextLocations;
  readonly #root: string;
  readonly #conversation: Pick<Conversation, "record" | "note">;
  readonly #seen = new Set<string>();

  /** Adds each file to the conversation once. */
  constructor(places: ContextLocations, conversation: Pick<Conversation, "record" | "note">) {
    this.#places = places;
    this.#conversation = conversation;
    this.#root = places.roots[0] ?? "";
  }

  /** Yields the files that apply from the start, the most general first. */
  readInitial(): Promise<AgentEvent[]> {
    return this.#readInFolders([
      this.#places.home,
      ...listFoldersBetween(findRepositoryTop(this.#root), this.#root),
    ]);
  }

  /** Yields the files of the folders that a call worked in, from the root down. */
  async readFilesForCall(call: AnsweredCall, registry: ToolRegistry): Promise<AgentEvent[]> {
    const tool = registry.getTool(call.name);
    const folders: string[] = [];
    // Only a call that succeeded has arguments that can be trusted here.
    if (call.status !== "success" || (tool?.kind !== "read" && tool?.kind !== "edit")) return [];
    for (const subject of tool.ruleSubjects?.(call.args) ?? []) {
      const path = resolve(this.#root, subject);
      const root = this.#places.roots.find((folder) => isWithin(path, folder));
      if (root !== undefined) folders.push(...listFoldersBetween(root, path));
    }
    return this.#readInFolders(folders);
  }

  /** Returns all files that the model has received, in their current state. Missing files are left out. */
  async readAgain(): Promise<string[]> {
    const texts: string[] = [];
    for (const file of this.#conversation.record.contextFiles) {
      const content = await this.#readContent(file);
      if (content !== null) texts.push(this.#wrapContent(file, content));
    }
    return texts;
  }

  async #readInFolders(folders: readonly string[]): Promise<AgentEvent[]> {
    const { record, note } = this.#conversation;
    const events: AgentEvent[] = [];
    for (const folder of folders) {
      if (this.#seen.has(folder)) continue;
      this.#seen.add(folder);
      for (const name of resolveContextFileNames(this.#places.fileNames, folder)) {
        const path = join(folder, name);
        const content = await this.#readContent(path);
        if (content === null) continue;
        const file = tryRealPath(path) ?? path;
        if (!record.contextFiles.has(file))
          events.push(note({ type: "context", text: this.#wrapContent(file, content), file }));
      }
    }
    return events;
  }

  #wrapContent(file: string, content: string): string {
    const { home, maxCharacters } = this.#places;
    const whose = dirname(file) === home ? "The user's instructions for all projects" : "Instructions";
    const hint = `read ${formatPath(file)} for the rest`;
    return `${whose}, from ${formatPath(file)}:\n\n${keepHeadAndTail(content, maxCharacters, hint)}`;
  }

  /** Returns null for a file that is empty, unreadable or not text, or whose real location is not allowed. */
  async #readContent(file: string): Promise<string | null> {
    if (!existsSync(file)) return null;
    try {
      const isInside = this.#places.roots.some((root) => isWithin(file, root));
      const text = await (isInside ? this.#places.readInside(file) : this.#readOutside(file));
      return text === null || text.trim() === "" ? null : text.trim();
    } catch {
      return null;
    }
  }

  /**
   * Reads a file outside the roots. The user's own file may be a link to anywhere. A file above the root must be in its
   * repository and must not belong to another user.
   */
  async #readOutside(file: string): Promise<string | null> {
    const isHome = dirname(file) === this.#places.home;
    const { openInsideRoots } = await import("@burin/files/paths/paths");
    const { descriptor } = await openInsideRoots(file, [isHome ? sep : findRepositoryTop(this.#root)]);
    if (!isHome && !isOwn(fstatSync(descriptor), this.#root)) {
      closeSync(descriptor);
      return null;
    }
    const bytes = readBeginningAndClose(descriptor, this.#places.maxCharacters * MAX_BYTES_PER_CHARACTER);
    const text = new TextDecoder().decode(bytes);
    return text.includes("\0") ? null : text;
  }
}

/**
 * Returns the nearest folder, from this one upwards, that contains `.git`. Returns the folder itself if there is none,
 * or if it belongs to another user (git does not use such a one either).
 */
function findRepositoryTop(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    const repository = tryLstat(join(top, ".git"));
    if (repository !== null) return isOwn(repository, folder) ? top : folder;
    if (dirname(top) === top) return folder;
  }
}

/** Whether it belongs to this user, or to the owner of the root, as in a container. */
function isOwn({ uid }: { readonly uid: number }, root: string): boolean {
  return uid === process.getuid?.() || uid === tryLstat(root)?.uid;
}

function listFoldersBetween(top: string, bottom: string): string[] {
  const folders = [top];
  for (const name of relative(top, bottom).split(sep)) {
    if (name !== "") folders.push(join(folders.at(-1) ?? top, name));
  }
  return folders;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
