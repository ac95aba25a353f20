import { isAbsolute } from "node:path";
import type { MediaContent, TextLines, Workspace } from "@burin/contract/machine/workspace";
import { integer, NON_EMPTY, type OptionValue, object, text } from "@burin/contract/messages/option";
import { MAX_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";
import { createFailedResult, type ToolResult } from "@burin/contract/tools";
import { resolveUserPath } from "@burin/files/paths/user-path";
import { ReadingTool } from "../text/reading-tool.ts";

const PARAMETERS = object([], {
  absolute_path: text("Absolute path of the file.", NON_EMPTY),
  path: text("The same as absolute_path.", NON_EMPTY),
  offset: integer("First line, counted from 0; needs limit.", { minimum: 0 }),
  limit: integer("How many lines at most.", { minimum: 1 }),
});
/** The parameters. The path has three names, because tool descriptions in use differ; one of them is enough. */
export type ReadFileParams = OptionValue<typeof PARAMETERS> & { readonly file_path?: string };

export interface ReadFileOptions {
  /** If true, SVG images are returned as their source text. */
  readonly svgAsText?: boolean | undefined;
  /** The maximum number of characters of an answer, if there is less room than usual. */
  readonly maxCharacters?: number | undefined;
}

const NAMES = new Set(["absolute_path", "path", "file_path", "offset", "limit"]);
const DEFAULT_LINES = 2000;
const MAX_LINE_CHARACTERS = 2000;
/** Room for the line about what was left out, so that the answer reaches the model uncut. */
const SPARE_CHARACTERS = 500;

/** The tool `read_file`: reads lines of a text file, an image, a PDF or a notebook. */
export class ReadFile extends ReadingTool<ReadFileParams> {
  readonly name = "read_file";
  readonly displayName = "ReadFile";
  readonly kind = "read";
  readonly description = [
    "Reads a file.",
    `Text comes as lines: at most ${DEFAULT_LINES}, each at most ${MAX_LINE_CHARACTERS} characters;`,
    "read on with offset and limit.",
    "Images and PDF are shown, notebooks come cell by cell.",
  ].join(" ");
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;
  readonly #svgAsText: boolean;
  readonly #maxCharacters: number;

  constructor(workspace: Workspace, { svgAsText = false, maxCharacters }: ReadFileOptions = {}) {
    super(workspace);
    this.#workspace = workspace;
    this.#svgAsText = svgAsText;
    const max = Math.min(maxCharacters ?? MAX_ANSWER_CHARACTERS, MAX_ANSWER_CHARACTERS);
    this.#maxCharacters = Math.max(max, 2 * SPARE_CHARACTERS) - SPARE_CHARACTERS;
  }

  protected listPaths(params: ReadFileParams): readonly string[] {
    return [readPath(params)];
  }

  ruleSubjects(params: ReadFileParams): readonly string[] {
    return [this.#workspace.relative(readPath(params))];
  }

  getDescription(params: ReadFileParams): string {
    const { offset, limit } = params;
    const lines = limit === undefined ? "" : `, lines ${(offset ?? 0) + 1} to ${(offset ?? 0) + limit}`;
    return `Read ${this.#workspace.relative(readPath(params))}${lines}`;
  }

  async execute(params: ReadFileParams, signal: AbortSignal): Promise<ToolResult> {
    const path = readPath(params);
    const range = {
      offset: params.offset ?? 0,
      limit: params.limit ?? DEFAULT_LINES,
      maxLineCharacters: MAX_LINE_CHARACTERS,
      maxCharacters: this.#maxCharacters,
      svgAsText: this.#svgAsText,
    };
    const content = await this.#workspace.read(path, range, signal);
    switch (content.kind) {
      case "binary": {
        const text = `Cannot display content of binary file: ${path}`;
        return { llmContent: text, returnDisplay: "Skipped a binary file." };
      }
      case "media":
        return buildMediaResult(content);
      case "text":
        if (range.offset > 0 && range.offset >= content.totalLines)
          return createPastEndError(path, range.offset, content);
        return { llmContent: formatLines(content, range.limit), returnDisplay: summarizeLines(content) };
    }
  }

  protected override checkParams(params: ReadFileParams): string | null {
    const unknown = Object.keys(params).find((key) => !NAMES.has(key));
    if (unknown !== undefined)
      return `"${unknown}" is not a parameter of read_file. It takes: ${[...NAMES].join(", ")}.`;
    const given = [params.absolute_path, params.path, params.file_path].filter((path) => path !== undefined);
    const path = given[0];
    if (path === undefined || path === "") return 'Give the absolute path of the file as "absolute_path".';
    if (typeof path !== "string") return '"file_path" must be a string.';
    if (given.some((other) => other !== path)) {
      return `"absolute_path", "path" and "file_path" mean the same and must be equal; give one of them.`;
    }
    if (!isAbsolute(path)) {
      return `The path must be absolute. "${path}" probably means "${resolveUserPath(path, this.#workspace.root)}".`;
    }
    if (params.offset !== undefined && params.limit === undefined) {
      return `"offset" needs "limit": give both, e.g. "offset": ${params.offset}, "limit": ${DEFAULT_LINES}.`;
    }
    return null;
  }
}

function readPath(params: ReadFileParams): string {
  return params.absolute_path ?? params.path ?? params.file_path ?? "";
}

function buildMediaResult({ mimeType, base64, bytes, note }: MediaContent): ToolResult {
  const size = bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} kB`;
  const media = { inlineData: { mimeType, data: base64 } };
  return {
    llmContent: note === undefined ? media : [note, media],
    returnDisplay: [`Read ${mimeType}, ${size}.`, ...(note === undefined ? [] : [note])].join(" "),
  };
}

function createPastEndError(path: string, offset: number, { totalLines }: TextLines): ToolResult {
  const count = totalLines === 1 ? "1 line" : `${totalLines} lines`;
  const message = `Offset ${offset} is past the end: ${path} has ${count}; offset counts from 0.`;
  return createFailedResult({ type: "offset_past_end", message });
}

function formatLines(content: TextLines, limit: number): string {
  const { firstLine, lastLine, totalLines, linesCut } = content;
  if (lastLine - firstLine + 1 === totalLines && linesCut === 0) return content.text;
  const hints: string[] = [];
  if (linesCut > 0) hints.push(`${linesCut} of them cut after ${MAX_LINE_CHARACTERS} characters`);
  if (lastLine < totalLines) hints.push(`read on with offset ${lastLine} and limit ${limit}`);
  const hint = hints.map((text) => `; ${text}`).join("");
  return `[File content truncated: showing lines ${firstLine}-${lastLine} of ${totalLines} total lines${hint}]\n${content.text}`;
}

function summarizeLines({ firstLine, lastLine, totalLines }: TextLines): string {
  if (totalLines === 0) return "The file is empty.";
  if (lastLine - firstLine + 1 === totalLines)
    return totalLines === 1 ? "Read 1 line." : `Read ${totalLines} lines.`;
  return `Read lines ${firstLine} to ${lastLine} of ${totalLines}.`;
}
