import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { SettingsInput } from "@burin/contract/settings/settings";
import type { Decision, Tool } from "@burin/contract/tools";
import type { Machine } from "@burin/machine/machine";
import type { Budget } from "../agent/budget.ts";
import type { Confirm } from "../scheduler/questions.ts";
import type { ResumedSession } from "../session/resume.ts";

export interface ToolboxOptions {
  /** The folder that all work stays in. It must exist. */
  readonly root: string;
  /** More folders that may be used beside the root; relative ones count from it. */
  readonly includeDirectories?: readonly string[];
  readonly settings?: SettingsInput;
  /** Asks the user; without it a call that must be asked about is refused. */
  readonly confirm?: Confirm;
  readonly approvalMode?: ApprovalMode;
  /** For calls that a user wrote: write_file may overwrite what was not read before. Without it, it refuses. */
  readonly overwriteUnread?: boolean;
  /** The root's own definitions of subagents are used, because its user trusts the folder. */
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

export interface SessionOptions extends ToolboxOptions {
  /** Most replies of the model to one prompt. */
  readonly maxTurns?: number;
  /** What the session may spend: `200k`, `$2`, `10m`, `50 calls` or several of them, joined by commas; or one that is shared. */
  readonly budget?: string | Budget;
  /** Instead of the one that settings and environment name. */
  readonly model?: ChatModel;
  /** Opens the model of that name, for the roles of settings and for subagents; without a name the main one. */
  readonly openModel?: (name?: string) => ChatModel | null;
  /**
   * Questions wait until somebody answers them by their id, see `Session.answer`. Without it and without `confirm`
   * a call that must be asked about is refused.
   */
  readonly awaitsAnswers?: boolean;
  /** Instead of asking, a question ends the run, and is kept in the record to be answered later; see `answer`. */
  readonly park?: boolean;
  /** The answer to the question that the session which is taken up was parked with; `goOn` uses it. */
  readonly answer?: Decision;
  /** The final answer must be JSON that fits this schema; the event `done` has its value as `structured`. */
  readonly answerSchema?: JsonSchema;
  /** A command that must pass before a run has ended well; its failures go back to the model. Default: `check` of the settings. */
  readonly check?: string;
  /**
   * The first prompt waits, up to 5 seconds, for MCP servers that were never up before: for runs that nobody
   * watches. Without it their tools come when they are up.
   */
  readonly awaitsServers?: boolean;
  /**
   * Keeps the record elsewhere too, e.g. in a database, whence `restoreSession` makes it a session again. It is given
   * the next lines of the record before a call does its work, after that, and at the end of a run; the call, and
   * what follows it, waits until it has resolved. When it rejects, nothing more is done.
   */
  readonly keepLog?: (lines: string) => Promise<void>;
  /** A session to take up again, from `resumeSession`; it is recorded on. */
  readonly resume?: ResumedSession;
}
