import type { ChatModel } from "../models/chat-model.ts";
import type { ResumedSession } from "../session/resume.ts";
import type { AgentOptions } from "./join-agent.ts";
import type { ToolboxOptions } from "./toolbox-options.ts";

export interface SessionOptions extends Omit<ToolboxOptions, "root">, AgentOptions {
  /** The folder that all work stays in. It must exist. */
  readonly cwd: string;
  /** Instead of the one that settings and environment name. */
  readonly model?: ChatModel;
  /** A session to take up again, from `resumeSession`; it is recorded on. */
  readonly resume?: ResumedSession;
}
