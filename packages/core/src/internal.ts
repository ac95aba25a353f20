/**
 * What the other packages of this repository need of the library. Others must not: any version may change or
 * remove a name, without a word in the list of changes.
 */

export { cloneRepository } from "@burin/commands/git/clone-repository";
export { helperPath } from "@burin/commands/processes/helper-program";
export { SANDBOX_MODES } from "@burin/commands/sandbox/sandbox";
export { APPROVAL_MODES } from "@burin/contract/approval-mode";
export { schemaError } from "@burin/contract/messages/check-schema";
export type { ObjectSchema } from "@burin/contract/messages/message";
export { orElse } from "@burin/contract/or-else";
export { type Settings, SettingsError } from "@burin/contract/settings/settings";
export { SETTINGS_SCHEMA } from "@burin/contract/settings/settings-schema";
export { messageOf } from "@burin/contract/text/error-message";
export { nearNames } from "@burin/contract/text/near-names";
export { visibleText } from "@burin/contract/text/visible-text";
export {
  type AskedQuestion,
  type CommandLimits,
  type Effect,
  type GrantScope,
  type GrantWidth,
  kindOf,
  type PartReach,
} from "@burin/contract/tools";
export { appendLine } from "@burin/files/disk/append-line";
export { changeHomeFile } from "@burin/files/disk/home-file";
export { makeFolders } from "@burin/files/disk/make-folders";
export { lockPath } from "@burin/files/disk/path-lock";
export { readBeginning, readBytes, readText } from "@burin/files/disk/regular-file";
export { mediaKind } from "@burin/files/workspace/media-kind";
export { readWithin } from "@burin/files/workspace/read-opened";
export type { McpDoor } from "@burin/mcp/mcp-door";
export { chooseModel, keyVariable, missingForModel } from "@burin/models/choice/choose-model";
export { configuredModel } from "@burin/models/choice/configured-model";
export { knownModel, TABLE_DATE } from "@burin/models/choice/known-model";
export { openAiCompatible } from "@burin/models/choice/open-model";
export { findLocalServers, type Reached, reachModel } from "@burin/models/choice/reach-model";
export { parseRule, type Verdict } from "@burin/shell-judge";
export { contextFileNames } from "./agent/context-files.ts";
export { mediaParts } from "./agent/conversation.ts";
export type { CustomCommand } from "./agent/definitions.ts";
export { shownReason, warningFor } from "./approval/question-view.ts";
export { findBareLauncher, openGrants } from "./assembly/join-approval.ts";
export { type MachineFacts, machineFacts } from "./assembly/machine-facts.ts";
export { projectFiles } from "./assembly/project-files.ts";
export { repositoryState } from "./assembly/repository-state.ts";
export { findUndoGaps } from "./assembly/undo-gaps.ts";
export { openSession } from "./create-session.ts";
export type { OnCall } from "./scheduler/scheduler.ts";
export { nearTools } from "./scheduler/unknown-tool.ts";
export { findSession, removeSession, type SessionPlace } from "./session/log/session-files.ts";
export { sessionSummaries } from "./session/log/session-summary.ts";
export { type ToldSession, withoutSecrets, writeSession } from "./session/log/write-session.ts";
export { type RecordedSession, readRecordedSession } from "./session/recorded-session.ts";
export { type ForkOptions, forkSession, type ResumedSession, resumeSession } from "./session/resume.ts";
export { TurnCount } from "./session/turn-count.ts";
export { noteTakenBack, undoInCopy, undoPlan } from "./session/undo/undo-door.ts";
export { exitCodeIn } from "./session/work-proof.ts";
export type { FolderTrust } from "./settings/folder-trust.ts";
export type { GrantStore, StoredGrant } from "./settings/grants.ts";
export {
  burinHome,
  changeSettings,
  folderTrust,
  type LoadedSettings,
  loadSettings,
  openTrust,
} from "./settings/load-settings.ts";
export { fetchSiteSkills } from "./settings/site-skills.ts";
export type { TrustAnswer, TrustState } from "./settings/trust.ts";
export { contentWithParts, hunksOf, splitHunk } from "./text/diff-hunks.ts";
export { AskUser, answerNames, answersIn } from "./tools/askUser.ts";
export type { DiscoveryFailure } from "./tools/tool-registry.ts";
