import type { Listing, Workspace } from "@burin/contract/machine/workspace";
import { closed, flag, NOT_EMPTY, text, texts, type ValueOf } from "@burin/contract/messages/option";
import { QUOTED_NAMES, shownPath } from "@burin/contract/text/shown-path";
import { BaseTool, type ToolResult } from "@burin/contract/tools";

const PARAMETERS = closed(["path"], {
  path: text("Absolute path of the directory.", NOT_EMPTY),
  ignore: texts('Globs of names to leave out, e.g. ["*.log", ".git"].'),
  respect_git_ignore: flag("Leave out what git ignores. Default true."),
});
export type ListDirectoryParams = ValueOf<typeof PARAMETERS>;

const MOST_ENTRIES = 2000;

export class ListFiles extends BaseTool<ListDirectoryParams> {
  readonly name = "list_directory";
  readonly displayName = "ReadFolder";
  readonly kind = "read";
  readonly description =
    "Lists the names directly in a directory: folders first, marked [DIR], then files. Does not descend.";
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    super();
    this.#workspace = workspace;
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
    return { llmContent: listingText(listing), returnDisplay: summary(listing) };
  }
}

function listingText({ path, entries }: Listing): string {
  if (entries.length === 0) return `Directory ${path} is empty.`;
  const lines = entries
    .slice(0, MOST_ENTRIES)
    .map(({ name, isDirectory }) => (isDirectory ? `[DIR] ${shownPath(name)}` : fileName(name)));
  const left = entries.length - lines.length;
  if (left > 0) lines.push(`[${left} more of ${entries.length} not shown; narrow with "ignore" or use glob]`);
  if (lines.some((line) => /^(?:\[DIR\] )?"/.test(line))) lines.push(QUOTED_NAMES);
  return `Directory listing for ${shownPath(path)}:\n${lines.join("\n")}`;
}

/** A file whose name looks like one of our own lines is quoted. */
function fileName(name: string): string {
  return /^\[(?:DIR\]|A name|\d+ more) /.test(name) ? JSON.stringify(name) : shownPath(name);
}

function summary({ entries, gitIgnored, ownIgnored }: Listing): string {
  const count = entries.length === 1 ? "1 item" : `${entries.length} items`;
  const ignored: string[] = [];
  if (gitIgnored > 0) ignored.push(`${gitIgnored} ignored by git`);
  if (ownIgnored > 0) ignored.push(`${ownIgnored} hidden by ignore rules`);
  return ignored.length > 0 ? `Listed ${count} (${ignored.join(", ")}).` : `Listed ${count}.`;
}
