export { APPROVAL_MODES, type ApprovalMode, CurrentMode, stricterMode } from "@burin/contract/approval-mode";
export type { CommandPlace } from "./command-place.ts";
export { type CommandRequest, judgeCommand } from "./command-policy.ts";
export { bareLauncherOf } from "./command-rules.ts";
export { changedSettings, type GitLine, type GitStarts, readGitLine } from "./git-lines.ts";
export {
  type HostPlace,
  type HostRules,
  hostPatternFault,
  hostPatternWarning,
  hostPlaceText,
  judgeHost,
  namedPlaces,
  readHostPlace,
} from "./host-rules.ts";
export { type NamedWrites, namedWrites } from "./named-writes.ts";
export { type NetworkNeeds, type NetworkSource, type NetworkUse, networkNeeds } from "./network-needs.ts";
export type { GitUse, RepositoryFault } from "./programs/finding.ts";
export {
  PROTECTED_IN_GIT,
  PROTECTED_IN_HOME,
  protectedFile,
  protectedName,
  protectedPaths,
  WRITTEN_BY_GIT,
} from "./protected-files.ts";
export { parseRule, type Rule, type Rules, type RuleTarget, ruleCovers } from "./rules.ts";
export type { Grants, PartVerdict, Verdict } from "./verdict.ts";
