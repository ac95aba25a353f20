import { setFlagsFromString } from "node:v8";
import { say } from "../../locales/say.ts";
import type { TextBuffer } from "../../state/text-buffer.ts";
import type { Transcript } from "../../state/transcript.ts";
import { terminalWidths } from "../../terminal/cell-width.ts";
import type { DrawImage } from "../../terminal/inline-images.ts";
import {
  type Caret,
  learnWidths,
  type Row,
  Screen,
  type ScreenPort,
  WIDTH_ANSWERS,
  WIDTH_QUESTION,
} from "../../terminal/screen.ts";
import { createSpan, cutLine, formatText, type Line } from "../../terminal/styled-line.ts";
import type { ChoiceList } from "../../ui/choice-list.ts";
import { look } from "../../ui/look.ts";
import { framePanel, type Panel } from "../../ui/panel.ts";
import { drawPrompt } from "../../ui/prompt-view.ts";
import { drawStatusLine, type Status } from "../../ui/status-line.ts";
import {
  detectColorDepth,
  isLightBackground,
  mixTheme,
  renderRow,
  type Theme,
  type ThemeName,
  type ThemeOptions,
} from "../../ui/theme.ts";
import { BLANK_ROW, drawWaiting, type Frame, TranscriptRows } from "../../ui/transcript-rows.ts";

/** Text that the user sent while the model works. With `isLast` it waits until the model's turn is over. */
export interface Waiting {
  readonly text: string;
  readonly isLast: boolean;
  /** true for a command of the screen, which runs when the work has ended. */
  readonly isCommand?: boolean;
  /** The text as the session gets it; null until the files that it mentions are read. */
  sent: string | null;
}

/** Everything that is on the screen. */
export interface Shown {
  readonly transcript: Transcript;
  readonly buffer: TextBuffer;
  panel: Panel | null;
  /** The completions of the current word. */
  completions: ChoiceList | null;
  /** Texts that the user sent during the work and that the model has not got yet. */
  waiting: readonly Waiting[];
  /** Returns the user's own commands that are running. */
  running: () => readonly string[];
  status: () => Status;
}

/** The shortest time between two drawings of streamed text: users do not read faster. */
const STREAM_MS = 60;
const RESIZE_MS = 40;
/** A window that has not changed its size for this long counts as stable. */
const STEADY_MS = 300;
/** How often the clock in the status line is drawn during work. Without work, no timer runs. */
const CLOCK_MS = 1000;
const MAX_PROMPT_ROWS = 12;
const MAX_COMPLETIONS = 14;
/** In a window with this many rows, an empty one separates a panel that leaves room from the status line. */
const ROOMY_ROWS = 30;
/** Above this number of rows, their memory is freed earlier, which costs a little time. */
const MANY_ROWS = 500;

/** Draws the state of the app: at once after a key, and less often for streamed text. */
export class View {
  readonly #shown: Shown;
  readonly #port: ScreenPort;
  readonly #screen: Screen;
  readonly #rows = new TranscriptRows();
  #theme: Theme = {};
  #wishes: ThemeOptions = { name: "auto", isLight: false, colors: {} };
  /** null unless the terminal is known to draw images. */
  #drawImage: DrawImage | null = null;
  /** The size of a cell in pixels: a common size until the terminal reports its own. */
  #cell = { width: 10, height: 20 };
  #drawnAt = 0;
  #rowCount = 0;
  #next: NodeJS.Timeout | NodeJS.Immediate | null = null;
  #isUrgent = false;
  #rest: NodeJS.Timeout | undefined;
  #clock: NodeJS.Timeout | undefined;
  #answers: number[] | null = null;
  #isClosed = false;
  /** true while another program is writing to the terminal. */
  #isAway = false;

  constructor(shown: Shown, port: ScreenPort) {
    this.#shown = shown;
    this.#port = port;
    this.#screen = new Screen(port);
    this.#changeTheme({});
  }

  get width(): number {
    return this.#port.size().columns;
  }

  get theme(): ThemeName {
    return this.#wishes.name;
  }

  set theme(name: ThemeName) {
    this.#changeTheme({ name });
  }

  /** Applies the user's own styles. Returns a message for each invalid one. */
  useColors(colors: ThemeOptions["colors"]): readonly string[] {
    return this.#changeTheme({ colors });
  }

