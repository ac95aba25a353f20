import type { ChatModel } from "@burin/contract/chat-model";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { Decision } from "@burin/contract/tools";
import type { ResumedSession } from "../session/resume.ts";
import type { AgentOptions } from "./join-agent.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

export interface SessionOptions extends ToolboxOptions, AgentOptions {
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
  /** A session to take up again, from `resumeSession`; it is recorded on. */
  readonly resume?: ResumedSession;
}
