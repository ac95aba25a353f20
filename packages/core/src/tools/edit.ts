import { isAbsolute } from "node:path";
import { once } from "@burin/contract/async/once";
import {
  type FileSnapshot,
  type FileWrite,
  type TextChange,
  type Workspace,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import {
  closedObject,
  flag,
  integer,
  NON_EMPTY,
  type OptionValue,
  object,
  option,
  text,
} from "@burin/contract/messages/option";
import { formatPath } from "@burin/contract/text/shown-path";
import {
  buildChangeData,
  createFailedResult,
  type FileDiff,
  type PreparedCall,
  PreparingTool,
  type ToolError,
  type ToolResult,
} from "@burin/contract/tools";
import type { EditMatch, EditRequest, Replacement } from "@burin/edit-match";
import { resolveUserPath } from "@burin/files/paths/user-path";
import type { CorrectEdit } from "../text/correct-edit.ts";
import { writeMerging } from "../text/write-merging.ts";

const ONE_EDIT = object(["old_string", "new_string"], {
  old_string: text(undefined, NON_EMPTY),
  new_string: text(),
  expected_replacements: integer(undefined, { minimum: 1 }),
  literal: flag(),
});
const PARAMETERS = closedObject(["file_path"], {
  file_path: text("Absolute path of the file.", NON_EMPTY),
  old_string: text("The text to replace."),
  new_string: text("The new text."),
  expected_replacements: integer("How many places to replace. Default 1.", { minimum: 1 }),
  literal: flag("Keep escapes of new_string as two characters."),
  edits: option<readonly OptionValue<typeof ONE_EDIT>[]>({
    type: "array",
    minItems: 1,
    description: "Several replacements, instead of those above.",
    items: ONE_EDIT,
  }),
});
/** One replacement, or several in the same file in `edits`. */
export type EditParams = OptionValue<typeof PARAMETERS>;

export interface EditOptions {
  /** Absent if there is no model or the user turned it off. */
  readonly correctEdit?: CorrectEdit | undefined;
}

interface WantedEdit extends TextChange {
  readonly expected: number;
  readonly fileName: string;
  readonly isLiteral: boolean;
}

/** What a call would do to the file in its last known state. */
interface Plan {
  readonly before: FileSnapshot;
  /** The whole new text that the tool proposes. */
  readonly content: string;
  readonly replacements: readonly Replacement[];
  readonly stage: string;
  readonly diff: FileDiff;
  readonly realPath: string;
}

type Matched = Extract<EditMatch, { readonly status: "matched" }>;
type Placed = Pick<Matched, "replacements" | "stage">;
type WithFailure<Value> = Promise<Value | ToolError>;

/** Loaded with the first edit, because it is a lot of code that most starts of Burin do not need. */
const loadChanging = once(() => import("../text/edit-code.ts"));

/** The smallest possible read. It is used to find out why a file cannot be read. */
const A_LOOK = { offset: 0, limit: 1, maxLineCharacters: 1 };

/** The tool `edit`: replaces text in one file, and shows the change before it asks. */
export class Edit extends PreparingTool<EditParams> {
  readonly name = "edit";
  readonly displayName = "Edit";
  readonly kind = "edit";
  readonly description = [
    "Replaces text in a file.",
    "old_string must be the file's own text, exactly, white space included,",
    "with at least 3 lines of context before and after, so that it is unique.",
    "An empty old_string makes a new file. edits changes several places, all or none.",
    "Returns the changed lines.",
  ].join(" ");
  readonly parameterSchema = PARAMETERS;
  readonly #workspace: Workspace;
  readonly #correctEdit: CorrectEdit | undefined;

  constructor(workspace: Workspace, { correctEdit }: EditOptions = {}) {
    super();
    this.#workspace = workspace;
    this.#correctEdit = correctEdit;
  }

  ruleSubjects(params: EditParams): readonly string[] {
    return [this.#workspace.relative(params.file_path)];
  }

  getDescription(params: EditParams): string {
    const verb = isCreation(params) ? "Create" : "Edit";
    return `${verb} ${this.#workspace.relative(params.file_path)}`;
  }

  /** An edit without a match is never shown for approval. It fails, and it does not write later either. */
  async prepare(params: EditParams, planning: AbortSignal): Promise<PreparedCall> {
    const plan = await this.#planEdit(params, planning);
    if ("message" in plan) return { confirmation: false, run: async () => createFailedResult(plan) };
    const named = formatPath(this.#workspace.relative(params.file_path));
    const real = formatPath(this.#workspace.relative(plan.realPath));
    const target = named === real ? named : `${named}, which is really ${real}`;
    const title = `${plan.before.exists ? "Edit" : "Create"} ${target}?`;
    return {
      confirmation: { kind: "edit", title, path: plan.realPath, diff: plan.diff, grants: [this.name] },
      run: (approval, signal) => {
        const edited = approval?.outcome === "edited" ? approval.content : plan.content;
        if (edited === plan.content) return this.#execute(params, plan, signal);
        return this.#writeEdited(params, { plan, edited }, signal);
      },
    };
  }

  async #execute(params: EditParams, plan: Plan, signal: AbortSignal): Promise<ToolResult> {
    const { written, done } = await writeMerging(plan, {
      write: (current) => this.#workspace.write(buildFileWrite(params, current), signal),
      merge: isCreation(params) ? null : (last, conflict) => this.#mergeEdit(params, last, conflict),
    });
    const { content, replacements, stage, diff, before } = done;
    const { formatChangedLines, formatCreated, formatModified } = await loadChanging();
    const answer = { file: params.file_path, notes: written.notes };
    const data = buildChangeData(done.realPath, diff);
    if (written.isNew) return { llmContent: formatCreated(answer), returnDisplay: diff, data };
    const lines = formatChangedLines(content, replacements, before.firstLine);
    const made = { ...answer, places: replacements.length, stage, lines };
    return { llmContent: formatModified(made), returnDisplay: diff, data };
  }

  protected override checkParams(params: EditParams): string | null {
    const { file_path: path, edits, old_string: oldText, new_string: newText } = params;
    if (!isAbsolute(path)) {
      return `"file_path" must be absolute. "${path}" probably means "${resolveUserPath(path, this.#workspace.root)}".`;
    }
    if (edits !== undefined && (oldText || newText)) {
      return 'Give either "edits" or "old_string" and "new_string", not both: put the replacement into "edits" as one more item.';
    }
    if (edits === undefined && (oldText === undefined || newText === undefined)) {
      const missing = oldText === undefined ? "old_string" : "new_string";
      return `"${missing}" is missing. Give "old_string" and "new_string", or several replacements in "edits".`;
    }
    const same = listEdits(params).findIndex((one) => one.oldText !== "" && one.oldText === one.newText);
    if (same === -1) return null;
    const where = edits === undefined ? "" : ` of edits[${same}]`;
    return `"old_string" and "new_string"${where} are the same: nothing would change.`;
  }

  async #planEdit(params: EditParams, signal: AbortSignal): WithFailure<Plan> {
    const file = params.file_path;
    if (isCreation(params)) return this.#planCreation(params, await this.#workspace.snapshot(file));
    const before = await this.#workspace.snapshot(file, listEdits(params));
    if (!before.exists) await this.#workspace.read(file, A_LOOK, signal).catch(suggestCreation);
    const message = `Failed to edit, ${file} is not a text file, so it cannot be edited.`;
    if (before.text === null) return { type: "not_text", message };
    const placed = await this.#placeEdits(params, (edit) => this.#locateEdit(edit, before, signal));
    return "message" in placed ? placed : this.#buildPlan(params, before, placed);
  }

  /** Places all edits in the current file, or none. */
  async #placeEdits(
    params: EditParams,
    locate: (edit: WantedEdit) => WithFailure<Matched>,
  ): WithFailure<Placed> {
    const matches: Matched[] = [];
    for (const [index, edit] of listEdits(params).entries()) {
      const match = await locate(edit);
      if ("message" in match) return addFailedEditIndex(match, params, index);
      matches.push(match);
    }
    return combineMatches(matches);
  }

  async #planCreation(params: EditParams, before: FileSnapshot): WithFailure<Plan> {
    const { buildFileDiff } = await loadChanging();
    const content = params.new_string ?? "";
    if (before.exists && (before.text !== "" || content === "")) {
      const message = [
        `Failed to edit, ${params.file_path} already exists and old_string is empty.`,
        "Give the text to replace as old_string, or overwrite the file with write_file.",
      ].join(" ");
      return { type: "file_exists", message };
    }
    const { realPath, after } = await this.#workspace.preview(params.file_path, content, before.version);
    const diff = buildFileDiff({ fileName: this.#workspace.relative(realPath), before: before.text, after });
    const replacements = before.exists ? [{ start: 0, end: 0, text: content }] : [];
    return { before, content, replacements, stage: "exact", diff, realPath };
  }

  /** Tries the deterministic stages first, then the model's correction, if available, which must match exactly. */
  async #locateEdit(edit: WantedEdit, before: FileSnapshot, signal: AbortSignal): WithFailure<Matched> {
    const isOutdated = before.seen === "older";
    const request = { content: before.text ?? "", ...edit, isOutdated };
    const { describeEditFailure } = await loadChanging();
    const match = await findPlaceInPart(before, request);
    if (match.status === "matched") return match;
    const failure = describeEditFailure({ match, expected: edit.expected, isOutdated });
    if (before.firstLine !== undefined) return explainLargeFile(failure);
    if (before.text === "") return explainEmptyFile(failure);
    if (match.status !== "none" && match.status !== "ambiguous") return failure;
    if (this.#correctEdit === undefined || (match.status === "none" && match.alreadyApplied)) return failure;
    const isSeveral = match.status === "ambiguous";
    const line = (isSeveral ? match.lines[0] : match.closest?.startLine) ?? 1;
    const places = isSeveral ? { places: match.lines.length === match.found ? match.lines : [] } : {};
    const failed = { ...request, reason: failure.message, line, ...places };
    const proposal = await this.#correctEdit(failed, signal);
    signal.throwIfAborted();
    if (proposal === null || proposal.oldText === "") return failure;
    const corrected = await findPlace({ ...request, ...proposal });
    if (corrected.status !== "matched" || corrected.stage !== "exact") return failure;
    return { ...corrected, stage: "corrected by the model" };
  }

  async #buildPlan(params: EditParams, before: FileSnapshot, { replacements, stage }: Placed): Promise<Plan> {
    const { applyReplacements, buildFileDiff } = await loadChanging();
    const { text, firstLine } = before;
    const content = applyReplacements(text ?? "", replacements);
    const { realPath, after } = await this.#workspace.preview(params.file_path, content, before.version);
    const fileName = this.#workspace.relative(realPath);
    const diff = buildFileDiff({ fileName, before: text, after, firstLine, changes: replacements });
    return { before, content, replacements, stage, diff, realPath };
  }

  /** Called if the file has changed in the meantime: applies the same change to its current content, or nothing. */
  async #mergeEdit(params: EditParams, plan: Plan, conflict: WorkspaceError): Promise<Plan> {
    const before = await this.#workspace.snapshot(params.file_path, listEdits(params));
    const content = before.text;
    if (content === null) throw conflict;
    const placed = await this.#placeEdits(params, async (edit) => {
      const match = await findPlaceInPart(before, { content, ...edit, isOutdated: true });
      if (match.status !== "matched") throw conflict;
      return match;
    });
    if ("message" in placed) throw conflict;
    const { isSameEdit } = await loadChanging();
    const planned = { ...plan, content: plan.before.text ?? "" };
    const byOthers = before.seen === "older" || before.seen === "nothing";
    if (!isSameEdit(planned, { ...placed, content }, { byOthers })) throw conflict;
    return this.#buildPlan(params, before, placed);
  }

  /** Writes the user's version of the proposal, but only over the exact content that the user saw. */
  async #writeEdited(
    params: EditParams,
    { plan, edited }: { readonly plan: Plan; readonly edited: string },
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { file, ...basis } = buildFileWrite(params, plan);
    const written = await this.#workspace.write({ ...basis, file, content: edited }, signal);
    const { buildFileDiff, formatUsersVersion } = await loadChanging();
    const now = { after: edited, firstLine: plan.before.firstLine };
    const { fileName, originalContent } = plan.diff;
    const { fileDiff: changes } = buildFileDiff({ fileName: file, before: plan.content, ...now });
    const llmContent = formatUsersVersion({ file, ...written, changes });
    const returnDisplay = buildFileDiff({ fileName, before: originalContent, ...now });
    return { llmContent, returnDisplay, data: buildChangeData(plan.realPath, returnDisplay) };
  }
}

