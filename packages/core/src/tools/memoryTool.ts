import { type FileSnapshot, type Workspace, WorkspaceError } from "@burin/contract/machine/workspace";
import { choice, closed, STRING, text, type ValueOf } from "@burin/contract/messages/option";
import {
  changeData,
  type FileDiff,
  type PreparedCall,
  PreparingTool,
  type ToolResult,
} from "@burin/contract/tools";
import { untilLanded } from "../text/until-landed.ts";

const PARAMETERS = closed(["fact"], {
  fact: text("One self-contained sentence.", { minLength: 1, maxLength: 2000 }),
  scope: choice(
    ["project", "global"],
    "project (default): for this folder; global: for all projects of this user.",
    STRING,
  ),
});
export type SaveMemoryParams = ValueOf<typeof PARAMETERS>;

/** Where facts are stored: one file for this project, one for all. */
export type MemoryPlaces = Readonly<Record<"project" | "global", MemoryPlace>>;

interface MemoryPlace {
  readonly file: string;
  /** The workspace that contains the file, opened when it is first needed. */
  open(): Promise<Workspace>;
}

const SEEN = /[^\s\p{C}]/u;

interface Change {
  readonly before: FileSnapshot;
  readonly content: string;
  /** The fact as written in the file. */
  readonly line: string;
  readonly diff: FileDiff;
  readonly realPath: string;
}

export class SaveMemory extends PreparingTool<SaveMemoryParams> {
  readonly name = "save_memory";
  readonly displayName = "SaveMemory";
  readonly kind = "edit";
  readonly description =
    "Remembers one fact for later sessions, when the user asks for it or states a lasting preference. Not for what belongs to the present task only.";
  readonly parameterSchema = PARAMETERS;
  readonly #places: MemoryPlaces;

  constructor(places: MemoryPlaces) {
    super();
    this.#places = places;
  }

  ruleSubjects({ scope = "project" }: SaveMemoryParams): readonly string[] {
    return [scope];
  }

  getDescription({ fact, scope = "project" }: SaveMemoryParams): string {
    return `Remember (${scope}): ${fact}`;
  }

  /** A known fact changes nothing, so no question is needed. */
  async prepare(params: SaveMemoryParams): Promise<PreparedCall> {
    const { file } = this.#place(params);
    const change = await this.#change(params);
    if (change === null) return { confirmation: false, run: async () => knownIn(file) };
    const { diff, realPath: path } = change;
    const grants = params.scope === "global" ? [] : [`${this.name}(project)`];
    return {
      confirmation: { kind: "edit", title: `Remember this in ${file}?`, path, diff, grants },
      run: (approval, signal) =>
        approval?.outcome === "edited"
          ? this.#saveEdited(params, { ...change, edited: approval.content }, signal)
          : this.#save(params, change, signal),
    };
  }

  async #save(params: SaveMemoryParams, first: Change, signal: AbortSignal): Promise<ToolResult> {
    const { file } = this.#place(params);
    const { done } = await untilLanded<Change | null>(first, {
      write: async (change) =>
        change === null ? { isNew: false, wasBasis: true, notes: [] } : this.#write(params, change, signal),
      merge: () => this.#change(params),
    });
    if (done === null) return knownIn(file);
    return {
      llmContent: `Remembered in ${file}: ${done.line}`,
      returnDisplay: done.diff,
      data: changeData(file, done.diff),
    };
  }

  /** The user has changed what the question showed. */
  async #saveEdited(
    params: SaveMemoryParams,
    { edited: content, ...change }: Change & { readonly edited: string },
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { file } = this.#place(params);
    const written = await this.#write(params, { ...change, content }, signal);
    const [{ fileDiff }, { usersVersionAnswer }] = await Promise.all([
      import("@burin/files/workspace/diff"),
      import("../text/edit-report.ts"),
    ]);
    const { fileName, originalContent: before } = change.diff;
    const { fileDiff: changes } = fileDiff({ fileName: file, before: change.content, after: content });
    const llmContent = usersVersionAnswer({ file, ...written, changes });
    const returnDisplay = fileDiff({ fileName, before, after: content });
    return { llmContent, returnDisplay, data: changeData(file, returnDisplay) };
  }

  async #write(params: SaveMemoryParams, { before, content }: Change, signal: AbortSignal) {
    const { file, open } = this.#place(params);
    const change = { file, content, isWholeKnown: false, basis: before.version, isBasisAgreed: true };
    return (await open()).write(change, signal);
  }

  protected override checkParams({ fact }: SaveMemoryParams): string | null {
    return !SEEN.test(fact) ? '"fact" is empty: write one sentence that is worth remembering.' : null;
  }

  #place({ scope = "project" }: SaveMemoryParams): MemoryPlace {
    return this.#places[scope];
  }

  /** The change to the file; null when the file contains the fact already. */
  async #change(params: SaveMemoryParams): Promise<Change | null> {
    const { file, open } = this.#place(params);
    const workspace = await open();
    const before = await workspace.snapshot(file);
    if (before.exists && before.text === null) {
      throw new WorkspaceError(
        "io_error",
        `${file} is not a text file or is too large, so nothing was added to it.`,
      );
    }
    const { factLine, withFact } = await import("../text/memory-section.ts");
    const content = withFact(before.text ?? "", params.fact);
    if (content === null) return null;
    const [{ fileDiff }, { after, realPath }] = await Promise.all([
      import("@burin/files/workspace/diff"),
      workspace.preview(file, content, before.version),
    ]);
    const diff = fileDiff({ fileName: workspace.relative(file), before: before.text, after });
    return { before, content, line: factLine(params.fact), diff, realPath };
  }
}

function knownIn(file: string): ToolResult {
  return { llmContent: `Already remembered in ${file}.`, returnDisplay: `Already in ${file}.` };
}
