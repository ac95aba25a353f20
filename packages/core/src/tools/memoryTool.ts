import { type FileSnapshot, type Workspace, WorkspaceError } from "@burin/contract/machine/workspace";
import { choice, closedObject, type OptionValue, STRING, text } from "@burin/contract/messages/option";
import {
  buildChangeData,
  type FileDiff,
  type PreparedCall,
  PreparingTool,
  type ToolResult,
} from "@burin/contract/tools";
import { writeMerging } from "../text/write-merging.ts";

const PARAMETERS = closedObject(["fact"], {
  fact: text("One self-contained sentence.", { minLength: 1, maxLength: 2000 }),
  scope: choice(
    ["project", "global"],
    "project (default): for this folder; global: for all projects of this user.",
    STRING,
  ),
});
export type SaveMemoryParams = OptionValue<typeof PARAMETERS>;

/** Where facts are stored: one file for this project and one for all projects. */
export type MemoryFiles = Readonly<Record<"project" | "global", MemoryFile>>;

interface MemoryFile {
  readonly file: string;
  /** Opens the workspace that contains the file, on first use. */
  open(): Promise<Workspace>;
}

const SEEN = /[^\s\p{C}]/u;

interface Change {
  readonly before: FileSnapshot;
  readonly content: string;
  /** The fact as it is written in the file. */
  readonly line: string;
  readonly diff: FileDiff;
  readonly realPath: string;
}

/** The tool `save_memory`: adds a fact to the file that later sessions read. */
export class SaveMemory extends PreparingTool<SaveMemoryParams> {
  readonly name = "save_memory";
  readonly displayName = "SaveMemory";
  readonly kind = "edit";
  readonly description =
    "Remembers one fact for later sessions, when the user asks for it or states a lasting preference. Not for what belongs to the present task only.";
  readonly parameterSchema = PARAMETERS;
  readonly #places: MemoryFiles;

  constructor(places: MemoryFiles) {
    super();
    this.#places = places;
  }

  ruleSubjects({ scope = "project" }: SaveMemoryParams): readonly string[] {
    return [scope];
  }

  getDescription({ fact, scope = "project" }: SaveMemoryParams): string {
    return `Remember (${scope}): ${fact}`;
  }

  /** Prepares the change. If the fact is already known, nothing changes, so no question is needed. */
  async prepare(params: SaveMemoryParams): Promise<PreparedCall> {
    const { file } = this.#chooseFile(params);
    const change = await this.#computeChange(params);
    if (change === null) return { confirmation: false, run: async () => createKnownResult(file) };
    const { diff, realPath: path } = change;
    const grants = params.scope === "global" ? [] : [`${this.name}(project)`];
    return {
      confirmation: { kind: "edit", title: `Remember this in ${file}?`, path, diff, grants },
      run: (approval, signal) =>
        approval?.outcome === "edited"
          ? this.#saveEdited(params, { ...change, edited: approval.content }, signal)
          : this.#saveFact(params, change, signal),
    };
  }

  async #saveFact(params: SaveMemoryParams, first: Change, signal: AbortSignal): Promise<ToolResult> {
    const { file } = this.#chooseFile(params);
    const { done } = await writeMerging<Change | null>(first, {
      write: async (change) =>
        change === null
          ? { isNew: false, wasBasis: true, notes: [] }
          : this.#writeMemoryFile(params, change, signal),
      merge: () => this.#computeChange(params),
    });
    if (done === null) return createKnownResult(file);
    return {
      llmContent: `Remembered in ${file}: ${done.line}`,
      returnDisplay: done.diff,
      data: buildChangeData(file, done.diff),
    };
  }

  /** Saves the fact as the user edited it in the question. */
  async #saveEdited(
    params: SaveMemoryParams,
    { edited: content, ...change }: Change & { readonly edited: string },
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { file } = this.#chooseFile(params);
    const written = await this.#writeMemoryFile(params, { ...change, content }, signal);
    const [{ buildFileDiff }, { formatUsersVersion }] = await Promise.all([
      import("@burin/files/workspace/diff"),
      import("../text/edit-report.ts"),
    ]);
    const { fileName, originalContent: before } = change.diff;
    const { fileDiff: changes } = buildFileDiff({ fileName: file, before: change.content, after: content });
    const llmContent = formatUsersVersion({ file, ...written, changes });
    const returnDisplay = buildFileDiff({ fileName, before, after: content });
    return { llmContent, returnDisplay, data: buildChangeData(file, returnDisplay) };
  }

  async #writeMemoryFile(params: SaveMemoryParams, { before, content }: Change, signal: AbortSignal) {
    const { file, open } = this.#chooseFile(params);
    const change = { file, content, isWholeKnown: false, basis: before.version, isBasisAgreed: true };
    return (await open()).write(change, signal);
  }

  protected override checkParams({ fact }: SaveMemoryParams): string | null {
    return !SEEN.test(fact) ? '"fact" is empty: write one sentence that is worth remembering.' : null;
  }

  #chooseFile({ scope = "project" }: SaveMemoryParams): MemoryFile {
    return this.#places[scope];
  }

  /** Returns the change to the file, or null if it already contains the fact. */
  async #computeChange(params: SaveMemoryParams): Promise<Change | null> {
    const { file, open } = this.#chooseFile(params);
    const workspace = await open();
    const before = await workspace.snapshot(file);
    if (before.exists && before.text === null) {
      throw new WorkspaceError(
        "io_error",
        `${file} is not a text file or is too large, so nothing was added to it.`,
      );
    }
    const { formatFact, addFact } = await import("../text/memory-section.ts");
    const content = addFact(before.text ?? "", params.fact);
    if (content === null) return null;
    const [{ buildFileDiff }, { after, realPath }] = await Promise.all([
      import("@burin/files/workspace/diff"),
      workspace.preview(file, content, before.version),
    ]);
    const diff = buildFileDiff({ fileName: workspace.relative(file), before: before.text, after });
    return { before, content, line: formatFact(params.fact), diff, realPath };
  }
}

function createKnownResult(file: string): ToolResult {
  return { llmContent: `Already remembered in ${file}.`, returnDisplay: `Already in ${file}.` };
}