/** Places an edit. A notebook is edited cell by cell, as it is shown; anything else, or text in no cell, as text. */
async function findPlace(request: EditRequest): Promise<EditMatch> {
  const { findEdit, mayBeNotebook } = await loadChanging();
  if (!mayBeNotebook(request.content)) return findEdit(request);
  const { findNotebookEdit } = await import("../text/notebook-edit.ts");
  return findNotebookEdit(request) ?? findEdit(request);
}

/** Places an edit in a snapshot. In a part of a large file, only an exact match is certain to be unique. */
async function findPlaceInPart({ firstLine }: FileSnapshot, request: EditRequest): Promise<EditMatch> {
  const match = await findPlace(request);
  if (firstLine === undefined) return match;
  const listLineNumbers = (from: readonly number[]) => from.map((line) => line + firstLine - 1);
  if (match.status === "ambiguous") return { ...match, lines: listLineNumbers(match.lines) };
  if (match.status === "none") return { status: "none", alreadyApplied: match.alreadyApplied };
  if (match.status !== "matched") return match;
  const isSure = match.stage === "exact" || match.stage === "line endings";
  return isSure
    ? { ...match, lines: listLineNumbers(match.lines) }
    : { status: "none", alreadyApplied: false };
}

function explainLargeFile(failure: ToolError): ToolError {
  const rule = "In a file above 10 MB only exact matches are looked for.";
  return failure.type === "no_occurrence" ? { ...failure, message: `${failure.message}\n${rule}` } : failure;
}

