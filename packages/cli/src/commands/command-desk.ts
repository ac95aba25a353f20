import type { Session, Settings, ToolResult } from "@burin/core";
import type { CommonOptions } from "../request/options.ts";
import type { TextBuffer } from "../state/text-buffer.ts";
import type { Transcript } from "../state/transcript.ts";
import type { Line } from "../terminal/styled-line.ts";
import type { Panel } from "../ui/panel.ts";
import type { ThemeName } from "../ui/theme.ts";

/** What a command of the screen can do. */
export interface CommandDesk {
  /** null until it is open. */
  readonly session: Session | null;
  readonly settings: Settings | null;
  readonly options: CommonOptions;
  readonly transcript: Transcript;
  readonly buffer: TextBuffer;
  readonly isWorking: boolean;
  /** Scripted models answer, and no others. */
  readonly isDemo: boolean;
  readonly milliseconds: number;
  theme: ThemeName;
  /** In place of the prompt; null takes it away. */
  show(panel: Panel | null): void;
  /** A line in the transcript, which the model is not told of. */
  note(text: string, isBad?: boolean): void;
  noteFault(error: unknown): void;
  /** Rows in the transcript, drawn for the width that there is. */
  print(draw: (width: number) => readonly Line[]): void;
  /** Asks the model. */
  submit(text: string): void;
  /** Goes on in another session. */
  change(session: CommonOptions["session"]): Promise<void>;
  /** Leads to a model, where none is configured. */
  setUp(): void;
  /** Goes on with another model. */
  useModel(name: string): void;
  /** What `burin <name>` would print. */
  outputOf(
    name: "doctor" | "explain" | "tools" | "mcp" | "grants" | "trust",
    words: readonly string[],
  ): Promise<string>;
  /** A call that the person has just asked for; null while nothing is open. */
  callOwn(name: string, args: Record<string, unknown>): Promise<ToolResult | null>;
  copy(text: string): void;
  /** Has the conversation so far replaced by a summary of it. */
  compact(): Promise<void>;
  clearScreen(): void;
  /** Plays the demo: scripted models, real tools, a folder of its own. */
  showDemo(): Promise<void>;
  leave(): void;
  useLanguage(name: string): Promise<void>;
  /** Keeps a choice of the person in their own settings. */
  keep(path: readonly string[], value: unknown): Promise<void>;
}

/** `/name words`: the texts that describe it are `command.<name>`. */
export interface ScreenCommand {
  readonly name: string;
  /** What may stand behind the name, as the list of commands shows it. */
  readonly words?: string;
  /** Can be used while the model works. */
  readonly isQuiet?: boolean;
  readonly run: (desk: CommandDesk, words: string) => Promise<void> | void;
}
