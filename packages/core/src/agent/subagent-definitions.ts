import type { ApprovalMode } from "@burin/contract/approval-mode";

/** A helper with its own history and instructions, and never more rights than its session. */
export interface SubagentDefinition {
  readonly name: string;
  /** For the model: when to use it for a task. */
  readonly description: string;
  /** Added to the system prompt. */
  readonly prompt: string;
  /** Names or globs; default: every tool that a subagent can have. */
  readonly tools?: readonly string[] | undefined;
  /** Names or globs of those that it cannot have all the same. */
  readonly withoutTools?: readonly string[] | undefined;
  /** The name of its own model. */
  readonly model?: string | undefined;
  /** The stricter of this mode and the session's applies. */
  readonly approvalMode?: ApprovalMode | undefined;
}

const READING = [
  "list_directory",
  "read_file",
  "read_many_files",
  "glob",
  "search_file_content",
  "run_shell_command",
  "web_fetch",
  "web_search",
];

export const BUILT_IN_SUBAGENTS: readonly SubagentDefinition[] = [
  {
    name: "explore",
    description: "finds things out in the files or on the web; changes nothing",
    prompt:
      "You explore. Search broadly first, read what matters, and answer with facts and where they stand (path and line).",
    tools: READING,
    approvalMode: "plan",
  },
  {
    name: "plan",
    description: "works out how to do something, step by step; changes nothing",
    prompt:
      "You plan. Look at what is there, then answer with the steps in order, the files each one touches, and what could go wrong.",
    tools: READING,
    approvalMode: "plan",
  },
  {
    name: "general",
    description: "does a whole task with all tools",
    prompt: "You do the whole task, check that it works, and answer with what you did.",
  },
];
