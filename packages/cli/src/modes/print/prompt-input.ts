import type { Part, Session } from "@burin/core";

export interface Prompt {
  /** null continues where a resumed session stopped. */
  readonly text: string | null;
  readonly files?: readonly Part[];
  /** Text that stdin had beside it. */
  readonly piped?: string;
  /** Aborts when only this prompt is to be cancelled. */
  readonly signal?: AbortSignal;
  /** Called when the prompt has been added to the history. */
  onBegun?(): void;
}

export interface PromptInput {
  prompts(session: Session): AsyncIterable<Prompt> | Iterable<Prompt>;
  /** Part of the input could not be read, and was left out. */
  readonly hasFault?: boolean;
}

export function createPromptInput(
  text: string | null,
  more: Pick<Prompt, "files" | "piped"> = {},
): PromptInput {
  return { prompts: () => [{ text, ...more }] };
}
