import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { AgentEvent } from "@burin/core";
import { describeError, readText, withFallback } from "@burin/core/internal";
import { say } from "../../locales/say.ts";
import type { Status } from "../../ui/status-line.ts";
import type { Desk } from "./desk.ts";

/** The user's own command for the line has this long. */
const MOST_SECONDS = 5;
/** Events that come together lead to one run of it. */
const QUIET_MS = 200;
const MOST_BYTES = 4096;
const NEWS: readonly AgentEvent["type"][] = [
  "session",
  "done",
  "mode",
  "model",
  "context_fill",
  "compaction",
];

/** What the last line of the screen says, and what has to be asked for it: the branch, and the user's own command. */
export class StatusFacts {
  readonly #desk: Desk;
  #branch = "";
  /** What the user's own command printed last; undefined without one, and after it failed. */
  #own: string | undefined;
  #next: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isStale = false;
  #fault = "";

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  hear({ type }: AgentEvent): void {
    if (NEWS.includes(type)) this.refresh();
  }

  /** Something may have changed: the model, the mode, a branch. */
  refresh(): void {
    this.#branch = readBranch(this.#desk.options.root);
    if (this.#desk.settings?.ui.statusLine === undefined) return;
    clearTimeout(this.#next);
    this.#next = setTimeout(() => void this.#ask(), QUIET_MS);
  }

  close(): void {
    clearTimeout(this.#next);
    this.#isStale = false;
  }

  status(): Status {
    const { transcript, host, session, options, work, shown } = this.#desk;
    const { spent, model, fill } = transcript;
    return {
      model: model || (host.modelName ?? ""),
      mode: (session ?? options).approvalMode ?? "default",
      branch: this.#branch,
      filled: fill && Math.min(fill.tokens / fill.window, 1),
      money: spent.money,
      queued: shown.waiting.length,
      milliseconds: work.milliseconds,
      own: this.#own,
      isWorking: this.#desk.isWorking,
      isModelAtWork: work.isWorking,
    };
  }

  async #ask(): Promise<void> {
    const { session, settings, view } = this.#desk;
    const command = settings?.ui.statusLine;
    this.#isStale = this.#isRunning;
    if (session === null || command === undefined || this.#isRunning) return;
    this.#isRunning = true;
    try {
      const { root: folder } = this.#desk.options;
      const request = { command, folder, input: this.#describeStatus(session.id), seconds: MOST_SECONDS };
      const printed = await session.commands.read(request);
      const [line = ""] = stripVTControlCharacters(printed).trim().split("\n", 1);
      this.#own = line.trim();
    } catch (error) {
      this.#own = undefined;
      if (session === this.#desk.session) this.#tellOnce(describeError(error));
    }
    this.#isRunning = false;
    view.soon();
    if (this.#isStale) await this.#ask();
  }

  #describeStatus(sessionId: string): string {
    const { model, mode, branch, filled, money, queued, milliseconds = 0 } = this.status();
    const { root } = this.#desk.options;
    const percent = filled === null || filled === undefined ? null : Math.round(filled * 100);
    const seconds = Math.floor(milliseconds / 1000);
    return JSON.stringify({ sessionId, root, model, mode, branch, percent, cost: money, queued, seconds });
  }

  /** A command that always fails is not reported with each turn. */
  #tellOnce(fault: string): void {
    if (fault !== this.#fault) this.#desk.note(say("status.ownFailed", { fault }), true);
    this.#fault = fault;
  }
}

/** The branch that is checked out in a folder, or the commit where there is none; read without running git. */
export function readBranch(root: string): string {
  const folder = gitFolder(root);
  const head = folder === "" ? "" : readLine(join(folder, "HEAD"));
  const [, branch, commit = ""] =
    /^(?:ref: refs\/heads\/(\S+)|([0-9a-f]{7})[0-9a-f]{33,57})$/.exec(head) ?? [];
  return branch ?? commit;
}

/** The nearest `.git` above; in a second working tree it is a file that names the folder. */
function gitFolder(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = join(folder, ".git");
    if (existsSync(found)) {
      const [, elsewhere] = /^gitdir: (.+)$/.exec(readLine(found)) ?? [];
      return elsewhere === undefined ? found : resolve(folder, elsewhere);
    }
    if (dirname(folder) === folder) return "";
  }
}

function readLine(file: string): string {
  return (withFallback(null, () => readText(file, MOST_BYTES)) ?? "").trim();
}
