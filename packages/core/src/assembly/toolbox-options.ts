import type { SettingsInput } from "@burin/contract/settings/settings";
import type { Tool } from "@burin/contract/tools";
import type { Machine } from "@burin/machine/machine";
import type { ApprovalMode } from "../approval/approval-policy.ts";
import type { Confirm } from "../scheduler/questions.ts";

export interface ToolboxOptions {
  /** The folder that all work stays in. It must exist. */
  readonly root: string;
  /** More folders that may be used beside the root; relative ones count from it. */
  readonly includeDirectories?: readonly string[];
  readonly settings?: SettingsInput;
  /** Asks the person; without it a call that must be asked about is refused. */
  readonly confirm?: Confirm;
  readonly approvalMode?: ApprovalMode;
  /** For calls that a person wrote: write_file may overwrite what was not read before. Without it, it refuses. */
  readonly overwriteUnread?: boolean;
  /** The root's own definitions of subagents are used, because its person trusts the folder. */
  readonly isTrusted?: boolean;
  /** Keeps under BURIN_HOME what is needed to take changes of files back, and a session so that it can be taken up again. */
  readonly record?: boolean;
  /** More tools, beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Instead of this computer: where files are and commands run. `root` is a folder of its own. */
  readonly machine?: Machine;
  /** Instead of this process's own: where BURIN_HOME and the variables of commands come from. */
  readonly environment?: NodeJS.ProcessEnv;
}
