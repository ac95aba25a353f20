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
  /** null until the session is open. */
  readonly session: Session | null;
  readonly settings: Settings | null;
  readonly options: CommonOptions;
  readonly transcript: Transcript;
  readonly buffer: TextBuffer;
  readonly keys: KeyBindings;
  /** Whether the model or a command of the user is running. */
  readonly isWorking: boolean;
  /** true while the demo is running, in which scripted models answer. */
  readonly isDemo: boolean;
  readonly work: {
    /** Whether the model works. */
    readonly isWorking: boolean;
    /** The working time so far. */
    readonly milliseconds: number;
    /** Sends a prompt to the model and resolves when the run is done. */
    submit(text: string): Promise<void>;
    /** Replaces the conversation so far with a summary that follows the user's wish, if that is shorter. */
    compact(wish: string): Promise<void>;
  };
  /** `drawSoon` redraws the screen. */
  readonly view: { theme: ThemeName; drawSoon(): void };
  /** Shows a panel instead of the prompt; null removes it. */
  show(panel: Panel | null): void;
  /** Adds a line to the transcript that is not sent to the model. */
  note(text: string, isBad?: boolean): void;
  noteFault(error: unknown): void;
  /** Adds lines to the transcript. `draw` gets the current width. */
  print(draw: (width: number) => readonly Line[]): void;
  /** Switches to another session. */
  changeSession(session: CommonOptions["session"]): Promise<void>;
  /** Starts the setup of a model; used when none is configured. */
  setUp(): void;
  useModel(name: string): void;
  /** Sets the reasoning effort, from the next request on. */
  useEffort(effort: string): void;
  /** Sets up a model of another service and uses it from now on. */
  addService(): Promise<void>;
  /** Returns what `burin <name>` would print. */
  runForOutput(
    name: "doctor" | "tools" | "mcp" | "grants" | "trust",
    words: readonly string[],
  ): Promise<string>;
  /** Runs a call that the user has just asked for. Resolves to null if no session is open. */
  callOwn(name: string, args: Record<string, unknown>): Promise<ToolResult | null>;
  copy(text: string): void;
  clearScreen(): void;
  /** Starts the demo: scripted models and real tools in a temporary folder. */
  showDemo(): Promise<void>;
  leave(): void;
  useLanguage(name: string): Promise<void>;
  /**
   * Called when a value in the user's own settings has changed: reads them again, and applies what can take effect at
   * once.
   */
  applySettings(path: readonly string[]): Promise<void>;
  /** Stores a choice in the user's own settings. */
  storeSetting(path: readonly string[], value: unknown): Promise<void>;
}

/** A command `/name words`. The texts whose keys are `command.<name>` describe it. */
export interface ScreenCommand {
  readonly name: string;
  /** The words that may follow the name, as the list of commands shows them. */
  readonly words?: string;
  /** true if the command can be used while the model works. */
  readonly isQuiet?: boolean;
  /** Without words, the command only opens a panel, which leaves nothing in the transcript. */
  readonly opensPanel?: boolean;
  readonly run: (desk: CommandDesk, words: string) => Promise<void> | void;
}
