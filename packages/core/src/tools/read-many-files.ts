import { extname, resolve } from "node:path";
import { type TextLines, type Workspace, WorkspaceError } from "@burin/contract/machine/workspace";
import type { Part } from "@burin/contract/messages/message";
import {
  closedObject,
  flag,
  list,
  NON_EMPTY,
  type OptionValue,
  option,
  text,
} from "@burin/contract/messages/option";
import { createGlobExcluder, parseGlob } from "@burin/contract/patterns/glob-pattern";
import { findPatternFault } from "@burin/contract/patterns/pattern";
import { sortByCodePoints } from "@burin/contract/text/code-point-order";
import { formatPath } from "@burin/contract/text/shown-path";
import { createFailedResult, type ToolResult } from "@burin/contract/tools";
import { ReadingTool } from "../text/reading-tool.ts";

const NAME = text(undefined, NON_EMPTY);
const PARAMETERS = closedObject(["paths"], {
  paths: option<readonly string[]>(
    { type: "array", items: NAME, minItems: 1 },
    'Files, directories or globs, absolute or from the root, e.g. ["src/**/*.ts", "README.md"].',
  ),
  include: list(NAME, "More globs to read."),
  exclude: list(NAME, "Globs of files to leave out."),
  useDefaultExcludes: flag("Leave out caches and editor files. Default true."),
  respect_git_ignore: flag("Leave out what git ignores. Default true."),
});
export type ReadManyFilesParams = OptionValue<typeof PARAMETERS>;

const MAX_LINE_CHARACTERS = 2000;
const RANGE = { offset: 0, limit: 2000, maxLineCharacters: MAX_LINE_CHARACTERS };
/** The maximum number of characters of all files together. */
const MAX_CHARACTERS = 90_000;
/** Each image or PDF costs about as much as 6,000 characters, and services reject requests with too many. */
const MAX_MEDIA = 20;
const MAX_FOUND = 1000;
const MAX_NAMED = 30;
const MEDIA = /\.(?:png|jpe?g|gif|webp|svg|bmp|pdf)$/i;
/** Files that other version control systems, caches and editors leave behind. */
const DEFAULT_EXCLUDES = [
  "**/.svn/**",
  "**/.hg/**",
  "**/.idea/**",
  "**/.vscode/**",
  "**/__pycache__/**",
  "**/bower_components/**",
  ".DS_Store",
];
const END = "\n--- End of content ---";

/** The state of one call: its parameters, and what it has read so far. */
interface Reading {
  readonly params: ReadManyFilesParams;
  readonly signal: AbortSignal;
  readonly parts: (Part | string)[];
  readonly skipped: { readonly path: string; readonly reason: string }[];
  characters: number;
  files: number;
  media: number;
}

