import type { Listing, Workspace } from "@burin/contract/machine/workspace";
import {
  closedObject,
  flag,
  NON_EMPTY,
  type OptionValue,
  text,
  textList,
} from "@burin/contract/messages/option";
import { formatPath, QUOTED_NAMES_NOTE } from "@burin/contract/text/shown-path";
import type { ToolResult } from "@burin/contract/tools";
import { ReadingTool } from "../text/reading-tool.ts";

const PARAMETERS = closedObject(["path"], {
  path: text("Absolute path of the directory.", NON_EMPTY),
  ignore: textList('Globs of names to leave out, e.g. ["*.log", ".git"].'),
  respect_git_ignore: flag("Leave out what git ignores. Default true."),
});
export type ListDirectoryParams = OptionValue<typeof PARAMETERS>;

const MAX_ENTRIES = 2000;

/** The tool `list_directory`: lists what is in a folder. */
export class ListFiles extends ReadingTool<ListDirectoryParams> {
  readonly name = "list_directory";
  readonly displayName = "ReadFolder";
  readonly kind = "read";
  readonly description =
    "Lists the names directly in a directory: folders first, marked [DIR], then files. Does not descend.";
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    super(workspace);
    this.#workspace = workspace;
  }

  protected listPaths(params: ListDirectoryParams): readonly string[] {
    return [params.path];
  }

  ruleSubjects(params: ListDirectoryParams): readonly string[] {
    return [this.#workspace.relative(params.path)];
  }

  getDescription(params: ListDirectoryParams): string {
    return `List ${this.#workspace.relative(params.path)}`;
  }

  async execute(params: ListDirectoryParams, signal: AbortSignal): Promise<ToolResult> {
    const listing = await this.#workspace.list(
      params.path,
      { ignore: params.ignore ?? [], respectGitIgnore: params.respect_git_ignore ?? true },
      signal,
    );
    return { llmContent: formatListing(listing), returnDisplay: summarizeListing(listing) };
  }
}

function formatListing({ path, entries }: Listing): string {
  if (entries.length === 0) return `Directory ${path} is empty.`;
  const lines = entries
    .slice(0, MAX_ENTRIES)
    .map(({ name, isDirectory }) => (isDirectory ? `[DIR] ${formatPath(name)}` : formatFileName(name)));
  const left = entries.length - lines.length;
  if (left > 0) lines.push(`[${left} more of ${entries.length} not shown; narrow with "ignore" or use glob]`);
  if (lines.some((line) => /^(?:\[DIR\] )?"/.test(line))) lines.push(QUOTED_NAMES_NOTE);
  return `Directory listing for ${formatPath(path)}:\n${lines.join("\n")}`;
}

/** Formats a file name. A name that looks like one of the tool's own lines is quoted. */
function formatFileName(name: string): string {
  return /^\[(?:DIR\]|A name|\d+ more) /.test(name) ? JSON.stringify(name) : formatPath(name);
}

function summarizeListing({ entries, gitIgnored, ownIgnored }: Listing): string {
  const count = entries.length === 1 ? "1 item" : `${entries.length} items`;
  const ignored: string[] = [];
  if (gitIgnored > 0) ignored.push(`${gitIgnored} ignored by git`);
  if (ownIgnored > 0) ignored.push(`${ownIgnored} hidden by ignore rules`);
  return ignored.length > 0 ? `Listed ${count} (${ignored.join(", ")}).` : `Listed ${count}.`;
}
