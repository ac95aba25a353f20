import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { sortByCodePoints } from "@burin/contract/text/code-point-order";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat } from "../disk/disk-looks.ts";
import type { FolderRules } from "./ignore.ts";

export interface WalkRequest {
  /** The real path of the folder to start in. */
  readonly folder: string;
  readonly rules: FolderRules;
  readonly respectGitIgnore: boolean;
  /** Whether a folder can contain anything of interest. Gets its path from the start, with `/` at the end. */
  readonly shouldEnter?: (folder: string) => boolean;
  readonly watch?: WalkWatch;
}

/** Callbacks for what a walk does not return. Paths are relative to the start; those of folders end with `/`. */
export interface WalkWatch {
  /** Called for each folder below the start that is entered. */
  onFolder(folder: string): void;
  /** Called for each file, link and folder that is skipped. */
  onSkipped(path: string): void;
}

/** Folders that a package manager or git creates. No search is meant for them. */
const ALWAYS_SKIPPED = new Set(["node_modules", ".git"]);
/** Views of the running system: endless, or blocking when read. */
const SYSTEM_VIEWS = new Set(["/proc/", "/sys/", "/dev/"]);

/** Consecutive files and links of one folder, in the order of all paths. */
export interface WalkBatch {
  /** The folder's path from the start, with a `/` at its end; empty for the start itself. */
  readonly folder: string;
  readonly names: readonly string[];
  /** The links among them, which may lead anywhere; the caller must check them. */
  readonly links: ReadonlySet<string>;
  /** true if no file of the folder was skipped, in this batch or another. */
  readonly isWhole: boolean;
}

interface Frame {
  /** The entries that are not ignored; the names of folders end with a slash. */
  readonly names: readonly string[];
  readonly links: ReadonlySet<string>;
  readonly path: string;
  readonly rules: FolderRules;
  readonly isWhole: boolean;
  /** The entries that were left out because git ignores them. */
  readonly ignored: string[];
  next: number;
}

/** The maximum number of files that `startIgnored` leads to. */
const MAX_IGNORED = 5000;

/**
 * Walks through all regular files and links in and below a folder, in the order of their paths by code point. Ignored
 * folders are opened only after `startIgnored`. Links are never followed, so loops of links do no harm.
 */
export class Walk {
  /** The number of folders that could not be read. */
  unreadable = 0;
  /** Whether some files have names that are not valid UTF-8 and cannot be opened here. */
  hasBrokenNames = false;
  readonly #request: WalkRequest;
  #frames: Frame[] = [];
  #ignored: Frame[] = [];
  #ignoredNames = 0;
  #respectGitIgnore: boolean;
  /** How many files may still be returned. */
  #remaining = Number.POSITIVE_INFINITY;

  constructor(request: WalkRequest) {
    this.#request = request;
    this.#respectGitIgnore = request.respectGitIgnore;
    const start = this.#openFrame("", request.rules, null);
    if (start !== null) this.#frames.push(start);
  }

  /** Whether something was left out because git ignores it. */
  get hasIgnored(): boolean {
    return this.#ignoredNames > 0;
  }

  /** Whether everything was returned. */
  get isAtEnd(): boolean {
    return this.#frames.length === 0 && (this.#respectGitIgnore || this.#ignoredNames <= MAX_IGNORED);
  }

  /** At the end, starts again with what was left out because git ignores it, up to a number of files. */
  startIgnored(): void {
    this.#frames = this.#ignored.splice(0).reverse();
    this.#respectGitIgnore = false;
    this.#remaining = MAX_IGNORED;
  }

  /** Returns the next files; null at the end. */
  nextBatch(): WalkBatch | null {
    if (this.#remaining <= 0) return null;
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      const { names, links, path, isWhole, next } = frame;
      let end = next;
      while (end < names.length && end - next < this.#remaining && !names[end]?.endsWith("/")) end += 1;
      frame.next = end === next ? next + 1 : end;
      if (end > next) {
        this.#remaining -= end - next;
        return { folder: path, names: names.slice(next, end), links, isWhole };
      }
      const name = names[next];
      if (name === undefined) this.#closeFrame(frame);
      else this.#enterFolder(frame, name);
    }
    return null;
  }

  #closeFrame(frame: Frame): void {
    this.#frames.pop();
    const { ignored } = frame;
    if (ignored.length === 0) return;
    this.#ignored.push({ ...frame, names: sortByCodePoints(ignored), isWhole: false, ignored: [], next: 0 });
  }

