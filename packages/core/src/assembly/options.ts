import type { Machine } from "@burin/commands/machine";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonSchema } from "@burin/contract/messages/message";
import type { SettingsInput } from "@burin/contract/settings/settings";
import type { Decision, Question, Tool } from "@burin/contract/tools";
import type { Budget } from "../agent/budget.ts";
import type { Confirm } from "../scheduler/questions.ts";
import type { ResumedSession } from "../session/resume.ts";

export interface ToolboxOptions {
  /** The folder that all work stays in. It must exist. */
  readonly root: string;
  /** More folders that may be used; relative paths start at the root. */
  readonly includeDirectories?: readonly string[];
  readonly settings?: SettingsInput;
  /** Asks the user; without it a call that needs a question is refused. */
  readonly confirm?: Confirm;
  /**
   * Questions wait until they are answered by their id, see `answer` of the toolbox or session. Without it and without
   * `confirm` a call that needs a question is refused.
   */
  readonly awaitsAnswers?: boolean;
  /** Called with each question of a toolbox when it is asked. A session has events. */
  readonly onQuestion?: (question: Question) => void;
  readonly approvalMode?: ApprovalMode | undefined;
  /** For calls that a user wrote: write_file may overwrite files that were not read before. Without it, it refuses. */
  readonly overwriteUnread?: boolean;
  /** The root's own definitions of subagents are used, because its user trusts the folder. */
  readonly isTrusted?: boolean;
  /** Stores under BURIN_HOME what is needed to undo changes of files, and a session so that it can be resumed. */
  readonly record?: boolean;
  /** Tools in addition to the built-in ones, each with params of its own type. */
  readonly tools?: readonly Tool<never>[];
  /** Replaces this computer: where files are and commands run. `root` is then a folder on that machine. */
  readonly machine?: Machine;
  /**
   * The folder for sessions, grants and undo, in place of `~/.burin`. With `false` nothing of the user is read: no
   * instructions, skills, grants or stored logins; what must be stored is in a temporary folder that `close` removes.
   */
  readonly home?: string | false | undefined;
  /** Milliseconds that a call of a tool may take, by its name. Then it is stopped, with the error `timeout`. */
  readonly toolTimeouts?: Readonly<Record<string, number>>;
  /** Replaces the environment of this process, for BURIN_HOME and the variables of commands. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** How long `ready` waits for tool sources. */
export interface ReadyOptions {
  readonly signal?: AbortSignal;
  /** Default: 10 seconds, or as long as the discovery command may take. */
  readonly timeoutMs?: number;
}

export interface SessionOptions extends ToolboxOptions {
  /** Most replies of the model to one prompt. */
  readonly maxTurns?: number | undefined;
  /** The model's instructions, in place of "You are Burin, a coding agent ...". */
  readonly instructions?: string | undefined;
  /** What the session may spend: `200k`, `$2`, `10m`, `50 calls`, several joined by commas, or a shared budget. */
  readonly budget?: string | Budget | undefined;
  /** Replaces the model that settings and environment name. */
  readonly model?: ChatModel;
  /** Opens the model of that name, for the roles in settings and for subagents; without a name the main one. */
  readonly openModel?: (name?: string) => ChatModel | null;
  /** A question ends the run and is stored in the log, to be answered later; see `answer`. */
  readonly park?: boolean;
  /** The answer to the question that the resumed session was parked with; `goOn` uses it. */
  readonly answer?: Decision;
  /** The final answer must be JSON that fits this schema; the event `done` has its value as `structured`. */
  readonly answerSchema?: JsonSchema;
  /** A command that must pass for a run to succeed; the model gets failures. Default: `check` in the settings. */
  readonly check?: string | undefined;
  /**
   * The first prompt waits up to 5 seconds for MCP servers that have never been connected: for runs that no user
   * watches. Without it their tools are added when they connect.
   */
  readonly awaitsServers?: boolean;
  /**
   * Keeps the log in another place too, e.g. a database, from which `restoreSession` rebuilds the session. Called
   * with the next lines of the log before a call does its work, after it, and at the end of a run; the call and
   * everything after it waits for the promise. When it rejects, the work stops.
   */
  readonly keepLog?: (lines: string) => Promise<void>;
  /** A session to resume, from `resumeSession`; its log is continued. */
  readonly resume?: ResumedSession;
}

/** What the user allowed until the session ends: the rules, as written, and a way to take one back. */
export interface SessionGrants {
  readonly rules: readonly string[];
  /** Whether there was such a rule. */
  revoke(rule: string): boolean;
}
