import type { Session } from "@burin/core";
import { say } from "../locales/say.ts";
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import { formatText, splitLines, wrapLine } from "../terminal/styled-line.ts";
import { openChoicePanel } from "../ui/choice-panel.ts";
import { drawKeyHints, type Panel, type PanelSpace, type PanelView, Scroll } from "../ui/panel.ts";
import type { CommandDesk } from "./command-desk.ts";

const LOOK_MS = 500;

/** A background command or a background subagent. */
interface Task {
  readonly id: string;
  readonly what: string;
  /** Returns the latest output of a command, or the last steps of a subagent. */
  read(): Promise<string>;
  isRunning(): Promise<boolean>;
  end(): Promise<boolean>;
}

/** Lists the background tasks. The chosen one is shown; it is stopped only after the user confirms. */
export async function showTasks(desk: CommandDesk): Promise<void> {
  const { session } = desk;
  const tasks = session === null ? [] : await listRunningTasks(session);
  const choices = tasks.map(({ id, what }) => ({ value: id, more: what }));
  const openTask = (id: string): void => {
    const task = tasks.find((one) => one.id === id);
    if (task !== undefined) new TaskPanel(desk, task).open();
  };
  if (choices.length === 0) desk.note(say("tasks.none"));
  else openChoicePanel(desk, { title: say("tasks.title"), choices, chosen: openTask });
}

async function listRunningTasks({ commands, tasks }: Session): Promise<Task[]> {
  const findState = async (id: string) => (await commands.list()).find((one) => one.id === id)?.state;
  const findSubagent = (id: string) => tasks.list().find((one) => one.id === id);
  const running = (await commands.list()).filter(({ state }) => state !== "ended");
  const working = tasks.list().filter(({ status }) => status === "running");
  return [
    ...running.map(({ id, command }) => ({
      id,
      what: command,
      read: async () => (await commands.output(id)) ?? "",
      isRunning: async () => ((await findState(id)) ?? "ended") !== "ended",
      end: () => commands.end(id),
    })),
    ...working.map(({ id, subagent: name, description }) => ({
      id,
      what: `${name}: ${description}`,
      read: async () => findSubagent(id)?.steps.join("\n") ?? "",
      isRunning: async () => findSubagent(id)?.status === "running",
      end: () => tasks.stop(id),
    })),
  ];
}

class TaskPanel implements Panel {
  readonly #desk: CommandDesk;
  readonly #task: Task;
  readonly #scroll = new Scroll();
  #text = "";
  #isOver = false;
  #isAsking = false;
  /** Whether the panel was drawn since the last check: another panel may have replaced it. */
  #isShown = true;
  #isFollowing = false;
  /** Whether the view follows the end of the output: the user has not scrolled away. */
  #isAtEnd = true;

  constructor(desk: CommandDesk, task: Task) {
    this.#desk = desk;
    this.#task = task;
  }

  open(): void {
    this.#desk.show(this);
  }

  view({ width, height }: PanelSpace): PanelView {
    this.#isShown = true;
    if (!this.#isFollowing) void this.#followOutput().catch((error: unknown) => this.#desk.noteFault(error));
    const { id, what } = this.#task;
    const text = this.#text.trim() === "" ? say("tasks.silent") : this.#text.trimEnd();
    const lines = splitLines(text).flatMap((line) => wrapLine(line, width));
    if (this.#isAtEnd) this.#scroll.from = Number.MAX_SAFE_INTEGER;
    const keys = drawKeyHints(this.#isAsking ? say("tasks.ask", { id }) : this.#formatKeyHint(), width);
    const shown = this.#scroll.cutToPage(lines, Math.max(height - keys.length, 1));
    this.#isAtEnd = this.#scroll.place.to === lines.length;
    return { title: formatText(`${id}  ${what.split("\n", 1)[0]}`), lines: [...shown, ...keys] };
  }

  key(key: Key): void {
    const command = normalizeCommandKey(key);
    if (this.#isAsking) {
      this.#isAsking = false;
      if (command === "y") void this.#endTask().catch((error: unknown) => this.#desk.noteFault(error));
      return;
    }
    const steps = { up: -1, down: 1, home: -Number.MAX_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER };
    if (this.#scroll.key(key.name, steps)) {
      this.#isAtEnd = false;
      return;
    }
    if (command === "e" && !this.#isOver) this.#isAsking = true;
    else if (["escape", "enter"].includes(key.name) || command === "q") this.#close();
  }

  #formatKeyHint(): string {
    if (!this.#isOver) return say("tasks.keys");
    return `${say("tasks.over", { id: this.#task.id })}   ${say("panel.close")}`;
  }

  async #followOutput(): Promise<void> {
    this.#isFollowing = true;
    while (this.#isShown && !this.#isOver) {
      this.#isShown = false;
      const isRunning = await this.#task.isRunning();
      this.#text = await this.#task.read();
      this.#isOver = !isRunning;
      this.#desk.view.drawSoon();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref());
    }
    this.#isFollowing = this.#isOver;
  }

  async #endTask(): Promise<void> {
    const { id } = this.#task;
    this.#close();
    if (await this.#task.end()) this.#desk.note(say("tasks.ended", { id }));
  }

  #close(): void {
    this.#desk.show(null);
  }
}
