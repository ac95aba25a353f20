import type { CommandDesk } from "../../commands/command-desk.ts";
import type { PromptHistory } from "../../state/prompt-history.ts";
import type { Questions } from "../../state/questions.ts";
import type { VimKeys } from "../../state/vim-keys.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import type { RawTerminal } from "../../terminal/raw-terminal.ts";
import type { Images } from "./images.ts";
import type { SessionHost } from "./session-host.ts";
import type { Shown, View } from "./view.ts";

export interface Desk extends CommandDesk {
  readonly work: CommandDesk["work"] & { goOn(): Promise<void>; runLater(command: string): void };
  readonly history: PromptHistory;
  readonly questions: Questions;
  readonly images: Images;
  readonly vim: VimKeys | null;
  readonly host: SessionHost;
  readonly view: View;
  readonly shown: Shown;
  readonly terminal: RawTerminal;
  leave(code?: ExitCode): void;
  /** Stops the user's own commands or, if none is running, the model's work. */
  interrupt(): void;
  /** Shows a short message for a moment, instead of the hint. */
  showMessage(message: string): void;
}
