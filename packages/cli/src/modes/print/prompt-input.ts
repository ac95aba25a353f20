import type { Part, Session } from "@burin/core";

export interface Prompt {
  /** The prompt's text. With null, a resumed session continues where it stopped. */
  readonly text: string | null;
  readonly files?: readonly Part[];
  /** Text that was piped in together with the prompt. */
  readonly piped?: string;
  /** Aborts if only this prompt is cancelled. */
  readonly signal?: AbortSignal;
  /** Called when the prompt has been added to the history. */
  onBegun?(): void;
}

export interface PromptInput {
  prompts(session: Session): AsyncIterable<Prompt> | Iterable<Prompt>;
  /** Part of the input was unreadable and was left out. */
  readonly hasFault?: boolean;
}

export function createPromptInput(
  text: string | null,
  more: Pick<Prompt, "files" | "piped"> = {},
): PromptInput {
  return { prompts: () => [{ text, ...more }] };
}
