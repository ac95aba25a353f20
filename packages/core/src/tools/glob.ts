import type { FindResult, Workspace } from "@burin/contract/machine/workspace";
import { closedObject, flag, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import { parseGlob } from "@burin/contract/patterns/glob-pattern";
import { findPatternFault } from "@burin/contract/patterns/pattern";
import { formatPath, QUOTED_NAMES_NOTE } from "@burin/contract/text/shown-path";
import type { ToolResult } from "@burin/contract/tools";
import { ReadingTool } from "../text/reading-tool.ts";

const PARAMETERS = closedObject(["pattern"], {
  pattern: text('Glob, e.g. "*.ts" or "src/**/*.{ts,tsx}".', NON_EMPTY),
  path: text("Directory to search in. Default: the root."),
  case_sensitive: flag("Default false."),
  respect_git_ignore: flag("Leave out what git ignores. Default true."),
});
export type GlobParams = OptionValue<typeof PARAMETERS>;

const MAX_FILES = 1000;
/** Below the limit of one tool answer, so that nothing is cut from the middle. */
const MAX_CHARACTERS = 80_000;
const HOW_TO_SEE_IGNORED = 'Set "respect_git_ignore" to false to see them.';

/** The tool `glob`: finds files by a pattern, the newest first. */
export class Glob extends ReadingTool<GlobParams> {
  readonly name = "glob";
  readonly displayName = "FindFiles";
  readonly kind = "read";
  readonly description =
    "Finds files by a glob pattern: absolute paths, newest first. A pattern without a slash matches names at any depth.";
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    super(workspace);
    this.#workspace = workspace;
  }

  protected listPaths(params: GlobParams): readonly string[] {
    return params.path ? [params.path] : [];
  }

  ruleSubjects(params: GlobParams): readonly string[] {
    return [this.#workspace.relative(params.path || ".")];
  }

  getDescription(params: GlobParams): string {
    return `Find ${params.pattern} in ${this.#workspace.relative(params.path || ".")}`;
  }

  async execute(params: GlobParams, signal: AbortSignal): Promise<ToolResult> {
    const request = {
      pattern: params.pattern,
      caseSensitive: params.case_sensitive ?? false,
      respectGitIgnore: params.respect_git_ignore ?? true,
      max: MAX_FILES,
    };
    const place = params.path || this.#workspace.root;
    const found = await this.#workspace.find(place, request, signal);
    const notes = listNotes(found);
    if (found.total === 0 && found.hasIgnored) {
      const everything = { ...request, respectGitIgnore: false, max: 1 };
      const { total } = await this.#workspace.find(place, everything, signal);
      if (total > 0) notes.push(`[git ignores ${total} file(s) that match. ${HOW_TO_SEE_IGNORED}]`);
    }
    const where = `"${params.pattern}" within ${place}`;
    return {
      llmContent: formatList(found, where, notes),
      returnDisplay: summarizeFiles(found),
      data: { hits: found.total },
    };
  }

  protected override checkParams(params: GlobParams): string | null {
    if (params.pattern.trim() === "") return '"pattern" must not be empty.';
    return findPatternFault(() => parseGlob(params.pattern, { caseSensitive: true, groups: true }));
  }
}

function formatList({ files, total }: FindResult, where: string, notes: string[]): string {
  if (total === 0) return [`No files found matching pattern ${where}.`, ...notes].join("\n");
  const lines = [`Found ${total} file(s) matching ${where}, sorted by modification time (newest first):`];
  let characters = 0;
  for (const file of files) {
    characters += file.length + 1;
    if (characters > MAX_CHARACTERS) break;
    lines.push(formatPath(file));
  }
  if (lines.some((line) => line.startsWith('"'))) notes.unshift(QUOTED_NAMES_NOTE);
  const shown = lines.length - 1;
  if (shown < total) {
    notes.unshift(
      `[The ${shown} newest of ${total} files are shown; use a more specific pattern or a narrower "path" to see others.]`,
    );
  }
  return [...lines, ...notes].join("\n");
}

function listNotes({ isPartial, unreadableFolders }: FindResult): string[] {
  const notes: string[] = [];
  if (isPartial) notes.push("[Incomplete: stopped after 30 seconds; search in a smaller directory.]");
  if (unreadableFolders > 0) notes.push(`[${unreadableFolders} unreadable folder(s) were skipped.]`);
  return notes;
}

function summarizeFiles({ total, isPartial }: FindResult): string {
  const count = total === 1 ? "1 file" : `${total} files`;
  return isPartial ? `Found ${count} before the time was over.` : `Found ${count}.`;
}
