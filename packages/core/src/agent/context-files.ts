import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { AgentEvent } from "@burin/contract/agent-event";
import { shownPath } from "@burin/contract/text/shown-path";
import { keepHeadAndTail } from "@burin/contract/text/truncate";
import type { AnsweredCall, ToolCall } from "@burin/contract/tool-call";
import { readBeginning } from "@burin/machine/disk/regular-file";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { WorkRecord } from "./work-record.ts";

export interface ContextPlaces {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** The real paths of the root and of the other folders that may be used. */
  readonly roots: readonly string[];
  /** AGENTS.md when none is named. */
  readonly fileNames: readonly string[];
  /** Of one file; what is longer is cut, with a word on it. */
  readonly mostCharacters: number;
  /** The text of a file inside the roots as a tool would get it; null when no tool may have it. */
  readonly readInside: (path: string) => Promise<string | null>;
}

/** A context file as the model is told of it. */
interface ContextText {
  /** The real path. */
  readonly file: string;
  readonly text: string;
}

const DEFAULT_NAME = "AGENTS.md";
/** What other agents call theirs; the first one stands in for an AGENTS.md that is not there. */
const STAND_INS = ["CLAUDE.md", "GEMINI.md", "QWEN.md"];
/** UTF-8 takes no more for a character; what would be cut anyway is not read. */
const MOST_BYTES_PER_CHARACTER = 4;

/** The names that context files have; the first is that of the file to which facts are added. */
export function contextFileNames(named: readonly string[]): readonly [string, ...string[]] {
  const [first = DEFAULT_NAME, ...others] = named.filter((name) => name !== "" && name === basename(name));
  return [first, ...others];
}

/**
 * Finds the files that say how to work: the user's own, those of the root and of the folders above it up to
 * the top of its repository, and those of the folders that tools come to. They are text for the model and
 * nothing else: nothing in them is run, included or followed. Each folder is looked at once.
 */
export class ContextFiles {
  readonly #places: ContextPlaces;
  readonly #names: readonly string[];
  readonly #root: string;
  readonly #seen = new Set<string>();

  constructor(places: ContextPlaces) {
    this.#places = places;
    this.#names = contextFileNames(places.fileNames);
    this.#root = places.roots[0] ?? "";
  }