function explainEmptyFile(failure: ToolError): ToolError {
  const message = "Failed to edit, the file is empty. Give an empty old_string to fill it.";
  return { ...failure, message };
}

function listEdits({ file_path, edits, ...one }: EditParams): readonly WantedEdit[] {
  return (edits ?? [one]).map(({ old_string: oldText = "", new_string: newText = "", ...more }) => ({
    oldText,
    newText,
    expected: more.expected_replacements ?? 1,
    isLiteral: more.literal === true,
    fileName: file_path,
  }));
}

function isCreation({ edits, old_string }: EditParams): boolean {
  return edits === undefined && old_string === "";
}

/** Adds to the failure which of several edits failed. */
function addFailedEditIndex(failure: ToolError, { edits }: EditParams, index: number): ToolError {
  if (edits === undefined || edits.length === 1) return failure;
  const message = `${failure.message}\nThis is about edits[${index}]; none of the ${edits.length} edits was made.`;
  return { ...failure, message };
}

function combineMatches(matches: readonly Matched[]): Placed | ToolError {
  const all = matches.flatMap(({ replacements, lines }, edit) =>
    replacements.map((replacement, at) => ({ replacement, edit, line: lines[at] ?? 1 })),
  );
  all.sort((one, other) => one.replacement.start - other.replacement.start);
  for (const [at, { replacement, edit, line }] of all.entries()) {
    const last = all[at - 1];
    if (last === undefined || last.edit === edit) continue;
    const { start, end } = last.replacement;
    if (replacement.start >= end && replacement.start > start) continue;
    const message = `Failed to edit, edits[${last.edit}] and edits[${edit}] overlap at line ${line}. Nothing was written. Make one edit of the two.`;
    return { type: "overlap", message };
  }
  const inexact = matches.flatMap(({ stage }, index) =>
    stage === "exact" ? [] : [matches.length === 1 ? stage : `${stage} (edits[${index}])`],
  );
  const stage = inexact.length === 0 ? "exact" : inexact.join("; ");
  return { replacements: all.map(({ replacement }) => replacement), stage };
}

function buildFileWrite({ file_path: file }: EditParams, { before, content }: Plan): FileWrite {
  return { file, content, isWholeKnown: false, basis: before.version, isBasisAgreed: true };
}

function suggestCreation(error: unknown): never {
  if (!(error instanceof WorkspaceError) || error.code !== "not_found") throw error;
  throw new WorkspaceError("not_found", `${error.message} To create it, give an empty old_string.`);
}
