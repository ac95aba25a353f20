import { closeSync, existsSync, fstatSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { shownPath } from "@burin/contract/text/shown-path";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { AnsweredCall } from "@burin/contract/tool-call";
import { lstatOf, realOf } from "@burin/files/disk/disk-looks";
import { beginningOf } from "@burin/files/disk/regular-file";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { Conversation } from "./conversation.ts";

interface ContextPlaces {
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** The real paths of the root and of the other folders that may be used. */
  readonly roots: readonly string[];
  /** Only AGENTS.md when none is named. */
  readonly fileNames: readonly string[];
  /** Per file; longer ones are cut, with a note about it. */
  readonly mostCharacters: number;
  /** The text of a file inside the roots as a tool would get it; null when tools may not read it. */
  readonly readInside: (path: string) => Promise<string | null>;
}

/** Without settings, the first that a folder has counts; those after AGENTS.md are of other agents. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md"] as const;
/** The most that UTF-8 takes for a character; what would be cut anyway is not read. */
const MOST_BYTES_PER_CHARACTER = 4;

/** The names of context files that count in a folder; facts are added to the file with the first name. */
export function contextFileNames(named: readonly string[], folder: string): readonly [string, ...string[]] {
  const [first, ...others] = named.filter((name) => name !== "" && name === basename(name));
  return [first ?? NAMES.find((name) => existsSync(join(folder, name))) ?? NAMES[0], ...others];
}

/**
 * Finds the files that say how to work: the user's own, those of the root and of the folders above it up to the
 * top of its repository, and those of the folders that tools work in. They are only text for the model: nothing in
 * them is run, included or followed. Each folder is searched once.
 */
export class ContextFiles {
  readonly #places: ContextPlaces;
  readonly #root: string;
  readonly #conversation: Pick<Conversation, "record" | "note">;
  readonly #seen = new Set<string>();

  /** The conversation gets each file once. */
  constructor(places: ContextPlaces, conversation: Pick<Conversation, "record" | "note">) {
    this.#places = places;
    this.#conversation = conversation;
    this.#root = places.roots[0] ?? "";
  }

  /** The files that apply from the start, the most general first. */
  initial(): Promise<AgentEvent[]> {
    return this.#inFolders([this.#places.home, ...foldersDown(repositoryTop(this.#root), this.#root)]);
  }

  /** Those of the folders that a call has worked in, from the root down. */
  async touchedBy(call: AnsweredCall, registry: ToolRegistry): Promise<AgentEvent[]> {
    const tool = registry.getTool(call.name);
    const folders: string[] = [];
    // Only a call that succeeded has arguments that can be trusted here.
    if (call.status !== "success" || (tool?.kind !== "read" && tool?.kind !== "edit")) return [];
    for (const subject of tool.ruleSubjects?.(call.args) ?? []) {
      const path = resolve(this.#root, subject);
      const root = this.#places.roots.find((folder) => isWithin(path, folder));
      if (root !== undefined) folders.push(...foldersDown(root, path));
    }
    return this.#inFolders(folders);
  }

  /** All files that the model was given, in their current state; missing ones are left out. */
  async again(): Promise<string[]> {
    const texts: string[] = [];
    for (const file of this.#conversation.record.contextFiles) {
      const content = await this.#contentOf(file);
      if (content !== null) texts.push(this.#told(file, content));
    }
    return texts;
  }

  async #inFolders(folders: readonly string[]): Promise<AgentEvent[]> {
    const { record, note } = this.#conversation;
    const events: AgentEvent[] = [];
    for (const folder of folders) {
      if (this.#seen.has(folder)) continue;
      this.#seen.add(folder);
      for (const name of contextFileNames(this.#places.fileNames, folder)) {
        const path = join(folder, name);
        const content = await this.#contentOf(path);
        if (content === null) continue;
        const file = realOf(path) ?? path;
        if (!record.contextFiles.has(file))
          events.push(note({ type: "context", text: this.#told(file, content), file }));
      }
    }
    return events;
  }

  #told(file: string, content: string): string {
    const { home, mostCharacters } = this.#places;
    const whose = dirname(file) === home ? "The user's instructions for all projects" : "Instructions";
    const hint = `read ${shownPath(file)} for the rest`;
    return `${whose}, from ${shownPath(file)}:\n\n${keepHeadAndTail(content, mostCharacters, hint)}`;
  }

  /** Returns null for a file that is empty, unreadable, not text, or outside where it appears to be. */
  async #contentOf(file: string): Promise<string | null> {
    if (!existsSync(file)) return null;
    try {
      const isInside = this.#places.roots.some((root) => isWithin(file, root));
      const text = await (isInside ? this.#places.readInside(file) : this.#readOutside(file));
      return text === null || text.trim() === "" ? null : text.trim();
    } catch {
      return null;
    }
  }

  /** The user's own file may be a link to anywhere; files above the root must be in its repository, and not another user's. */
  async #readOutside(file: string): Promise<string | null> {
    const isHome = dirname(file) === this.#places.home;
    const { openWithin } = await import("@burin/files/paths/paths");
    const { descriptor } = await openWithin(file, [isHome ? sep : repositoryTop(this.#root)]);
    if (!isHome && !isOwn(fstatSync(descriptor), this.#root)) {
      closeSync(descriptor);
      return null;
    }
    const bytes = beginningOf(descriptor, this.#places.mostCharacters * MOST_BYTES_PER_CHARACTER);
    const text = new TextDecoder().decode(bytes);
    return text.includes("\0") ? null : text;
  }
}

/**
 * The nearest folder, from this one upwards, that contains `.git`; the folder itself if there is none, or if it is
 * another user's, which git does not use either.
 */
function repositoryTop(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    const repository = lstatOf(join(top, ".git"));
    if (repository !== null) return isOwn(repository, folder) ? top : folder;
    if (dirname(top) === top) return folder;
  }
}

/** It belongs to this user, or to whom the root belongs, as in a container. */
function isOwn({ uid }: { readonly uid: number }, root: string): boolean {
  return uid === process.getuid?.() || uid === lstatOf(root)?.uid;
}

function foldersDown(top: string, bottom: string): string[] {
  const folders = [top];
  for (const name of relative(top, bottom).split(sep)) {
    if (name !== "") folders.push(join(folders.at(-1) ?? top, name));
  }
  return folders;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