  /** Called with the terminal's report of its cell size. */
  set cell(report: string) {
    const [, height = 0, width = 0] = report.split(";").map(Number);
    if (width > 0 && height > 0) this.#cell = { width, height };
  }

  /** Called with the name that the terminal reports. */
  async learnTerminal(name: string): Promise<void> {
    const { chooseImageProtocol } = await import("../../terminal/inline-images.ts");
    this.#drawImage = chooseImageProtocol(name);
  }

  set background(report: string) {
    this.#changeTheme({ isLight: isLightBackground(report) });
  }

  #changeTheme(changed: Partial<ThemeOptions>): readonly string[] {
    this.#wishes = { ...this.#wishes, ...changed };
    const { theme, faults } = mixTheme(this.#wishes, detectColorDepth(process.env));
    this.#theme = theme;
    this.drawSoon();
    return faults;
  }

  /** Draws in this turn of the event loop, together with other changes. */
  drawSoon(): void {
    if (this.#isUrgent || this.#isClosed) return;
    this.#cancel();
    this.#isUrgent = true;
    this.#next = setImmediate(() => this.drawNow());
  }

  /** Handles a new window size. While the window is being dragged, draws nothing that the next size would misplace. */
  handleResize(): void {
    if (this.#isClosed) return;
    this.#cancel();
    this.#isUrgent = true;
    this.#screen.noteResize();
    this.#next = setTimeout(() => {
      this.#draw();
      clearTimeout(this.#rest);
      this.#rest = setTimeout(() => {
        this.#screen.isMoving = false;
        this.drawSoon();
      }, STEADY_MS);
    }, RESIZE_MS);
  }

  /** Draws soon, at the limited rate of streamed text. */
  drawLater(): void {
    if (this.#next !== null || this.#isClosed) return;
    const wait = STREAM_MS - (performance.now() - this.#drawnAt);
    if (wait <= 1) this.drawSoon();
    else this.#next = setTimeout(() => this.drawNow(), wait);
  }

  drawNow(): void {
    if (this.#screen.fits) this.#draw();
    else this.handleResize();
  }

  #draw(): void {
    this.#cancel();
    if (this.#isClosed || this.#isAway) return;
    this.#drawnAt = performance.now();
    const { columns, rows } = this.#port.size();
    const frame = this.#buildFrame();
    const final = this.#rows.takeFinal(this.#shown.transcript, frame);
    if (this.#rowCount < MANY_ROWS && this.#rowCount + final.length >= MANY_ROWS)
      setFlagsFromString("--optimize-for-size");
    this.#rowCount += final.length;
    const live = look.isSpoken
      ? []
      : [...this.#rows.drawLive(this.#shown.transcript, frame), ...this.#drawWaitingRows(frame)];
    const { lines, caret } = this.#drawBottom(columns, rows);
    const room = Math.max(rows - 1 - lines.length, 0);
    const above = live.length > room ? live.slice(live.length - room) : live;
    const isParked = caret === null || (this.#screen.isMoving && !look.isSpoken);
    const painted = lines.map((line) => renderRow(cutLine(line, columns), this.#theme));
    const place = isParked
      ? null
      : { row: above.length + caret.row, column: Math.min(caret.column, columns - 1) };
    this.#screen.draw(final, [...above, ...painted], place);
    clearTimeout(this.#clock);
    if (this.#shown.status().isWorking) this.#clock = setTimeout(() => this.drawLater(), CLOCK_MS);
    this.#askWidths();
  }

  /** Says who is awaited, while the model works and nothing else on the screen shows that. */
  #drawWaitingRows(frame: Frame): Row[] {
    const { panel, status, transcript } = this.#shown;
    const line = panel === null && status().isModelAtWork ? drawWaiting(transcript, frame) : null;
    return line === null ? [] : [BLANK_ROW, renderRow(line, this.#theme)];
  }

  /** Draws everything that is final, removes the rest, and never draws again. */
  close(): void {
    this.#cancel();
    clearTimeout(this.#rest);
    clearTimeout(this.#clock);
    const frame = this.#buildFrame();
    const final: Row[] = this.#rows.takeFinal(this.#shown.transcript, frame);
    final.push(...this.#rows.drawLive(this.#shown.transcript, frame));
    this.#screen.draw([...final, BLANK_ROW], [], null);
    this.#isClosed = true;
  }

  /** Redraws everything, because the screen was cleared or overwritten. */
  redraw(): void {
    this.#isAway = false;
    this.#screen.forgetRows();
    this.#draw();
  }

  /** Handles one of the terminal's answers about character widths. */
  handleWidthAnswer(report: string): void {
    this.#answers?.push(Number(report.split(";")[1]));
    if (this.#answers?.length !== WIDTH_ANSWERS) return;
    if (learnWidths(this.#answers)) this.drawSoon();
  }

  /** Removes the live rows so that another program can write. `redraw` draws them again. */
  clearRows(): void {
    this.#cancel();
    this.#screen.clear();
    this.#isAway = true;
  }

  #buildFrame(): Frame {
    const { columns, rows } = this.#port.size();
    const space = { columns, rows, cell: this.#cell };
    const draw: Frame["draw"] = (image) => (look.isSpoken ? [] : (this.#drawImage?.(image, space) ?? []));
    return { width: columns, theme: this.#theme, now: performance.now(), draw };
  }

  #cancel(): void {
    if (this.#next !== null) {
      clearTimeout(this.#next as NodeJS.Timeout);
      clearImmediate(this.#next as NodeJS.Immediate);
    }
    this.#next = null;
    this.#isUrgent = false;
  }

  /** Returns the rows below the transcript: a panel or the prompt, then the status. An input has a caret. */
  #drawBottom(width: number, height: number): { lines: Line[]; caret: Caret | null } {
    const { panel, completions, waiting, running, status } = this.#shown;
    const own = running().flatMap((title) => [cutLine([createSpan(title, "strong")], width), []]);
    const above: Line[] = look.isSpoken ? [] : [[], ...own, ...drawWaitingLines(waiting, width)];
    const state = status();
    const { lines, caret } =
      panel === null
        ? this.#drawPromptRows(state.isModelAtWork === true, width, height)
        : framePanel(panel, { width, height: Math.max(height - above.length - 2, 4) });
    const hasRoom = height >= ROOMY_ROWS && above.length + lines.length + 2 < height;
    const gap: Line[] = panel !== null && hasRoom && !look.isSpoken ? [[]] : [];
    const isBare = look.isSpoken || (panel === null && completions !== null);
    return {
      lines: [...above, ...lines, ...gap, ...(isBare ? [] : [drawStatusLine(state, panel !== null, width)])],
      caret: caret ? { row: above.length + caret.row, column: caret.column } : null,
    };
  }

  #drawPromptRows(isWorking: boolean, width: number, height: number): { lines: Line[]; caret: Caret | null } {
    const { buffer, completions } = this.#shown;
    const max = Math.min(MAX_PROMPT_ROWS, Math.max(Math.floor(height / 2), 1));
    const { lines, caret } = drawPrompt(buffer, width, max);
    const choices =
      completions?.drawLines(width, Math.max(Math.min(MAX_COMPLETIONS, height - lines.length - 4), 1)) ?? [];
    const isQuiet = isWorking && buffer.isEmpty && !look.isSpoken;
    const shown = buffer.isEmpty ? [drawPlaceholder(isWorking, width)] : lines;
    return { lines: [...shown, ...choices], caret: isQuiet ? null : caret };
  }

  /** Asks the terminal, once, before showing characters whose width differs between terminals. */
  #askWidths(): void {
    if (!terminalWidths.isDoubtful || this.#answers !== null) return;
    this.#answers = [];
    this.#port.write(WIDTH_QUESTION);
    this.#screen.markStale();
    this.drawSoon();
  }
}

/** Returns the placeholder in one row, so that the prompt is as high before the first key as after it. */
function drawPlaceholder(isWorking: boolean, width: number): Line {
  const text = say(isWorking ? "prompt.working" : "prompt.placeholder");
  return cutLine(
    [
      { text: "> ", style: "accent" },
      { text, style: "dim" },
    ],
    width,
  );
}

function drawWaitingLines(waiting: readonly Waiting[], width: number): Line[] {
  const texts = waiting.map(({ text, isLast }) =>
    say(isLast ? "queue.last" : "queue.next", { text: formatText(text) }),
  );
  const all = texts.length === 0 ? [] : [...texts, say("queue.hint")];
  return all.map((text) => cutLine([{ text: `  ${text}`, style: "dim" }], width));
}
