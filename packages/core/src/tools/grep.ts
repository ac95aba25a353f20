import type { FileHits, SearchLine, SearchResult, Workspace } from "@burin/contract/machine/workspace";
import {
  closedObject,
  flag,
  integer,
  NON_EMPTY,
  number,
  type OptionValue,
  text,
} from "@burin/contract/messages/option";
import { Machine } from "@burin/contract/patterns/automaton";
import { parseGlob } from "@burin/contract/patterns/glob-pattern";
import { findPatternFault } from "@burin/contract/patterns/pattern";
import { parseSearchPattern } from "@burin/contract/patterns/search-dialect";
import { formatPath, QUOTED_NAMES_NOTE } from "@burin/contract/text/shown-path";
import type { ToolResult } from "@burin/contract/tools";
import { ReadingTool } from "../text/reading-tool.ts";

const DEFAULT_RESULTS = 20;
const MAX_RESULTS = 100;
const MAX_CONTEXT = 20;

const PARAMETERS = closedObject(["pattern"], {
  pattern: text("Regular expression; each line is matched alone.", NON_EMPTY),
  path: text("Directory or file to search in. Default: the root."),
  include: text('Only files matching this glob, e.g. "*.js", "src/**/*.{ts,tsx}".'),
  exclude: text("Leave out files matching this glob."),
  maxResults: number(`Most hits, 1 to ${MAX_RESULTS}. Default ${DEFAULT_RESULTS}.`),
  case_sensitive: flag("Default false."),
  fixed_strings: flag("Take the pattern as plain text. Default false."),
  context: integer(`Lines around each hit, 0 to ${MAX_CONTEXT}. Default 0.`),
  names_only: flag("Only name the files. Default false."),
  respect_git_ignore: flag("Leave out what git ignores. Default true."),
});
export type GrepParams = OptionValue<typeof PARAMETERS>;

const IGNORED_NOTES = { none: "", some: "have matches", unknown: "were not searched" };

/** The tool `search_file_content`: finds the lines in files that match a regular expression. */
export class Grep extends ReadingTool<GrepParams> {
  readonly name = "search_file_content";
  readonly displayName = "SearchText";
  readonly kind = "read";
  readonly description = [
    "Searches the lines of text files for a regular expression and gives file, line number and line.",
    "JavaScript syntax: . [] () | * + ? {n,m} ^ $ \\d \\w \\s \\b (ASCII); no look-around, no back-references.",
  ].join(" ");
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    super(workspace);
    this.#workspace = workspace;
  }

  protected listPaths(params: GrepParams): readonly string[] {
    return params.path ? [params.path] : [];
  }

  ruleSubjects(params: GrepParams): readonly string[] {
    return [this.#workspace.relative(params.path || ".")];
  }

  getDescription(params: GrepParams): string {
    const filter = params.include ? ` (${params.include})` : "";
    return `Search for ${params.pattern} in ${this.#workspace.relative(params.path || ".")}${filter}`;
  }

  async execute(params: GrepParams, signal: AbortSignal): Promise<ToolResult> {
    const max = params.maxResults ?? DEFAULT_RESULTS;
    const request = {
      pattern: params.pattern,
      caseSensitive: params.case_sensitive ?? false,
      fixed: params.fixed_strings ?? false,
      include: params.include ? [params.include] : [],
      exclude: params.exclude ? [params.exclude] : [],
      respectGitIgnore: params.respect_git_ignore ?? true,
      max,
      context: params.context ?? 0,
      namesOnly: params.names_only ?? false,
    };
    const place = params.path || this.#workspace.root;
    const result = await this.#workspace.search(place, request, signal);
    const ignored = IGNORED_NOTES[result.ignoredHits ?? "none"];
    const note =
      ignored && `\n[Files that git ignores ${ignored}. Set "respect_git_ignore" to false to search them.]`;
    return {
      llmContent: formatAnswer(params, result, max) + note,
      returnDisplay: summarizeHits(result, request.namesOnly),
      data: { hits: request.namesOnly ? result.files.length : result.hits },
    };
  }

  protected override checkParams(params: GrepParams): string | null {
    const { maxResults = DEFAULT_RESULTS, context = 0 } = params;
    if (!Number.isInteger(maxResults) || maxResults < 1 || maxResults > MAX_RESULTS) {
      return `"maxResults" must be a whole number from 1 to ${MAX_RESULTS}, got ${maxResults}.`;
    }
    if (context < 0 || context > MAX_CONTEXT) {
      return `"context" must be from 0 to ${MAX_CONTEXT}, got ${context}.`;
    }
    const dialect = { caseSensitive: params.case_sensitive ?? false, fixed: params.fixed_strings ?? false };
    return findPatternFault(() => {
      new Machine(parseSearchPattern(params.pattern, dialect));
      for (const glob of [params.include, params.exclude]) {
        if (glob) parseGlob(glob, { caseSensitive: true, groups: true });
      }
    });
  }
}

function formatAnswer(params: GrepParams, result: SearchResult, max: number): string {
  const filter = params.include ? ` (filter: "${params.include}")` : "";
  const place = `for pattern "${params.pattern}" in path "${params.path || "."}"${filter}`;
  const notes = result.gaps.map((gap) => `[Incomplete: ${gap}]`);
  if (result.hits === 0 && !result.hasMore) return [`No matches found ${place}.`, ...notes].join("\n");
  const warning = result.hasMore ? ["", ...buildWarning(max)] : [];
  const blocks = params.names_only
    ? result.files.map((file) => formatPath(file.path))
    : formatHitBlocks(result);
  if (result.files.some((file) => formatPath(file.path) !== file.path)) notes.unshift(QUOTED_NAMES_NOTE);
  return [`Found ${formatCount(result, params.names_only)} ${place}:`, ...blocks, ...notes, ...warning].join(
    "\n",
  );
}

function formatCount({ hits, files }: SearchResult, namesOnly: boolean | undefined): string {
  if (namesOnly) return files.length === 1 ? "1 file with matches" : `${files.length} files with matches`;
  return hits === 1 ? "1 match" : `${hits} matches`;
}

function formatHitBlocks({ files }: SearchResult): string[] {
  return [
    "---",
    ...files.flatMap((file) => [`File: ${formatPath(file.path)}`, ...formatHitLines(file), "---"]),
  ];
}

/** Formats the lines of a file. A gap between two groups of lines is marked only if context is shown. */
function formatHitLines({ lines }: FileHits): string[] {
  const hasContext = lines.some((line) => !line.isHit);
  return lines.flatMap((line, index) => {
    const previous = lines[index - 1];
    const isApart = hasContext && previous !== undefined && previous.number + 1 !== line.number;
    return isApart ? ["...", formatLine(line)] : [formatLine(line)];
  });
}

function formatLine({ number, text, isHit }: SearchLine): string {
  return isHit ? `L${number}: ${text}` : `L${number}- ${text}`;
}

function buildWarning(max: number): string[] {
  return [
    "WARNING: Results truncated to prevent context overflow. To see more results:",
    "- Use a more specific pattern to reduce matches",
    `- Add file filters with the 'include' parameter (e.g., "*.js", "src/**")`,
    "- Specify a narrower 'path' to search in a subdirectory",
    `- Increase 'maxResults' parameter if you need more matches (current: ${max})`,
  ];
}

function summarizeHits(result: SearchResult, namesOnly: boolean): string {
  const suffix = `${result.hasMore ? "; there are more" : ""}${result.gaps.length > 0 ? "; incomplete" : ""}`;
  return `Found ${formatCount(result, namesOnly)}${suffix}.`;
}
