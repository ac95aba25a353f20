import type { Machine } from "@burin/commands/machine";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonSchema } from "@burin/contract/messages/message";
import type { SettingsInput } from "@burin/contract/settings/settings";
import type { Decision, Question, Tool } from "@burin/contract/tools";
import type { Budget } from "../agent/budget.ts";
import type { Confirm } from "../scheduler/questions.ts";
import type { ResumedSession } from "../session/resume.ts";

/** What `createToolbox` takes, and `createSession` too. Only `root` is required. */
export interface ToolboxOptions {
  /** The folder in which all work happens. It must exist. */
  readonly root: string;
  /** More folders that tools may use. Relative paths start at the root. */
  readonly includeDirectories?: readonly string[];
  /** The keys of settings.json. No file is read unless the program does it. */
  readonly settings?: SettingsInput;
  /** Asks the user. Without it, a call that needs a question is refused. */
  readonly confirm?: Confirm;
  /**
   * If true, questions wait until `answer` of the toolbox or session answers them by their id. With neither this nor
   * `confirm`, a call that needs a question is refused.
   */
  readonly awaitsAnswers?: boolean;
  /** Called with each question of a toolbox when it is asked. A session reports its questions as events. */
  readonly onQuestion?: (question: Question) => void;
  /** How much runs without a question. Default: `default`. */
  readonly approvalMode?: ApprovalMode | undefined;
  /** For calls that a user wrote: allows write_file to overwrite files that were not read. Default: it refuses. */
  readonly overwriteUnread?: boolean;
  /** Whether the user trusts the root folder, so that its own subagents, skills and commands are used. */
  readonly isTrusted?: boolean;
  /** Whether to store under BURIN_HOME what undo needs and, for a session, its log, so that it can be resumed. */
  readonly record?: boolean;
  /**
   * Whether the root and the included directories are copies that share no repository with anything else. In the mode
   * `auto`, commands may then change and remove everything in them unasked.
   */
  readonly isCopy?: boolean;
  /** Tools in addition to the built-in ones. Each may have params of its own type. */
  readonly tools?: readonly Tool<never>[];
  /** Replaces this computer as the place of files and commands. `root` is then a folder on that machine. */
  readonly machine?: Machine;
  /**
   * The folder for sessions, grants and undo, instead of `~/.burin`. With `false`, nothing of the user is read: no
   * instructions, skills, grants or stored logins. Data that must be stored goes to a temporary folder, which `close`
   * removes.
   */
  readonly home?: string | false | undefined;
  /** The time limit of calls in milliseconds, by tool name. A call that exceeds it ends with the error `timeout`. */
  readonly toolTimeouts?: Readonly<Record<string, number>>;
  /** Replaces this process's environment, both for BURIN_HOME and for the variables of commands. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Options of `ready`, which waits for tool sources. */
export interface ReadyOptions {
  readonly signal?: AbortSignal;
  /** The longest wait. Default: 10 seconds, or as long as the discovery command may take if that is more. */
  readonly timeoutMs?: number;
}

/** What `createSession` takes in addition to the options of a toolbox. */
export interface SessionOptions extends ToolboxOptions {
  /** The maximum number of replies of the model to one prompt. */
  readonly maxTurns?: number | undefined;
  /** The system prompt, instead of "You are Burin, a coding agent ...". */
  readonly instructions?: string | undefined;
  /** What the session may spend: `200k`, `$2`, `10m`, `50 calls`, several joined by commas, or a shared Budget. */
  readonly budget?: string | Budget | undefined;
  /** The model to use, instead of the one that settings and environment name. */
  readonly model?: ChatModel;
  /** Opens the model with this name, for the roles in settings and for subagents; without a name the main model. */
  readonly openModel?: (name?: string) => ChatModel | null;
  /** If true, a question ends the run and is stored in the log, to be answered later; see `answer`. */
  readonly park?: boolean;
  /** The answer to the question on which the resumed session was parked. `continue` uses it. */
  readonly answer?: Decision;
  /** The final answer must be JSON that matches this schema. The `done` event contains its value as `structured`. */
  readonly answerSchema?: JsonSchema;
  /** A command that must succeed for a run to succeed. The model gets its failures. Default: `check` in settings. */
  readonly check?: string | undefined;
  /**
   * If true, the first prompt waits up to 5 seconds for MCP servers that have never been connected. Intended for
   * unattended runs. Otherwise their tools are added when the servers connect.
   */
  readonly awaitsServers?: boolean;
  /**
   * Stores the log in another place as well, for example a database, from which `restoreSession` rebuilds the session.
   * Called with the next lines of the log before a call does its work, after it, and at the end of a run. The call and
   * everything after it waits for the promise. If it rejects, the work stops.
   */
  readonly keepLog?: (lines: string) => Promise<void>;
  /** A session to resume, from `resumeSession`. Its log is continued. */
  readonly resume?: ResumedSession;
}

/** The rules that the user allowed until the session ends, with a way to revoke them. */
export interface SessionGrants {
  readonly rules: readonly string[];
  /** Returns whether there was such a rule. */
  revoke(rule: string): boolean;
}
