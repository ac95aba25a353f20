export {
  APPROVAL_MODES,
  type ApprovalMode,
  CurrentMode,
  pickStricterMode,
} from "@burin/contract/approval-mode";
export type { CommandLocation } from "./command-place.ts";
export { type CommandRequest, judgeCommand } from "./command-policy.ts";
export { findCodeRunnerInRule } from "./command-rules.ts";
export type { NameSource } from "./found-names.ts";
export { type GitLine, type GitTriggers, listChangedSettings, readGitLine } from "./git-lines.ts";
export {
  findHostPatternFault,
  findHostPatternWarning,
  formatHostEndpoint,
  type HostEndpoint,
  type HostRules,
  judgeHost,
  listExplicitEndpoints,
  parseHostEndpoint,
} from "./host-rules.ts";
export { type CommandWrites, type FoundWrite, findCommandWrites } from "./named-writes.ts";
export {
  findNetworkRequirements,
  type NetworkRequirements,
  type NetworkSource,
  type NetworkUse,
} from "./network-needs.ts";
export type { GitUse, RepositoryFault } from "./programs/finding.ts";
export {
  buildProtectedPatterns,
  explainProtectedFile,
  explainProtectedName,
  isWrittenByGit,
  PROTECTED_IN_GIT,
  PROTECTED_IN_HOME,
} from "./protected-files.ts";
export { parseRule, type Rule, type Rules, type RuleTarget, ruleCovers } from "./rules.ts";
export type { Grants, PartVerdict, Verdict } from "./verdict.ts";