/** The tool `read_many_files`: reads all files that match some patterns in one answer. */
export class ReadManyFiles extends ReadingTool<ReadManyFilesParams> {
  readonly name = "read_many_files";
  readonly displayName = "ReadManyFiles";
  readonly kind = "read";
  readonly description =
    "Reads several files at once: files, directories and globs, joined in the order of their paths. Images and PDFs only when named or matched by extension.";
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    super(workspace);
    this.#workspace = workspace;
  }

  protected listPaths(params: ReadManyFilesParams): readonly string[] {
    return [...params.paths, ...(params.include ?? [])];
  }

  ruleSubjects(params: ReadManyFilesParams): readonly string[] {
    return this.listPaths(params).map((path) => this.#workspace.relative(path));
  }

  getDescription(params: ReadManyFilesParams): string {
    return `Read ${this.listPaths(params).join(", ")}`;
  }

  async execute(params: ReadManyFilesParams, signal: AbortSignal): Promise<ToolResult> {
    const reading: Reading = { params, signal, parts: [], skipped: [], characters: 0, files: 0, media: 0 };
    const chosen = await this.#listPathsToRead(reading);
    for (const path of sortByCodePoints([...chosen.keys()])) {
      signal.throwIfAborted();
      await this.#addFile(path, chosen.get(path) ?? false, reading);
    }
    return buildResult(reading);
  }

  protected override checkParams(params: ReadManyFilesParams): string | null {
    const globs = [...params.paths, ...(params.include ?? []), ...(params.exclude ?? [])];
    return findPatternFault(() =>
      globs.map((glob) => parseGlob(glob, { caseSensitive: true, groups: true })),
    );
  }

  /** Returns the absolute paths to read. The value says whether the request was specific enough to show media. */
  async #listPathsToRead(reading: Reading): Promise<Map<string, boolean>> {
    const { params, signal, skipped } = reading;
    const defaults = params.useDefaultExcludes === false ? [] : DEFAULT_EXCLUDES;
    const excludes = [...(params.exclude ?? []), ...defaults];
    const isLeftOut = excludes.map((glob) =>
      createGlobExcluder(this.#toRelativeGlob(glob), { caseSensitive: false }),
    );
    const chosen = new Map<string, boolean>();
    for (const entry of [...params.paths, ...(params.include ?? [])]) {
      try {
        const kind = await this.#classifyEntry(entry, signal);
        if (kind === "file") chosen.set(resolve(this.#workspace.root, entry), true);
        else {
          const found = await this.#listEntryFiles(entry, kind, reading);
          const namesMediaType = (path: string) => entry.toLowerCase().includes(extname(path).toLowerCase());
          for (const path of found) {
            if (isLeftOut.some((covers) => covers(this.#workspace.relative(path)))) continue;
            chosen.set(path, chosen.get(path) === true || (kind === "glob" && namesMediaType(path)));
          }
        }
      } catch (error) {
        if (!(error instanceof WorkspaceError)) throw error;
        skipped.push({ path: entry, reason: error.message });
      }
    }
    return chosen;
  }

  #toRelativeGlob(glob: string): string {
    const above = `${this.#workspace.root}/`;
    return glob.startsWith(above) ? glob.slice(above.length) : glob;
  }

  async #classifyEntry(entry: string, signal: AbortSignal): Promise<"file" | "folder" | "glob"> {
    try {
      await this.#workspace.list(entry, { ignore: [], respectGitIgnore: false }, signal);
      return "folder";
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      if (error.code === "not_a_directory") return "file";
      if (error.code === "not_found" && /[*?[{(]/.test(entry)) return "glob";
      throw error;
    }
  }

  async #listEntryFiles(
    entry: string,
    kind: "folder" | "glob",
    { params, signal, skipped }: Reading,
  ): Promise<readonly string[]> {
    const { folder, pattern } =
      kind === "folder" ? { folder: entry, pattern: "**" } : splitGlob(this.#toRelativeGlob(entry));
    const request = {
      pattern,
      caseSensitive: false,
      respectGitIgnore: params.respect_git_ignore ?? true,
      max: MAX_FOUND,
    };
    const found = await this.#workspace.find(folder || this.#workspace.root, request, signal);
    const left = found.total - found.files.length;
    if (found.total === 0) skipped.push({ path: entry, reason: "no file matches" });
    if (left > 0) skipped.push({ path: entry, reason: `${left} more files match; name fewer` });
    if (found.isPartial) skipped.push({ path: entry, reason: "the search took too long and is incomplete" });
    return found.files;
  }

  async #addFile(path: string, wantsMedia: boolean, reading: Reading): Promise<void> {
    const skipFile = (reason: string) => reading.skipped.push({ path, reason });
    const room = MAX_CHARACTERS - reading.characters;
    if (room <= 0)
      return void skipFile("the limit for all files together was reached; read it with read_file");
    const noMedia = explainSkippedMedia(wantsMedia, reading);
    if (MEDIA.test(path) && noMedia !== null) return void skipFile(noMedia);
    try {
      const content = await this.#workspace.read(path, { ...RANGE, maxCharacters: room }, reading.signal);
      if (content.kind === "binary") return void skipFile("binary");
      if (content.kind === "media") {
        if (noMedia !== null) return void skipFile(noMedia);
        reading.media += 1;
        reading.parts.push(`--- ${formatPath(path)} ---${content.note ? ` ${content.note}` : ""}`, {
          inlineData: { mimeType: content.mimeType, data: content.base64 },
        });
      } else {
        const text = `--- ${formatPath(path)} ---\n\n${formatWarning(content)}${content.text}\n\n`;
        reading.characters += text.length;
        reading.parts.push(text);
      }
      reading.files += 1;
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      skipFile(error.message);
    }
  }
}

function explainSkippedMedia(wantsMedia: boolean, { media }: Reading): string | null {
  if (!wantsMedia) return "media; name it or its extension to see it";
  return media < MAX_MEDIA ? null : `${MAX_MEDIA} images and PDFs are shown already; read it with read_file`;
}

/** Splits a glob into its leading segments without special characters, and the rest. */
function splitGlob(glob: string): { folder: string; pattern: string } {
  const segments = glob.split("/");
  const first = segments.findIndex((segment) => /[*?[{(\\]/.test(segment));
  const folder = segments.slice(0, first).join("/");
  const pattern = segments.slice(first).join("/");
  return {
    folder: folder === "" && glob.startsWith("/") ? "/" : folder,
    pattern: first > 0 ? `./${pattern}` : pattern,
  };
}

function formatWarning({ lastLine, firstLine, totalLines, linesCut }: TextLines): string {
  const isCut = lastLine < totalLines;
  if (!isCut && linesCut === 0) return "";
  const parts: string[] = [];
  if (isCut) {
    parts.push(
      `lines ${firstLine}-${lastLine} of ${totalLines} are shown, read on with read_file from offset ${lastLine}`,
    );
  }
  if (linesCut > 0) parts.push(`${linesCut} line(s) are cut after ${MAX_LINE_CHARACTERS} characters`);
  return `[WARNING: This file was truncated: ${parts.join("; ")}.]\n`;
}

function buildResult({ parts, skipped, files }: Reading): ToolResult {
  const note = formatSkipped(skipped);
  if (files === 0) return createFailedResult({ type: "nothing_read", message: `No files were read.${note}` });
  const count = files === 1 ? "1 file" : `${files} files`;
  return {
    llmContent: [...parts, `${END}${note}`],
    returnDisplay: `Read ${count}${skipped.length > 0 ? `, skipped ${skipped.length}` : ""}.`,
  };
}

function formatSkipped(skipped: Reading["skipped"]): string {
  if (skipped.length === 0) return "";
  const named = skipped.slice(0, MAX_NAMED).map(({ path, reason }) => `- ${formatPath(path)}: ${reason}`);
  const left = skipped.length - named.length;
  return `\nSkipped ${skipped.length}:\n${named.join("\n")}${left > 0 ? `\n- and ${left} more` : ""}`;
}