  /** Those that are in force from the start, the most general first. */
  async initial(): Promise<ContextText[]> {
    const folders = [this.#places.home, ...foldersDown(repositoryTop(this.#root), this.#root)];
    return this.#inFolders(folders);
  }

  /** Those of the folders that a call has worked in, from the root down, as far as they are new. */
  async touchedBy(call: ToolCall, registry: ToolRegistry): Promise<ContextText[]> {
    const tool = registry.getTool(call.name);
    // Only what has succeeded was given arguments that can be judged.
    if (call.status !== "success" || (tool?.kind !== "read" && tool?.kind !== "edit")) return [];
    const texts: ContextText[] = [];
    for (const subject of tool.ruleSubjects?.(call.args) ?? []) {
      const path = resolve(this.#root, subject);
      const root = this.#places.roots.find((folder) => isWithin(path, folder));
      if (root !== undefined) texts.push(...(await this.#inFolders(foldersDown(root, path))));
    }
    return texts;
  }

  /** The files as they are now; one that is gone is left out. */
  async again(files: Iterable<string>): Promise<ContextText[]> {
    const texts: ContextText[] = [];
    for (const file of files) {
      const content = existsSync(file) ? await this.#contentOf(file) : null;
      if (content !== null) texts.push(this.#told(file, content));
    }
    return texts;
  }

  async #inFolders(folders: readonly string[]): Promise<ContextText[]> {
    const texts: ContextText[] = [];
    for (const folder of folders) {
      if (this.#seen.has(folder)) continue;
      this.#seen.add(folder);
      for (const name of this.#namesIn(folder)) {
        const file = join(folder, name);
        const content = existsSync(file) ? await this.#contentOf(file) : null;
        if (content !== null) texts.push(this.#told(realpathSync(file), content));
      }
    }
    return texts;
  }

  /** Whoever names files means those and no others. */
  #namesIn(folder: string): readonly string[] {
    const isThere = (name: string) => existsSync(join(folder, name));
    if (this.#places.fileNames.length > 0 || this.#names.some(isThere)) return this.#names;
    return STAND_INS.filter(isThere).slice(0, 1);
  }

  #told(file: string, content: string): ContextText {
    const { home, mostCharacters } = this.#places;
    const whose = dirname(file) === home ? "The user's instructions for all projects" : "Instructions";
    const hint = `read ${shownPath(file)} for the rest`;
    return {
      file,
      text: `${whose}, from ${shownPath(file)}:\n\n${keepHeadAndTail(content, mostCharacters, hint)}`,
    };
  }

  /** null for what is empty, unreadable, no text, or not where it seems to be. */
  async #contentOf(file: string): Promise<string | null> {
    try {
      const isInside = this.#places.roots.some((root) => isWithin(file, root));
      const text = isInside ? await this.#places.readInside(file) : this.#readOutside(file);
      return text === null || text.trim() === "" ? null : text.trim();
    } catch {
      return null;
    }
  }

  /** The user may link to wherever they like; the files above the root have to lie in its repository. */
  #readOutside(file: string): string | null {
    const real = realpathSync(file);
    if (dirname(file) !== this.#places.home && !isWithin(real, repositoryTop(this.#root))) return null;
    const bytes = readBeginning(real, this.#places.mostCharacters * MOST_BYTES_PER_CHARACTER);
    const text = new TextDecoder().decode(bytes);
    return text.includes("\0") ? null : text;
  }
}

/** The folder above, or the same one, that holds `.git`; the folder itself when there is none. */
function repositoryTop(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, ".git"))) return top;
    if (dirname(top) === top) return folder;
  }
}

/** The folders from the one down to the other, both included. */
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

/** More that the model is told first, and again in place of what a compaction takes away. */
export type Briefing = (moment: "start" | "compaction", signal: AbortSignal) => Promise<readonly string[]>;

interface ContextSources {
  readonly contextFiles: ContextFiles;
  readonly briefing: Briefing | undefined;
  /** Knows which files the history holds already. */
  readonly record: WorkRecord;
  /** Takes each event into the history when it happens. */
  readonly note: (event: AgentEvent) => AgentEvent;
}

/** What the model is told beside words and answers: the briefing, and each context file once. */
export class ContextNotes {
  readonly #sources: ContextSources;

  constructor(sources: ContextSources) {
    this.#sources = sources;
  }

  /** What comes before a prompt; the briefing only before the first. */
  async *beforePrompt(isFirst: boolean, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { contextFiles, note } = this.#sources;
    const texts = isFirst ? await this.#briefing("start", signal) : [];
    for (const text of texts) yield note({ type: "context", text });
    yield* this.#new(await contextFiles.initial());
  }

  /** The context files of the folders that the calls have come to. */
  async *touchedBy(calls: readonly AnsweredCall[], registry: ToolRegistry): AsyncGenerator<AgentEvent> {
    const { contextFiles } = this.#sources;
    for (const call of calls) yield* this.#new(await contextFiles.touchedBy(call, registry));
  }

  /** All that was told, as it is now, for a history that is shortened. */
  async again(signal: AbortSignal): Promise<readonly string[]> {
    const { contextFiles, record } = this.#sources;
    const texts = await contextFiles.again(record.contextFiles);
    return [...texts.map(({ text }) => text), ...(await this.#briefing("compaction", signal))];
  }

  async #briefing(moment: "start" | "compaction", signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#sources.briefing?.(moment, signal)) ?? [];
  }

  *#new(texts: readonly ContextText[]): Generator<AgentEvent> {
    const { record, note } = this.#sources;
    for (const { file, text } of texts) {
      if (!record.contextFiles.has(file)) yield note({ type: "context", text, file });
    }
  }
}