  #enterFolder(frame: Frame, nameWithSlash: string): void {
    const name = nameWithSlash.slice(0, -1);
    const path = frame.path + nameWithSlash;
    const { shouldEnter, watch } = this.#request;
    if (!(shouldEnter?.(path) ?? true)) return;
    if (ALWAYS_SKIPPED.has(name) || !this.#shouldVisit(frame, name, true)) {
      watch?.onSkipped(path);
      return;
    }
    watch?.onFolder(path);
    const below = this.#openFrame(path, frame.rules, name);
    if (below !== null) this.#frames.push(below);
  }

  #shouldVisit(
    { rules, ignored }: Pick<Frame, "rules" | "ignored">,
    name: string,
    isFolder: boolean,
  ): boolean {
    const visibility = rules.findVisibility(name, isFolder);
    if (visibility !== "git" || !this.#respectGitIgnore) return visibility !== "own";
    this.#ignoredNames += 1;
    if (this.#ignoredNames <= MAX_IGNORED) ignored.push(isFolder ? `${name}/` : name);
    return false;
  }

  /** `name` is null for the start, whose rules are `above`. */
  #openFrame(path: string, above: FolderRules, name: string | null): Frame | null {
    const { folder: start } = this.#request;
    const folder = start.endsWith(sep) ? start + path : `${start}/${path}`;
    if (process.platform === "linux" && name !== null && SYSTEM_VIEWS.has(folder)) return null;
    const entries = withFallback(null, () => readdirSync(folder, { withFileTypes: true }));
    if (entries === null) {
      this.unreadable += 1;
      return null;
    }
    const hasFile = (file: string) => entries.some((entry) => entry.name === file);
    const rules = name === null ? above : above.readChildRules(name, hasFile);
    const names: string[] = [];
    const ignored: string[] = [];
    const links = new Set<string>();
    let isWhole = true;
    for (const entry of entries) {
      const isLink = entry.isSymbolicLink();
      if (isLink) links.add(entry.name);
      if (entry.isDirectory()) names.push(`${entry.name}/`);
      else if (!isLink && !entry.isFile()) continue;
      else if (entry.name === ".git" || !this.#shouldVisit({ rules, ignored }, entry.name, false)) {
        isWhole &&= isLink;
        this.#request.watch?.onSkipped(path + entry.name);
      } else {
        names.push(entry.name);
        this.hasBrokenNames ||= entry.name.includes("\ufffd") && tryLstat(join(folder, entry.name)) === null;
      }
    }
    return { names: sortByCodePoints(names), links, path, rules, isWhole, ignored, next: 0 };
  }
}

/** How long a task may keep the event loop busy in one go. */
const MAX_SLICE_MS = 8;

/** Lets a long synchronous task pause now and then, and stop at its time limit. */
export class TimeSlices {
  readonly #signal: AbortSignal;
  /** A value of `performance.now()`. */
  readonly stopAt: number;
  #sliceEnd: number;

  constructor(signal: AbortSignal, stopAt: number) {
    this.#signal = signal;
    this.stopAt = stopAt;
    this.#sliceEnd = this.#nextSliceEnd();
    signal.throwIfAborted();
  }

  /** Returns false when the time is over. Rejects when the task was cancelled. */
  async yieldTurn(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
    this.#sliceEnd = this.#nextSliceEnd();
    return performance.now() < this.stopAt;
  }

  #nextSliceEnd(): number {
    return Math.min(performance.now() + MAX_SLICE_MS, this.stopAt);
  }

  /** Whether it is time to call yieldTurn. */
  get isOver(): boolean {
    return performance.now() >= this.#sliceEnd;
  }
}
