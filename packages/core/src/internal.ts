/**
 * Names that other packages of this repository need. Embedders must not use them. A version may change or remove a
 * name without mentioning it in the changelog.
 */

export { cloneRepository } from "@burin/commands/git/clone-repository";
export { buildHelperPath } from "@burin/commands/processes/helper-program";
export { SANDBOX_MODES } from "@burin/commands/sandbox/sandbox";
export { APPROVAL_MODES, listModes } from "@burin/contract/approval-mode";
export { once } from "@burin/contract/async/once";
export { findSchemaError } from "@burin/contract/messages/check-schema";
export type { ObjectSchema } from "@burin/contract/messages/message";
export { type Settings, SettingsError } from "@burin/contract/settings/settings";
export { SETTINGS_SCHEMA } from "@burin/contract/settings/settings-schema";
export { describeError } from "@burin/contract/text/error-message";
export { findNearNames } from "@burin/contract/text/near-names";
export { visibleText } from "@burin/contract/text/visible-text";
export {
  type ChoiceQuestion,
  type CommandLimits,
  type CommandPart,
  type Effect,
  type GrantScope,
  type GrantWidth,
  resolveToolKind,
} from "@burin/contract/tools";
export { withFallback } from "@burin/contract/with-fallback";
export { changeHomeFile } from "@burin/files/disk/home-file";
export { appendLine, makeFolders } from "@burin/files/disk/own-files";
export { lockPath } from "@burin/files/disk/path-lock";
export { readBeginning, readBytes, readText } from "@burin/files/disk/regular-file";
export { detectMediaKind } from "@burin/files/workspace/media-kind";
export { readFileInFolder } from "@burin/files/workspace/read-opened";
export type { McpDoor } from "@burin/mcp/mcp-door";
export {
  chooseModel,
  describeMissing,
  findKeyVariable,
  listKeyedServices,
} from "@burin/models/choice/choose-model";
export { openConfiguredModel } from "@burin/models/choice/configured-model";
export { findKnownModel, TABLE_DATE } from "@burin/models/choice/known-model";
export { openAiCompatible } from "@burin/models/choice/open-model";
export { findLocalServers, type ReachResult, reachModel } from "@burin/models/choice/reach-model";
export { guessServices } from "@burin/models/keys/key-forms";
export { openLogin } from "@burin/models/keys/sign-in";
export { parseRule, type Verdict } from "@burin/shell-judge";
export { resolveContextFileNames } from "./agent/context-files.ts";
export { readMediaParts } from "./agent/conversation.ts";
export type { CustomCommand } from "./agent/definitions.ts";
export { classifyWarning, formatReason } from "./approval/question-view.ts";
export { findBareLauncher, openGrants } from "./assembly/join-approval.ts";
export { type MachineFacts, readMachineFacts } from "./assembly/machine-facts.ts";
export { listProjectFiles } from "./assembly/project-files.ts";
export { readRepositoryState } from "./assembly/repository-state.ts";
export { findUndoGaps } from "./assembly/undo-gaps.ts";
export { openSession } from "./create-session.ts";
export type { OnCall } from "./scheduler/scheduler.ts";
export { findNearTools } from "./scheduler/unknown-tool.ts";
export { findSession, removeSession, type SessionFile } from "./session/log/session-files.ts";
export { listSessionSummaries } from "./session/log/session-summary.ts";
export { type ImportedSession, redactSecrets, writeSession } from "./session/log/write-session.ts";
export { type RecordedSession, readRecordedSession } from "./session/recorded-session.ts";
export { type ForkOptions, forkSession, type ResumedSession, resumeSession } from "./session/resume.ts";
export { TurnCount } from "./session/turn-count.ts";
export { planUndo, recordTakenBack, runUndoInCopy } from "./session/undo/undo-door.ts";
export { readExitCode } from "./session/work-proof.ts";
export type { TakenChange, TreeChange } from "./session/worktree/merge-tree.ts";
export { isTreeName } from "./session/worktree/tree-name.ts";
export type { TreeRemains, WorkTree, WorkTreeLocation } from "./session/worktree/work-trees.ts";
export { workTrees } from "./session/worktree/worktree-door.ts";
export type { FolderTrust } from "./settings/folder-trust.ts";
export type { GrantStore, StoredGrant } from "./settings/grants.ts";
export { readKeptKeys } from "./settings/kept-keys.ts";
export { type KeptKey, KeyStore } from "./settings/key-store.ts";
export {
  changeSettings,
  type LoadedSettings,
  loadSettings,
  openTrust,
  readFolderTrust,
  resolveBurinHome,
} from "./settings/load-settings.ts";
export { fetchSiteSkills } from "./settings/site-skills.ts";
export type { TrustAnswer, TrustState } from "./settings/trust.ts";
export { applyHunkParts, findHunks, splitHunk } from "./text/diff-hunks.ts";
export { type DiffHunk, type DiffLine, type FilePatch, readDiff, readPatch } from "./text/diff-rows.ts";
export { AskUser, buildAnswerNames, parseAnswers } from "./tools/askUser.ts";
export type { DiscoveryFailure } from "./tools/tool-registry.ts";
