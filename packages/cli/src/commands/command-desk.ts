import type { Session, ToolResult } from "@burin/core";
import type { Settings } from "@burin/core/internal";
import type { CommonOptions } from "../request/options.ts";
import type { KeyBindings } from "../state/key-bindings.ts";
import type { TextBuffer } from "../state/text-buffer.ts";
import type { Transcript } from "../state/transcript.ts";
import type { Line } from "../terminal/styled-line.ts";
import type { Panel } from "../ui/panel.ts";
import type { ThemeName } from "../ui/theme.ts";

export interface CommandDesk {
  /** null until it is open. */
  readonly session: Session | null;
  readonly settings: Settings | null;
  readonly options: CommonOptions;
  readonly transcript: Transcript;
  readonly buffer: TextBuffer;
  readonly keys: KeyBindings;
  /** The model works, or a command of the user. */
  readonly isWorking: boolean;
  /** Only scripted models answer. */
  readonly isDemo: boolean;
  readonly work: {
    /** Whether the model works. */
    readonly isWorking: boolean;
    /** Working time so far. */
    readonly milliseconds: number;
    /** Asks the model, and resolves when it is done. */
    submit(text: string): Promise<void>;
    /** Replaces the conversation so far by a summary that follows the wish, if that is shorter. */
    compact(wish: string): Promise<void>;
  };
  /** `soon` draws it again. */
  readonly view: { theme: ThemeName; soon(): void };
  /** Shows a panel in place of the prompt; null removes it. */
  show(panel: Panel | null): void;
  /** Adds a line to the transcript that the model does not get. */
  note(text: string, isBad?: boolean): void;
  noteFault(error: unknown): void;
  /** Adds rows to the transcript, drawn for the current width. */
  print(draw: (width: number) => readonly Line[]): void;
  /** Continues in another session. */
  change(session: CommonOptions["session"]): Promise<void>;
  /** Starts the setup of a model, when none is configured. */
  setUp(): void;
  useModel(name: string): void;
  /** How much the model thinks, from the next request on. */
  useEffort(effort: string): void;
  /** Sets up the model of another service, and asks it from now on. */
  addService(): Promise<void>;
  /** Returns what `burin <name>` would print. */
  outputOf(name: "doctor" | "tools" | "mcp" | "grants" | "trust", words: readonly string[]): Promise<string>;
  /** Runs a call that the user has just asked for; null while no session is open. */
  callOwn(name: string, args: Record<string, unknown>): Promise<ToolResult | null>;
  copy(text: string): void;
  clearScreen(): void;
  /** Plays the demo: scripted models, real tools, a folder of its own. */
  showDemo(): Promise<void>;
  leave(): void;
  useLanguage(name: string): Promise<void>;
  /** The user's own settings have another value here: reads them again, and uses what counts at once. */
  settingsChanged(path: readonly string[]): Promise<void>;
  /** Stores a choice of the user in their own settings. */
  keep(path: readonly string[], value: unknown): Promise<void>;
}

/** `/name words`: the texts that describe it are `command.<name>`. */
export interface ScreenCommand {
  readonly name: string;
  /** What may follow the name, as the list of commands shows it. */
  readonly words?: string;
  /** Can be used while the model works. */
  readonly isQuiet?: boolean;
  /** Without words it only opens a panel, of which nothing stays in the transcript. */
  readonly opensPanel?: boolean;
  readonly run: (desk: CommandDesk, words: string) => Promise<void> | void;
}
