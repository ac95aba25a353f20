import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { AgentEvent } from "@burin/core";
import { describeError, readText, withFallback } from "@burin/core/internal";
import { say } from "../../locales/say.ts";
import type { Status } from "../../ui/status-line.ts";
import type { Desk } from "./desk.ts";

/** The time limit of the user's own command for the line. */
const MAX_SECONDS = 5;
/** How long to collect events, so that several lead to a single run of the command. */
const QUIET_MS = 200;
const MAX_BYTES = 4096;
const NEWS: readonly AgentEvent["type"][] = [
  "session",
  "done",
  "mode",
  "model",
  "context_fill",
  "compaction",
];

/** The facts of the status line, and those that take time: the branch, and the output of the user's own command. */
export class StatusFacts {
  readonly #desk: Desk;
  #branch = "";
  /** The last output of the user's own command; undefined without a command, and after it failed. */
  #own: string | undefined;
  #next: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isStale = false;
  #fault = "";

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  noteEvent({ type }: AgentEvent): void {
    if (NEWS.includes(type)) this.refresh();
  }

  /** Called when something may have changed: the model, the mode, a branch. */
  refresh(): void {
    this.#branch = readBranch(this.#desk.options.root);
    if (this.#desk.settings?.ui.statusLine === undefined) return;
    clearTimeout(this.#next);
    this.#next = setTimeout(() => void this.#runStatusCommand(), QUIET_MS);
  }

  close(): void {
    clearTimeout(this.#next);
    this.#isStale = false;
  }

  buildStatus(): Status {
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

  async #runStatusCommand(): Promise<void> {
    const { session, settings, view } = this.#desk;
    const command = settings?.ui.statusLine;
    this.#isStale = this.#isRunning;
    if (session === null || command === undefined || this.#isRunning) return;
    this.#isRunning = true;
    try {
      const { root: folder } = this.#desk.options;
      const request = { command, folder, input: this.#describeStatus(session.id), seconds: MAX_SECONDS };
      const printed = await session.commands.read(request);
      const [line = ""] = stripVTControlCharacters(printed).trim().split("\n", 1);
      this.#own = line.trim();
    } catch (error) {
      this.#own = undefined;
      if (session === this.#desk.session) this.#tellOnce(describeError(error));
    }
    this.#isRunning = false;
    view.drawSoon();
    if (this.#isStale) await this.#runStatusCommand();
  }

  #describeStatus(sessionId: string): string {
    const { model, mode, branch, filled, money, queued, milliseconds = 0 } = this.buildStatus();
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

/**
 * Returns the branch that is checked out in a folder, or the commit where there is none. Reads it without running git.
 */
export function readBranch(root: string): string {
  const folder = findGitFolder(root);
  const head = folder === "" ? "" : readLine(join(folder, "HEAD"));
  const [, branch, commit = ""] =
    /^(?:ref: refs\/heads\/(\S+)|([0-9a-f]{7})[0-9a-f]{33,57})$/.exec(head) ?? [];
  return branch ?? commit;
}

/** Finds the nearest `.git` above a folder. In a second working tree it is a file that names the folder. */
function findGitFolder(root: string): string {
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
  return (withFallback(null, () => readText(file, MAX_BYTES)) ?? "").trim();
}
