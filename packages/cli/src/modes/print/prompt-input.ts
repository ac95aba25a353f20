import type { Part, Session } from "@burin/core";

/** One prompt of a run without a screen. */
export interface Prompt {
  /** null goes on where a session that is taken up stopped. */
  readonly text: string | null;
  /** Images and files that go with it. */
  readonly files?: readonly Part[];
  /** Aborted when this prompt alone is to be given up. */
  readonly signal?: AbortSignal;
  /** Called when the prompt has entered the history. */
  onBegun?(): void;
}

/** Where the prompts of a run come from. */
export interface PromptInput {
  prompts(session: Session): AsyncIterable<Prompt> | Iterable<Prompt>;
  /** Something of what was given could not be read, and was left out. */
  readonly hasFault?: boolean;
}

export function onePrompt(text: string | null, files: readonly Part[] = []): PromptInput {
  return { prompts: () => [{ text, files }] };
}
