import { isAbsolute } from "node:path";
import { once } from "@burin/contract/async/once";
import { type FileSnapshot, type Workspace, WorkspaceError } from "@burin/contract/machine/workspace";
import { closedObject, NON_EMPTY, type OptionValue, text } from "@burin/contract/messages/option";
import { formatPath } from "@burin/contract/text/shown-path";
import {
  type Approval,
  buildChangeData,
  type FileDiff,
  type PreparedCall,
  PreparingTool,
  type ToolResult,
} from "@burin/contract/tools";
import { resolveUserPath } from "@burin/files/paths/user-path";

const PARAMETERS = closedObject(["file_path", "content"], {
  file_path: text("Absolute path of the file.", NON_EMPTY),
  content: text("The complete content of the file."),
});
export type WriteFileParams = OptionValue<typeof PARAMETERS>;

export interface WriteFileOptions {
  /** For calls that a user wrote: allows overwriting existing files that were not read before. */
  readonly overwriteUnread?: boolean | undefined;
}

/** What the call would do to the file in its last known state. */
interface Plan {
  readonly realPath: string;
  /** The file's state that the diff is based on. */
  readonly before: FileSnapshot;
  readonly diff: FileDiff;
}

/** Loaded with the first write, because comparing contents is a lot of code that most starts of Burin do not need. */
const loadOverwriting = once(() => import("../text/overwriting.ts"));

/** The tool `write_file`: creates a file, or replaces all of it, and shows the change before it asks. */
export class WriteFile extends PreparingTool<WriteFileParams> {
  readonly name = "write_file";
  readonly displayName = "WriteFile";
  readonly kind = "edit";
  readonly description = [
    "Writes a whole text file: makes it, with missing folders, or overwrites it.",
    "Give all of the content, without placeholders. An existing file must have been read in full before.",
    "Its encoding and line ends are kept.",
  ].join(" ");
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;
  readonly #overwriteUnread: boolean;

  constructor(workspace: Workspace, { overwriteUnread = false }: WriteFileOptions = {}) {
    super();
    this.#workspace = workspace;
    this.#overwriteUnread = overwriteUnread;
  }

  ruleSubjects(params: WriteFileParams): readonly string[] {
    return [this.#workspace.relative(params.file_path)];
  }

  getDescription(params: WriteFileParams): string {
    return `Write ${this.#workspace.relative(params.file_path)}`;
  }

  async prepare(params: WriteFileParams): Promise<PreparedCall> {
    const plan = await this.#plan(params);
    const { realPath, diff } = plan;
    const named = formatPath(this.#workspace.relative(params.file_path));
    const real = formatPath(this.#workspace.relative(realPath));
    const verb = plan.before.exists ? "Overwrite" : "Create";
    const target = named === real ? named : `${named}, which is really ${real}`;
    return {
      confirmation: { kind: "edit", title: `${verb} ${target}?`, path: realPath, diff, grants: [this.name] },
      run: (approval, signal) => this.#write(params, { plan, approval }, signal),
    };
  }

  async #write(
    params: WriteFileParams,
    { plan, approval }: { readonly plan: Plan; readonly approval: Approval | null },
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const content = approval?.outcome === "edited" ? approval.content : params.content;
    const isBasisAgreed = approval !== null || this.#overwriteUnread;
    const { version: basis } = plan.before;
    const file = params.file_path;
    const change = { file, content, isWholeKnown: true, basis, isBasisAgreed };
    const written = await this.#workspace.write(change, signal);
    const isEdited = content !== params.content;
    const lines = [
      written.isNew
        ? `Successfully created and wrote to new file: ${file}`
        : `Successfully overwrote file: ${file}`,
      ...written.notes.map((note) => `Note: ${note}.`),
    ];
    if (!isEdited) {
      const returnDisplay = written.wasBasis ? plan.diff : `Wrote ${this.#workspace.relative(file)}.`;
      const change = written.isNew ? ("created" as const) : ("modified" as const);
      const unmeasured = { changedFiles: [{ path: plan.realPath, change }] };
      const data = written.wasBasis ? buildChangeData(plan.realPath, plan.diff) : unmeasured;
      return { llmContent: lines.join("\n"), returnDisplay, data };
    }
    const { buildFileDiff } = await loadOverwriting();
    const { fileDiff: changes } = buildFileDiff({ fileName: file, before: params.content, after: content });
    lines.push(
      "The user changed the content before approving it. The file holds their version; the differences from yours:",
      changes,
    );
    const { fileName, originalContent } = plan.diff;
    const { after } = await this.#workspace.preview(file, content);
    const returnDisplay = buildFileDiff({ fileName, before: originalContent, after });
    return {
      llmContent: lines.join("\n"),
      returnDisplay,
      data: buildChangeData(plan.realPath, returnDisplay),
    };
  }

  protected override checkParams({ file_path: path }: WriteFileParams): string | null {
    if (isAbsolute(path)) return null;
    return `"file_path" must be absolute. "${path}" probably means "${resolveUserPath(path, this.#workspace.root)}".`;
  }

  /** Prepares the change. Throws now if the call is bound to fail, so that the user is not asked in vain. */
  async #plan({ file_path: file, content }: WriteFileParams): Promise<Plan> {
    const { realPath, before, after } = await this.#workspace.preview(file, content);
    if (before.seen === "older") {
      throw new WorkspaceError(
        "changed_on_disk",
        `${file} has changed on disk since it was read, so it was not overwritten. Read it again with read_file, include what changed, and repeat the call.`,
      );
    }
    const { buildFileDiff, findNewOmission } = await loadOverwriting();
    const placeholder = findNewOmission(before.text ?? "", content);
    if (placeholder !== null) {
      throw new WorkspaceError(
        "omission_placeholder",
        `Nothing was written: the line "${placeholder}" stands for content that would be lost. Give all of the content, or change only a part with edit.`,
      );
    }
    const isBinary = before.text === null && before.exists;
    const original = isBinary ? `[binary content, ${before.bytes} bytes]\n` : before.text;
    const diff = buildFileDiff({ fileName: this.#workspace.relative(realPath), before: original, after });
    return { realPath, before, diff };
  }
}
